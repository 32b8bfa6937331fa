import type {
  AssistantMessage,
  CacheControl,
  FilePart,
  ImagePart,
  ReasoningDetail,
  TextPart,
  ToolMessage,
  ToolResultPart,
  UserPart
} from "../../../domain/Chat.ts"
import type { Json } from "./Json.ts"

export type UserBlock = TextBlock | ImageBlock | AudioBlock | FileBlock | ToolResultBlock
export type AssistantBlock = TextBlock | ReasoningDetailBlock | ToolCallBlock

/** A block with this mark ends a cached prefix of the prompt. */
export interface Cacheable {
  readonly cacheControl?: CacheControl
}

/** Not blank. */
export interface TextBlock extends Cacheable {
  readonly _tag: "Text"
  readonly text: string
  /** The client wants the prompt cached up to here, if the provider has a mark for it. */
  readonly isCacheBreakpoint: boolean
}

/** An image or a file, which may end a cached prefix as a text does. */
interface Attachment extends Cacheable {
  readonly isCacheBreakpoint?: true
}

/** `param` is the request path of the image, for error messages. */
export interface ImageBlock extends Attachment {
  readonly _tag: "Image"
  /** An http(s) or data: URL. */
  readonly url: string
  readonly param: string
}

export interface AudioBlock {
  readonly _tag: "Audio"
  readonly data: string
  readonly format: string
  readonly param: string
}

export interface FileBlock extends Attachment {
  readonly _tag: "File"
  readonly filename: string | undefined
  /** In most requests a data: URL. */
  readonly data: string | undefined
  readonly fileId: string | undefined
  readonly param: string
}

export interface ToolResultBlock extends Cacheable {
  readonly _tag: "ToolResult"
  readonly id: string
  /** The tool's name in the client's request. */
  readonly name: string
  /** Never empty. */
  readonly content: ReadonlyArray<ResultBlock>
  /** The tool has failed, or the conversation has no result for the call and the content is a placeholder. */
  readonly isError: boolean
}

export type ResultBlock = TextBlock | ImageBlock | FileBlock

/** Reasoning of this model; reasoning of other models is left out. */
export interface ReasoningDetailBlock {
  readonly _tag: "Reasoning"
  readonly detail: ReasoningDetail
}

export interface ToolCallBlock extends Cacheable {
  readonly _tag: "ToolCall"
  /** Letters, digits, `_` and `-`, at most 64 characters, unique in the conversation. */
  readonly id: string
  /** The tool's name in the client's request. */
  readonly name: string
  readonly input: Json
  readonly extraContent: Json | undefined
}

/** Placeholder for a turn or result without content. */
export const emptyText = "(empty)"

export const text = (value: string, isCacheBreakpoint = false): TextBlock => ({
  _tag: "Text",
  text: value,
  isCacheBreakpoint
})

export const marked = ({ cache_control: cacheControl }: { readonly cache_control?: CacheControl }): Cacheable =>
  cacheControl === undefined ? unmarked : { cacheControl }
const unmarked: Cacheable = {}

const attached = (part: ImagePart | FilePart): Attachment =>
  (part.prompt_cache_breakpoint ?? null) === null ? marked(part) : { ...marked(part), isCacheBreakpoint: true }

const isBlank = (value: string): boolean => !/\S/.test(value)

export const orPlaceholder = <Block>(blocks: ReadonlyArray<Block>): ReadonlyArray<Block | TextBlock> =>
  blocks.length === 0 ? [text(emptyText)] : blocks

export const texts = (content: string | ReadonlyArray<TextPart>): ReadonlyArray<TextBlock> =>
  typeof content === "string" ? textBlocks(content) : content.flatMap((part) => textBlocks(part.text, part))

const textBlocks = (value: string, part?: TextPart): ReadonlyArray<TextBlock> =>
  isBlank(value) ? [] : [{ ...text(value, (part?.prompt_cache_breakpoint ?? null) !== null), ...marked(part ?? {}) }]

export const userBlocks = (content: string | ReadonlyArray<UserPart>, path: string): ReadonlyArray<UserBlock> =>
  typeof content === "string"
    ? textBlocks(content)
    : content.flatMap((part, at) => userBlock(part, `${path}.content[${at}]`))

const userBlock = (part: UserPart, path: string): ReadonlyArray<TextBlock | ImageBlock | AudioBlock | FileBlock> =>
  part.type === "input_audio"
    ? [{ _tag: "Audio", data: part.input_audio.data, format: part.input_audio.format, param: path }]
    : resultBlock(part, path)

export const resultBlocks = (content: ToolMessage["content"], path: string): ReadonlyArray<ResultBlock> =>
  typeof content === "string"
    ? textBlocks(content)
    : content.flatMap((part, at) => resultBlock(part, `${path}.content[${at}]`))

const resultBlock = (part: ToolResultPart, path: string): ReadonlyArray<ResultBlock> => {
  switch (part.type) {
    case "text":
      return textBlocks(part.text, part)
    case "image_url":
      return [{ _tag: "Image", url: part.image_url.url, param: `${path}.image_url.url`, ...attached(part) }]
    case "file":
      return [
        {
          _tag: "File",
          filename: part.file.filename,
          data: part.file.file_data,
          fileId: part.file.file_id,
          param: `${path}.file`,
          ...attached(part)
        }
      ]
  }
}

/** The assistant's texts; refusals are sent as text too. */
export const assistantTexts = (message: AssistantMessage): ReadonlyArray<TextBlock> => [
  ...assistantParts(message).flat(),
  ...textBlocks(message.refusal ?? "")
]

/** The blocks of each part of the content. */
export const assistantParts = ({ content }: AssistantMessage): ReadonlyArray<ReadonlyArray<TextBlock>> =>
  typeof content === "string"
    ? [textBlocks(content)]
    : (content ?? []).map((part) => (part.type === "text" ? textBlocks(part.text, part) : textBlocks(part.refusal)))
