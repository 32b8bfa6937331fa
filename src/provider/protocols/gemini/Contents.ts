import type { ChatRequest, JsonObject } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { objectAt, textAt } from "../../Json.ts"
import type { ProviderCall } from "../../Provider.ts"
import * as DataUrl from "../turns/DataUrl.ts"
import type { ToolNames } from "../turns/ToolNames.ts"
import type {
  AssistantTurn,
  AudioBlock,
  FileBlock,
  ImageBlock,
  ThoughtBlock,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
  UserBlock
} from "../turns/Turns.ts"

/** Turns as `contents`, or why they cannot be. */
export const contentsOf = (
  turns: ReadonlyArray<Turn>,
  call: ProviderCall,
  names: ToolNames
): { readonly contents: ReadonlyArray<JsonObject> } | ProviderFailure => {
  const signatures = signaturesOf(call.request, call.model.id)
  const contents: Array<JsonObject> = []
  for (const turn of turns) {
    if (turn.role === "assistant") {
      contents.push({ role: "model", parts: modelParts(turn, signatures, names) })
      continue
    }
    const parts: Array<JsonObject> = []
    for (const block of turn.blocks) {
      const part = userPart(block, names)
      if ("_tag" in part) return part
      parts.push(part.part)
    }
    contents.push({ role: "user", parts })
  }
  return { contents }
}

// What the user said

interface Lowered {
  readonly part: JsonObject
}

const userPart = (block: UserBlock, names: ToolNames): Lowered | ProviderFailure => {
  switch (block._tag) {
    case "Text":
      return { part: { text: block.text } }
    case "Image":
      return imagePart(block)
    case "Audio":
      return audioPart(block)
    case "File":
      return filePart(block)
    case "ToolResult":
      return resultPart(block, names)
  }
}

const imagePart = ({ param, url }: ImageBlock): Lowered | ProviderFailure => {
  const inline = DataUrl.parse(url)
  return inline === undefined ? rejected("The provider takes images as data: URLs only.", param) : inlinePart(inline)
}

const audioPart = ({ data, format }: AudioBlock): Lowered => ({
  part: { inlineData: { mimeType: `audio/${format}`, data } }
})

const filePart = ({ data, fileId, param }: FileBlock): Lowered | ProviderFailure => {
  const inline = data === undefined ? undefined : DataUrl.parse(data)
  if (inline !== undefined) return inlinePart(inline)
  return fileId === undefined
    ? rejected("The provider takes files as data: URLs only.", `${param}.file_data`)
    : rejected("The provider takes no file ids.", `${param}.file_id`)
}

const inlinePart = ({ base64, mediaType }: DataUrl.Inline): Lowered => ({
  part: { inlineData: { mimeType: mediaType, data: base64 } }
})

/** The result stays the text it is: read as JSON and written anew, long numbers would change. */
const resultPart = ({ content, id, isMissing, name }: ToolResultBlock, names: ToolNames): Lowered => {
  const text = content.map((block) => block.text).join("\n")
  const response = isMissing ? { error: text } : { output: text }
  return { part: { functionResponse: { id, name: names.toProvider(name), response } } }
}

const rejected = (message: string, param: string): ProviderFailure => ({ _tag: "RequestRejected", message, param })

// What the model said

/** The documented way to say that a call was not this model's own, so that there can be no signature. */
const noSignature = "skip_thought_signature_validator"

/**
 * A signature goes back on the very part that it came with. Of parallel calls only the first has one, so a turn needs the
 * stand-in only when none of its calls is signed.
 */
const modelParts = ({ blocks }: AssistantTurn, signatures: Signatures, names: ToolNames): ReadonlyArray<JsonObject> => {
  const callIds = new Set(blocks.flatMap((block) => (block._tag === "ToolCall" ? [block.id] : [])))
  const isSigned = blocks.some((block) => block._tag === "ToolCall" && signatures.of(block) !== undefined)
  let standIn = isSigned ? undefined : noSignature
  /** Of the text that comes next. */
  let waiting: string | undefined
  const parts: Array<JsonObject> = []
  const release = (): void => {
    if (waiting !== undefined) parts.push({ text: "", thoughtSignature: waiting })
    waiting = undefined
  }
  for (const block of blocks) {
    switch (block._tag) {
      case "Thought": {
        if (block.detail.type !== "reasoning.encrypted") parts.push(thoughtPart(block))
        else if (!callIds.has(block.detail.id ?? "")) {
          release()
          waiting = block.detail.data ?? undefined
        }
        break
      }
      case "Text":
        parts.push({ text: block.text, thoughtSignature: waiting })
        waiting = undefined
        break
      case "ToolCall": {
        release()
        const thoughtSignature = signatures.of(block) ?? standIn
        standIn = undefined
        parts.push({
          functionCall: { id: block.id, name: names.toProvider(block.name), args: block.input },
          thoughtSignature
        })
        break
      }
    }
  }
  release()
  return parts
}

const thoughtPart = ({ detail }: ThoughtBlock): JsonObject => ({
  text: detail.text ?? detail.summary ?? "",
  thought: true,
  thoughtSignature: detail.signature ?? undefined
})

interface Signatures {
  readonly of: (call: ToolCallBlock) => string | undefined
}

/**
 * The signatures of the conversation's calls. They travel with the call and, for clients that only give thoughts back, as a
 * thought of the call's id; the latter also tells which model signed, and no other can read it.
 */
const signaturesOf = ({ messages }: Pick<ChatRequest, "messages">, modelId: string): Signatures => {
  const own = new Map<string, string>()
  const foreign = new Set<string>()
  for (const message of messages) {
    if (message.role !== "assistant") continue
    for (const { data, format, id, type } of message.reasoning_details ?? []) {
      if (type !== "reasoning.encrypted" || typeof id !== "string") continue
      if (format !== modelId) foreign.add(id)
      else if (typeof data === "string" && data !== "") own.set(id, data)
    }
  }
  return {
    of: ({ extraContent, id }) =>
      own.get(id) ?? (foreign.has(id) ? undefined : textAt(objectAt(extraContent, "google"), "thought_signature"))
  }
}
