import type { ChatRequest, JsonObject } from "../../../domain/Chat.ts"
import * as DataUrl from "../../../domain/DataUrl.ts"
import { gif } from "../../../domain/MediaTypes.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { ProviderCall } from "../../Provider.ts"
import type {
  AudioBlock,
  FileBlock,
  ImageBlock,
  ReasoningDetailBlock,
  ToolCallBlock,
  ToolResultBlock,
  UserBlock
} from "../shared/Blocks.ts"
import type { AssistantTurn, Turn } from "../shared/Conversation.ts"
import { objectAt, textAt } from "../shared/Json.ts"
import { isFrom } from "../shared/ReasoningBlocks.ts"
import type { ToolNames } from "../shared/ToolNames.ts"

/** The turns as `contents`, or why they cannot be sent. */
export const lowerMessages = (
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
    for (const block of withAttachments(turn.blocks)) {
      const part = userPart(block, names)
      if ("_tag" in part) return part
      parts.push(part.part)
    }
    contents.push({ role: "user", parts })
  }
  return { contents }
}

// User turns

interface LoweredPart {
  readonly part: JsonObject
}

const userPart = (block: UserBlock, names: ToolNames): LoweredPart | ProviderFailure => {
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

const imagePart = ({ param, url }: ImageBlock): LoweredPart | ProviderFailure => {
  const inline = DataUrl.parse(url)
  return inline === undefined
    ? rejected(DataUrl.faultOf(url, "The provider supports images as data: URLs only."), param)
    : inlinePart(inline, param)
}

const audioPart = ({ data, format }: AudioBlock): LoweredPart => ({
  part: { inlineData: { mimeType: `audio/${format}`, data } }
})

const filePart = ({ data, fileId, param }: FileBlock): LoweredPart | ProviderFailure => {
  const inline = data === undefined ? undefined : DataUrl.parse(data)
  if (inline !== undefined) return inlinePart(inline, `${param}.file_data`)
  return fileId === undefined
    ? rejected(DataUrl.faultOf(data, "The provider supports files as data: URLs only."), `${param}.file_data`)
    : rejected("The provider does not support file ids.", `${param}.file_id`)
}

const inlinePart = ({ base64, mediaType }: DataUrl.Inline, param: string): LoweredPart | ProviderFailure =>
  mediaType === gif
    ? rejected("The provider does not support GIF images.", param)
    : { part: { inlineData: { mimeType: mediaType, data: base64 } } }

/** A function response has text only: what else the results have comes after the last of them. */
const withAttachments = (blocks: ReadonlyArray<UserBlock>): ReadonlyArray<UserBlock> => {
  const attached: Array<UserBlock> = []
  let results = 0
  for (const block of blocks) {
    if (block._tag !== "ToolResult") break
    results++
    const attachments = block.content.filter((inner) => inner._tag !== "Text")
    if (attachments.length === 0) continue
    attached.push({ _tag: "Text", text: `Attached to the result of ${block.name}:`, isCacheBreakpoint: false })
    for (const attachment of attachments) attached.push(attachment)
  }
  return attached.length === 0 ? blocks : [...blocks.slice(0, results), ...attached, ...blocks.slice(results)]
}

/** The result is sent as text: parsing and writing it as JSON would change long numbers. */
const resultPart = ({ content, id, isError, name }: ToolResultBlock, names: ToolNames): LoweredPart => {
  const text = content.flatMap((block) => (block._tag === "Text" ? [block.text] : [])).join("\n")
  const response = isError ? { error: text } : { output: text }
  return { part: { functionResponse: { id, name: names.toProvider(name), response } } }
}

const rejected = (message: string, param: string): ProviderFailure => ({ _tag: "RequestRejected", message, param })

// Model turns

/** The documented placeholder for calls that were not made by this model and so have no signature. */
const noSignature = "skip_thought_signature_validator"

/**
 * A signature is sent back on the part that it came with. Of parallel calls only the first has a signature, so a turn needs the
 * placeholder only when none of its calls is signed.
 */
const modelParts = ({ blocks }: AssistantTurn, signatures: Signatures, names: ToolNames): ReadonlyArray<JsonObject> => {
  const callIds = new Set(blocks.flatMap((block) => (block._tag === "ToolCall" ? [block.id] : [])))
  const isSigned = blocks.some((block) => block._tag === "ToolCall" && signatures.of(block) !== undefined)
  let standIn = isSigned ? undefined : noSignature
  /** The signature of the next text. */
  let waiting: string | undefined
  const parts: Array<JsonObject> = []
  const release = (): void => {
    if (waiting !== undefined) parts.push({ text: "", thoughtSignature: waiting })
    waiting = undefined
  }
  for (const block of blocks) {
    switch (block._tag) {
      case "Reasoning": {
        if (block.detail.type !== "reasoning.encrypted") parts.push(reasoningPart(block))
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

const reasoningPart = ({ detail }: ReasoningDetailBlock): JsonObject => ({
  text: detail.text ?? detail.summary ?? "",
  thought: true,
  thoughtSignature: detail.signature ?? undefined
})

interface Signatures {
  readonly of: (call: ToolCallBlock) => string | undefined
}

/**
 * The signatures of the conversation's calls. A signature comes back with the call or, from clients that send back only
 * reasoning, as a reasoning detail with the call's id; the latter also names the model that signed, the only one to accept it.
 */
const signaturesOf = ({ messages }: Pick<ChatRequest, "messages">, modelId: string): Signatures => {
  const own = new Map<string, string>()
  const foreign = new Set<string>()
  for (const message of messages) {
    if (message.role !== "assistant") continue
    for (const detail of message.reasoning_details ?? []) {
      const { data, id, type } = detail
      if (type !== "reasoning.encrypted" || typeof id !== "string") continue
      if (!isFrom(detail, modelId)) foreign.add(id)
      else if (typeof data === "string" && data !== "") own.set(id, data)
    }
  }
  return {
    of: ({ extraContent, id }) =>
      own.get(id) ?? (foreign.has(id) ? undefined : textAt(objectAt(extraContent, "google"), "thought_signature"))
  }
}
