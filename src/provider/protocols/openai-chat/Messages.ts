import { hash } from "node:crypto"
import type {
  AssistantMessage,
  FilePart,
  JsonObject,
  Message,
  ReasoningDetail,
  TextPart,
  ToolCall,
  ToolMessage,
  UserMessage,
  UserPart
} from "../../../domain/Chat.ts"
import { documentFormatOf, headOf, imageFormats } from "../../../domain/MediaTypes.ts"
import type { ProviderCall } from "../../Provider.ts"
import { emptyText } from "../shared/Blocks.ts"
import { isObject } from "../shared/Json.ts"
import { isFrom, ownReasoning } from "../shared/ReasoningBlocks.ts"
import type { ToolNames } from "../shared/ToolNames.ts"
import { cacheMark } from "./CacheMark.ts"
import { inStrictOrder } from "./MessageOrder.ts"
import type { Quirks } from "./Quirks.ts"
import { withTextFiles } from "./TextFiles.ts"

interface Lowering {
  readonly call: ProviderCall
  readonly quirks: Quirks
  readonly names: ToolNames
  /** Reasoning for messages that have none to send back; empty where none is needed. */
  readonly placeholder: string
}

/** Tool messages have text only: what else the results of a turn have comes with the next message of the user. */
export const lowerMessages = (call: ProviderCall, quirks: Quirks, names: ToolNames): ReadonlyArray<JsonObject> => {
  const lowered: Array<JsonObject> = []
  const lowering: Lowering = { call, quirks, names, placeholder: placeholderOf(call, quirks) }
  let attached: Array<UserPart> = []
  const flush = (following: UserMessage["content"] = []): void => {
    const parts = typeof following === "string" ? [{ type: "text" as const, text: following }] : following
    lowered.push({ role: "user", content: lowerContent([...attached, ...parts], lowering) })
    attached = []
  }
  for (const message of withoutSilent(withTextFiles(call.request.messages))) {
    if (message.role === "tool") for (const part of attachmentsOf(message, quirks)) attached.push(part)
    else if (attached.length > 0) {
      flush(message.role === "user" ? message.content : undefined)
      if (message.role === "user") continue
    }
    lowered.push(lowerMessage(message, lowering))
  }
  if (attached.length > 0) flush()
  const ordered = quirks.strictOrder ? inStrictOrder(lowered) : lowered
  const mark = cacheMark(call.request.cacheControl, call)
  return mark === undefined ? ordered : markedAtEnd(ordered, mark)
}

/** A mark of the whole request stands at the last text: the block up to which all of it can be cached. */
const markedAtEnd = (messages: ReadonlyArray<JsonObject>, mark: JsonObject): ReadonlyArray<JsonObject> => {
  const last = messages.findLastIndex(({ content }) => markedText(content, mark) !== content)
  return messages.map((message, at) =>
    at === last ? { ...message, content: markedText(message["content"], mark) } : message
  )
}

/** The content with the mark at its last part, which has to be a text that is not empty; the same content where it is none. */
const markedText = (content: unknown, mark: JsonObject): unknown => {
  if (typeof content === "string") {
    return content === "" ? content : [{ type: "text", text: content, cache_control: mark }]
  }
  const last: unknown = Array.isArray(content) ? content.at(-1) : undefined
  if (!Array.isArray(content) || !isObject(last) || last["type"] !== "text" || last["text"] === "") return content
  return [...content.slice(0, -1), { ...last, cache_control: mark }]
}

/**
 * Reasoning that a model has added after its text is a message of its own in a conversation of the Messages format. Vendors reject
 * a message without content, so it joins the one before.
 */
const withoutSilent = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  if (!messages.some(isSilent)) return messages
  const kept: Array<Message> = []
  let silent: Array<ReasoningDetail> = []
  const join = (): void => {
    const last = kept.at(-1)
    if (silent.length === 0 || last?.role !== "assistant") return
    const details = [...(last.reasoning_details ?? []), ...silent]
    kept[kept.length - 1] = { ...last, reasoning_details: details.map((detail, index) => ({ ...detail, index })) }
    silent = []
  }
  for (const message of messages) {
    const last = kept.at(-1)
    if (isSilent(message) && last?.role === "assistant" && last.tool_calls === undefined) {
      for (const detail of message.reasoning_details ?? []) silent.push(detail)
    } else {
      join()
      kept.push(message)
    }
  }
  join()
  return kept
}

const isSilent = (message: Message): message is AssistantMessage =>
  message.role === "assistant" &&
  (message.content ?? "").length === 0 &&
  !message.refusal &&
  !message.audio &&
  message.tool_calls === undefined

const attachmentsOf = ({ content, tool_call_id: id }: ToolMessage, quirks: Quirks): ReadonlyArray<UserPart> => {
  const attachments = typeof content === "string" ? [] : content.filter((part) => part.type !== "text")
  return attachments.length === 0
    ? attachments
    : [{ type: "text", text: `Attached to the result of the call ${toolCallId(id, quirks)}:` }, ...attachments]
}

const resultText = (content: ToolMessage["content"]): ToolMessage["content"] => {
  if (typeof content === "string") return content
  const texts = content.filter((part) => part.type === "text")
  return texts.length === 0 && content.length > 0 ? "The result is attached to the next message." : texts
}

const lowerMessage = (message: Message, lowering: Lowering): JsonObject => {
  const { quirks } = lowering
  switch (message.role) {
    case "developer":
      return {
        role: quirks.instructionRole,
        content: lowerContent(message.content, lowering),
        name: nameOf(message, lowering)
      }
    case "system":
    case "user":
      return { role: message.role, content: lowerContent(message.content, lowering), name: nameOf(message, lowering) }
    case "assistant":
      return lowerAssistant(message, lowering)
    case "tool": {
      const content = lowerContent(resultText(message.content), lowering)
      const mark = cacheMark(message.cache_control, lowering.call)
      return {
        role: "tool",
        tool_call_id: toolCallId(message.tool_call_id, quirks),
        content: mark === undefined ? content : markedText(content, mark)
      }
    }
  }
}

const nameOf = ({ name }: { readonly name?: string }, { call }: Lowering): string | undefined =>
  call.dropped.includes("messages.name") ? undefined : name

/** Vendors reject an empty list of parts: a tool may have nothing to say. */
const lowerContent = (content: string | ReadonlyArray<UserPart>, { call, quirks }: Lowering): unknown => {
  if (typeof content === "string") return content
  if (content.length === 0) return ""
  if (takesTextParts(quirks)) return content.map((part) => lowerPart(part, call))
  const parts = content.filter((part) => part.type !== "text" || part.text !== "")
  return parts.every((part) => part.type === "text") ? joined(parts) : parts.map((part) => lowerPart(part, call))
}

/** The marks of cached prefixes stand at parts. */
const takesTextParts = ({ support, textParts }: Quirks): boolean => textParts || support.cache_control === "native"

const joined = (parts: ReadonlyArray<TextPart>): string => parts.map(({ text }) => text).join("\n")

const lowerPart = (part: UserPart, call: ProviderCall): JsonObject => {
  switch (part.type) {
    case "text":
      return lowerText(part, call)
    case "image_url":
      return {
        type: "image_url",
        image_url: { url: part.image_url.url, detail: part.image_url.detail },
        prompt_cache_breakpoint: breakpointOf(part, call)
      }
    case "input_audio":
      return {
        type: "input_audio",
        input_audio: { data: part.input_audio.data, format: part.input_audio.format },
        prompt_cache_breakpoint: breakpointOf(part, call)
      }
    case "file":
      return {
        type: "file",
        file: { filename: filenameOf(part.file), file_data: part.file.file_data, file_id: part.file.file_id },
        prompt_cache_breakpoint: breakpointOf(part, call)
      }
  }
}

/** OpenAI takes data without a name for a file by id. */
const filenameOf = ({ file_data: data, filename }: FilePart["file"]): string | undefined => {
  if (data === undefined || (filename ?? "") !== "") return filename
  const mediaType = headOf(data)?.mediaType ?? ""
  const extension = imageFormats.get(mediaType) ?? documentFormatOf(mediaType, undefined)
  return extension === undefined ? "document" : `document.${extension}`
}

/** A breakpoint is sent only where the other caching parameters are supported. */
const breakpointOf = (
  { prompt_cache_breakpoint: breakpoint }: Pick<TextPart, "prompt_cache_breakpoint">,
  call: ProviderCall
): JsonObject | undefined =>
  breakpoint && !call.dropped.includes("prompt_cache_options") && caches(call) ? breakpoint : undefined

const lowerText = (part: TextPart, call: ProviderCall): JsonObject => {
  const breakpoint = breakpointOf(part, call)
  if (breakpoint !== undefined) return { type: "text", text: part.text, prompt_cache_breakpoint: breakpoint }
  const mark = cacheMark(part.cache_control, call)
  return mark === undefined ? { type: "text", text: part.text } : { type: "text", text: part.text, cache_control: mark }
}

const caches = (call: ProviderCall): boolean => call.model.support.prompt_cache_options === "native"

const lowerAssistant = (given: AssistantMessage, lowering: Lowering): JsonObject => {
  const { quirks } = lowering
  const message = quirks.refusals ? given : withoutRefusals(given)
  const content = lowerAnswer(message.content ?? null, lowering)
  const isEmpty = (content ?? "").length === 0 && !message.audio && (message.tool_calls ?? []).length === 0
  return {
    role: "assistant",
    content: isEmpty && !quirks.emptyAnswers ? emptyText : content,
    refusal: message.refusal ?? undefined,
    name: nameOf(message, lowering),
    audio: message.audio ? { id: message.audio.id } : undefined,
    ...lowerReasoningHistory(message, lowering),
    tool_calls:
      message.tool_calls === undefined || message.tool_calls.length === 0
        ? undefined
        : message.tool_calls.map((toolCall) => lowerToolCall(toolCall, lowering))
  }
}

const lowerAnswer = (
  content: NonNullable<AssistantMessage["content"]> | null,
  { call, quirks }: Lowering
): string | ReadonlyArray<JsonObject> | null => {
  if (content === null || typeof content === "string") return content
  if (content.length === 0) return ""
  if (!takesTextParts(quirks) && content.every((part) => part.type === "text"))
    return joined(content.filter(({ text }) => text !== ""))
  return content.map((part) =>
    part.type === "text" ? lowerText(part, call) : { type: "refusal", refusal: part.refusal }
  )
}

/** Refusals as text: without it the message would have no content. */
const withoutRefusals = (message: AssistantMessage): AssistantMessage => {
  const hasPart =
    typeof message.content !== "string" && message.content?.some((part) => part.type === "refusal") === true
  if (!message.refusal && !hasPart) return message
  const { content, refusal, ...rest } = message
  const parts = typeof content === "string" ? [textPart(content)] : (content ?? [])
  const texts = parts.map((part) => (part.type === "text" ? part : textPart(part.refusal)))
  const said = (refusal ? [...texts, textPart(refusal)] : texts).filter(({ text }) => text !== "")
  const [only] = said
  return { ...rest, content: only !== undefined && said.length === 1 ? only.text : said }
}

const textPart = (text: string): TextPart => ({ type: "text", text })

/** For reasoning that is not sent back: that of another model, or of a client that keeps none. */
const missingReasoning = "(no reasoning was given)"

const placeholderOf = ({ effort, request: { messages, tools } }: ProviderCall, quirks: Quirks): string => {
  if (!quirks.requiresReasoning || effort === "none") return ""
  const usesTools = tools.length > 0 || messages.some((message) => message.role === "assistant" && message.tool_calls)
  return usesTools ? missingReasoning : ""
}

/**
 * Reasoning with a known origin is sent back to that origin only: its signature is not valid elsewhere. Reasoning text without
 * details has no origin; it is sent to vendors that reject a tool turn without reasoning.
 */
const lowerReasoningHistory = (message: AssistantMessage, { call, placeholder, quirks }: Lowering): JsonObject => {
  if (quirks.reasoningHistory === "none") return {}
  const details = message.reasoning_details ?? []
  if (quirks.reasoningHistory === "reasoning_details") {
    const blocks = ownReasoning(details, call.model.id)
    return blocks.length === 0 ? {} : { reasoning_details: blocks.map(lowerDetail) }
  }
  const own = details.filter((detail) => isFrom(detail, call.model.id))
  const text =
    details.length === 0
      ? (message.reasoning_content ?? message.reasoning ?? "")
      : own.map((detail) => detail.text ?? detail.summary ?? "").join("")
  const sent = text === "" ? placeholder : text
  return sent === "" ? {} : { reasoning_content: sent }
}

/** OpenRouter takes a block without a format for one of Claude, whatever model is to read it. */
const lowerDetail = (detail: ReasoningDetail): JsonObject => ({
  type: detail.type,
  text: detail.text ?? undefined,
  summary: detail.summary ?? undefined,
  data: detail.data ?? undefined,
  signature: detail.signature ?? undefined,
  format: detail.provider_format ?? undefined,
  id: detail.id ?? undefined,
  index: detail.index ?? undefined
})

const lowerToolCall = (toolCall: ToolCall, { names, quirks }: Lowering): JsonObject => {
  const id = toolCallId(toolCall.id, quirks)
  const extra = quirks.extraContent ? (toolCall.extra_content ?? undefined) : undefined
  return toolCall.type === "function"
    ? {
        id,
        type: "function",
        function: { name: names.toProvider(toolCall.function.name), arguments: orNone(toolCall.function.arguments) },
        extra_content: extra
      }
    : {
        id,
        type: "custom",
        custom: { name: names.toProvider(toolCall.custom.name), input: toolCall.custom.input },
        extra_content: extra
      }
}

/** Blank text means no arguments, where many servers expect JSON. */
const orNone = (text: string): string => (/\S/.test(text) ? text : "{}")

/** An id that the vendor would reject is replaced by a derived id, the same in the call and in its result. */
const toolCallId = (id: string, quirks: Quirks): string => {
  const { maxToolCallIdLength: max, toolCallIdLength: length } = quirks
  if (length !== null) return id.length === length && /^[A-Za-z0-9]+$/.test(id) ? id : digest(id).slice(0, length)
  return max === null || id.length <= max ? id : digest(id).slice(0, max)
}

const digest = (id: string): string => hash("sha256", id, "hex")
