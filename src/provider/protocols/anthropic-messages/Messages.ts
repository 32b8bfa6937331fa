import type { CacheControl, JsonObject } from "../../../domain/Chat.ts"
import * as DataUrl from "../../../domain/DataUrl.ts"
import { imageFormats, isTextFile, isWebAddress, pdf } from "../../../domain/MediaTypes.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type {
  AssistantBlock,
  FileBlock,
  ImageBlock,
  ReasoningDetailBlock,
  ResultBlock,
  TextBlock,
  UserBlock
} from "../shared/Blocks.ts"
import { lastBreakpoints } from "../shared/CacheBreakpoints.ts"
import type { Conversation } from "../shared/Conversation.ts"
import type { ToolNames } from "../shared/ToolNames.ts"

export interface LoweredMessages {
  readonly system: ReadonlyArray<JsonObject>
  readonly messages: ReadonlyArray<{
    readonly role: "user" | "assistant" | "system"
    readonly content: ReadonlyArray<JsonObject>
  }>
}

/** The mark of a cached block as it is sent; `undefined` where it is not. */
export type LowerCacheControl = (given: CacheControl | undefined) => JsonObject | undefined

export const lowerMessages = (
  conversation: Conversation,
  names: ToolNames,
  cacheControl: LowerCacheControl
): LoweredMessages | ProviderFailure => {
  const lowering: Lowering = { names, cacheControl, breakpoints: lastBreakpoints(conversation) }
  const messages: Array<LoweredMessages["messages"][number]> = []
  for (const turn of conversation.turns) {
    const content: Array<JsonObject> = []
    for (const block of turn.blocks) {
      const lowered = lowerBlock(block, lowering)
      if (lowered === undefined) continue
      if (isFailure(lowered)) return lowered
      content.push(lowered)
    }
    messages.push({ role: turn.role, content })
    if (turn.role === "user" && turn.instructions !== undefined) {
      messages.push({ role: "system", content: turn.instructions.map((block) => lowerText(block, lowering)) })
    }
  }
  return { system: conversation.instructions.map((block) => lowerText(block, lowering)), messages }
}

interface Lowering {
  readonly names: ToolNames
  readonly cacheControl: LowerCacheControl
  readonly breakpoints: ReturnType<typeof lastBreakpoints>
}

const isFailure = (value: JsonObject | ProviderFailure): value is ProviderFailure => "_tag" in value

/** `undefined`: the block has nothing that can be sent. */
const lowerBlock = (
  block: UserBlock | AssistantBlock,
  lowering: Lowering
): JsonObject | ProviderFailure | undefined => {
  const { cacheControl, names } = lowering
  switch (block._tag) {
    case "Text":
    case "Image":
    case "File":
      return lowerContent(block, lowering)
    case "Reasoning":
      return lowerReasoningDetail(block)
    case "ToolCall":
      return {
        type: "tool_use",
        id: block.id,
        name: names.toProvider(block.name),
        input: block.input,
        cache_control: cacheControl(block.cacheControl)
      }
    case "ToolResult": {
      const content: Array<JsonObject> = []
      for (const inner of block.content) {
        const lowered = lowerContent(inner, lowering)
        if (isFailure(lowered)) return lowered
        content.push(lowered)
      }
      return {
        type: "tool_result",
        tool_use_id: block.id,
        content,
        is_error: block.isError ? true : undefined,
        cache_control: cacheControl(block.cacheControl)
      }
    }
    case "Audio":
      return { _tag: "RequestRejected", message: "The provider does not support audio.", param: block.param }
  }
}

const lowerContent = (block: ResultBlock, lowering: Lowering): JsonObject | ProviderFailure => {
  if (block._tag === "Text") return lowerText(block, lowering)
  const lowered = block._tag === "Image" ? lowerImage(block) : lowerFile(block)
  const mark = markOf(block, lowering)
  return isFailure(lowered) || mark === undefined ? lowered : { ...lowered, cache_control: mark }
}

const lowerText = (block: TextBlock, lowering: Lowering): JsonObject => ({
  type: "text",
  text: block.text,
  cache_control: markOf(block, lowering)
})

const markOf = (block: ResultBlock, { breakpoints, cacheControl }: Lowering): JsonObject | undefined =>
  block.isCacheBreakpoint && breakpoints.has(block) ? { type: "ephemeral" } : cacheControl(block.cacheControl)

/** The provider rejects reasoning without a signature. */
const lowerReasoningDetail = ({ detail }: ReasoningDetailBlock): JsonObject | undefined => {
  if (detail.type === "reasoning.encrypted") {
    return detail.data ? { type: "redacted_thinking", data: detail.data } : undefined
  }
  return detail.signature
    ? { type: "thinking", thinking: detail.text ?? detail.summary ?? "", signature: detail.signature }
    : undefined
}

const lowerImage = ({ param, url }: ImageBlock): JsonObject | ProviderFailure => {
  if (isWebAddress(url)) return { type: "image", source: { type: "url", url } }
  const inline = DataUrl.parse(url)
  if (inline !== undefined && imageFormats.has(inline.mediaType)) return image(inline)
  const unsupported = "The provider supports JPEG, PNG, GIF and WebP images only."
  const message = inline === undefined ? DataUrl.faultOf(url, unsupported) : unsupported
  return { _tag: "RequestRejected", message, param }
}

const image = ({ base64, mediaType }: DataUrl.Inline): JsonObject => ({
  type: "image",
  source: { type: "base64", media_type: mediaType, data: base64 }
})

const lowerFile = ({ data, fileId, filename, param }: FileBlock): JsonObject | ProviderFailure => {
  if (data === undefined) {
    return fileId === undefined
      ? { _tag: "RequestRejected", message: "The file has neither data nor an id.", param }
      : document({ type: "file", file_id: fileId }, filename)
  }
  if (isWebAddress(data)) return document({ type: "url", url: data }, filename)
  const inline = DataUrl.parse(data)
  if (inline === undefined) {
    const message = DataUrl.faultOf(data, "The file is not a data: URL.")
    return { _tag: "RequestRejected", message, param: `${param}.file_data` }
  }
  const { base64, mediaType } = inline
  if (imageFormats.has(mediaType)) return image(inline)
  if (mediaType === pdf) {
    return document({ type: "base64", media_type: mediaType, data: base64 }, filename)
  }
  if (!isTextFile(mediaType, filename)) {
    return {
      _tag: "RequestRejected",
      message: "The provider supports PDF, text and image files only.",
      param: `${param}.file_data`
    }
  }
  const text = Buffer.from(base64, "base64").toString("utf8")
  return document({ type: "text", media_type: "text/plain", data: /\S/.test(text) ? text : "(empty)" }, filename)
}

const document = (source: JsonObject, filename: string | undefined): JsonObject => ({
  type: "document",
  source,
  title: filename
})
