import * as AiError from "@effect/ai/AiError"
import type * as Prompt from "@effect/ai/Prompt"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type { ChatCompletionRequest } from "../wire/chat/ChatRequestSchema.ts"
import { metadataName } from "./MetadataName.ts"

type Message = ChatCompletionRequest["messages"][number]
type AssistantMessage = Extract<Message, { readonly role: "assistant" }>
type UserPart = Exclude<Extract<Message, { readonly role: "user" }>["content"], string>[number]
type ToolCall = NonNullable<AssistantMessage["tool_calls"]>[number]
type ReasoningDetail = NonNullable<AssistantMessage["reasoning_details"]>[number]
type Messages = Either.Either<ReadonlyArray<Message>, AiError.MalformedInput>

/** A prompt as the messages of a chat completion. */
export const messagesOf = ({ content }: Prompt.Prompt): Messages =>
  Either.map(Either.all(content.map(messagesOfOne)), Arr.flatten)

const messagesOfOne = (message: Prompt.Message): Messages => {
  switch (message.role) {
    case "system":
      return Either.right([{ role: "system", content: message.content }])
    case "user":
      return Either.map(Either.all(message.content.map(userPart)), (content) => [{ role: "user", content }])
    case "assistant":
      return Either.map(assistantMessage(message.content), Arr.of)
    case "tool":
      return Either.right(
        message.content.map(({ id, result }) => ({
          role: "tool",
          tool_call_id: id,
          content: typeof result === "string" ? result : JSON.stringify(result ?? null)
        }))
      )
  }
}

/** Of the calls whose tools have failed: a chat completion has no field for it, several providers have. */
export const failedCallsOf = ({ content }: Prompt.Prompt): ReadonlySet<string> =>
  new Set(
    content.flatMap((message) =>
      message.role === "tool" ? message.content.flatMap(({ id, isFailure }) => (isFailure ? [id] : [])) : []
    )
  )

const userPart = (part: Prompt.UserMessagePart): Either.Either<UserPart, AiError.MalformedInput> => {
  if (part.type === "text") return Either.right({ type: "text", text: part.text })
  const { fileName, mediaType } = part
  if (mediaType.startsWith("image/")) {
    const known = mediaType === "image/*" ? "image/jpeg" : mediaType
    return Either.right({ type: "image_url", image_url: { url: addressOf(part, known) } })
  }
  if (mediaType.startsWith("audio/")) {
    if (isAddress(part.data)) return Either.left(notSent("audio by its address"))
    const format = mediaType === "audio/mpeg" ? "mp3" : mediaType.slice("audio/".length).replace(/^x-/, "")
    return Either.right({ type: "input_audio", input_audio: { data: base64Of(part), format } })
  }
  return Either.right({
    type: "file",
    file: { filename: fileName ?? "file", file_data: addressOf(part, mediaType) }
  })
}

const isAddress = (data: Prompt.FilePart["data"]): boolean =>
  data instanceof URL ? data.protocol !== "data:" : typeof data === "string" && /^https?:/.test(data)

const addressOf = (part: Prompt.FilePart, mediaType: string): string => {
  const { data } = part
  if (data instanceof URL) return data.href
  return typeof data === "string" && /^(?:https?|data):/.test(data)
    ? data
    : `data:${mediaType};base64,${base64Of(part)}`
}

const base64Of = ({ data }: Prompt.FilePart): string => {
  if (data instanceof Uint8Array) return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64")
  return String(data).replace(/^data:[^,]*,/, "")
}

/** Reasoning goes back only with what proves to its provider where it is from; the text of the others is of no use to any model. */
const assistantMessage = (
  parts: ReadonlyArray<Prompt.AssistantMessagePart>
): Either.Either<AssistantMessage, AiError.MalformedInput> => {
  const texts: Array<string> = []
  const calls: Array<ToolCall> = []
  const reasoning: Array<ReasoningDetail> = []
  for (const part of parts) {
    switch (part.type) {
      case "text":
        texts.push(part.text)
        break
      case "reasoning": {
        const detail = part.options[metadataName]
        if (isReasoningDetail(detail)) reasoning.push(detail)
        break
      }
      case "tool-call": {
        if (part.providerExecuted) return Either.left(notSent("a call that a provider has executed"))
        const { id, name, params } = part
        calls.push({ id, type: "function", function: { name, arguments: JSON.stringify(params ?? {}) } })
        break
      }
      default:
        return Either.left(notSent(part.type === "file" ? "a file of the assistant" : "a result of the assistant"))
    }
  }
  const content = texts.join("")
  return Either.right({
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(reasoning.length > 0 && { reasoning_details: reasoning })
  })
}

const isReasoningDetail = (value: unknown): value is ReasoningDetail =>
  Predicate.hasProperty(value, "type") && String(value.type).startsWith("reasoning.")

const notSent = (what: string): AiError.MalformedInput =>
  new AiError.MalformedInput({
    module: "GatewayLanguageModel",
    method: "messagesOf",
    description: `The prompt has ${what}, which the gateway has no message for.`
  })
