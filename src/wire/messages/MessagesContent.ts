import type { FilePart, ImagePart, JsonObject, TextPart } from "../../domain/Chat.ts"
import {
  array,
  arrayOrText,
  choiceOf,
  cut,
  nonEmpty,
  object,
  oneOf,
  optional,
  reject,
  string
} from "../validation/Fields.ts"
import type { CacheMarks } from "./MessagesCacheMarks.ts"

/** What all blocks of a request are read with. */
export interface ReadingState {
  readonly marks: CacheMarks
  /** Names of what has no effect. */
  readonly ignored: Set<string>
}

export type ContentPart = TextPart | ImagePart | FilePart

/** A text, or text blocks. */
export const textContent = (content: unknown, param: string, state: ReadingState): string | ReadonlyArray<TextPart> => {
  if (typeof content === "string") return content
  return unwrapText(
    arrayOrText(content, param).map((value, index) => {
      const at = `${param}[${index}]`
      const block = object(value, at)
      oneOf("text")(block["type"], `${at}.type`)
      return textPart(block, at, state)
    })
  )
}

/** A single text becomes a string, since some providers do not support parts. */
export const unwrapText = <A extends ContentPart>(parts: ReadonlyArray<A>): string | ReadonlyArray<A> => {
  const only = parts.length === 1 ? parts[0] : undefined
  return only?.type === "text" && only.cache_control === undefined ? only.text : parts
}

export const textPart = (block: JsonObject, param: string, { marks }: ReadingState): TextPart => ({
  type: "text",
  text: string(block["text"], `${param}.text`),
  ...marks.of(block, param)
})

/** The parts of a block of a user's message or of a tool's result; `undefined` for a block of another type. */
export const contentParts = (
  block: JsonObject,
  type: string,
  param: string,
  state: ReadingState
): ReadonlyArray<ContentPart> | undefined => {
  switch (type) {
    case "text":
      return [textPart(block, param, state)]
    case "image":
      return [imagePart(block, param, state)]
    case "document":
      return documentParts(block, param, state)
    case "search_result":
      return [searchResult(block, param, state)]
    default:
      return undefined
  }
}

/** The types that `contentParts` reads. */
export const contentTypes = ["text", "image", "document", "search_result"] as const

export const unknownBlock = (type: string, param: string, known: ReadonlyArray<string>): never =>
  reject(
    "unsupported_value",
    `${param}.type`,
    `Content blocks of type '${cut(type)}' are not supported here: send ${choiceOf(known)}.`
  )

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const

const imagePart = (block: JsonObject, param: string, { ignored, marks }: ReadingState): ImagePart => {
  const at = `${param}.source`
  const source = object(block["source"], at)
  if (given(block["transformations"])) ignored.add("image.transformations")
  const mark = marks.of(block, param)
  switch (sourceType(source, at, "base64", "url", "file")) {
    case "base64": {
      const mediaType = oneOf(...imageTypes)(source["media_type"], `${at}.media_type`)
      return { type: "image_url", image_url: { url: dataUrl(mediaType, source, at) }, ...mark }
    }
    case "url":
      return { type: "image_url", image_url: { url: webAddress(source, at) }, ...mark }
    case "file":
      return unstored(at)
  }
}

/** A document is a file, and one that is made of blocks these blocks. */
const documentParts = (block: JsonObject, param: string, state: ReadingState): ReadonlyArray<ContentPart> => {
  const at = `${param}.source`
  const source = object(block["source"], at)
  const title = optional(block["title"], `${param}.title`, string)
  if (given(block["context"])) state.ignored.add("document.context")
  if (isEnabled(block["citations"])) state.ignored.add("document.citations")
  const mark = state.marks.of(block, param)
  const file = (data: string): ReadonlyArray<FilePart> => [
    { type: "file", file: { ...(title !== undefined && { filename: title }), file_data: data }, ...mark }
  ]
  switch (sourceType(source, at, "base64", "text", "content", "url", "file")) {
    case "base64":
      return file(dataUrl(oneOf("application/pdf")(source["media_type"], `${at}.media_type`), source, at))
    case "text": {
      oneOf("text/plain")(source["media_type"], `${at}.media_type`)
      const text = string(source["data"], `${at}.data`)
      return file(`data:text/plain;base64,${Buffer.from(text, "utf8").toString("base64")}`)
    }
    case "content": {
      const parts = sourceBlocks(source["content"], `${at}.content`, state)
      const titled = title === undefined ? parts : [{ type: "text" as const, text: title }, ...parts]
      const last = titled.at(-1)
      return last === undefined ? titled : [...titled.slice(0, -1), { ...last, ...mark }]
    }
    case "url":
      return file(webAddress(source, at))
    case "file":
      return unstored(at)
  }
}

const sourceBlocks = (content: unknown, param: string, state: ReadingState): ReadonlyArray<ContentPart> =>
  typeof content === "string"
    ? [{ type: "text", text: content }]
    : arrayOrText(content, param).flatMap((value, index) => {
        const at = `${param}[${index}]`
        const block = object(value, at)
        const type = oneOf("text", "image")(block["type"], `${at}.type`)
        return contentParts(block, type, at, state) ?? []
      })

/** Citations of it cannot be asked for; what it says is text like any other. */
const searchResult = (block: JsonObject, param: string, state: ReadingState): TextPart => {
  const title = string(block["title"], `${param}.title`)
  const source = string(block["source"], `${param}.source`)
  if (isEnabled(block["citations"])) state.ignored.add("search_result.citations")
  const texts = array(block["content"], `${param}.content`).map((value, index) => {
    const at = `${param}.content[${index}]`
    const inner = object(value, at)
    oneOf("text")(inner["type"], `${at}.type`)
    return string(inner["text"], `${at}.text`)
  })
  return { type: "text", text: [`${title}\n${source}`, ...texts].join("\n\n"), ...state.marks.of(block, param) }
}

const sourceType = <const A extends string>(source: JsonObject, param: string, ...types: ReadonlyArray<A>): A =>
  oneOf(...types)(source["type"], `${param}.type`)

const dataUrl = (mediaType: string, source: JsonObject, param: string): string =>
  `data:${mediaType};base64,${nonEmpty(source["data"], `${param}.data`)}`

const webAddress = (source: JsonObject, param: string): string => {
  const url = string(source["url"], `${param}.url`)
  return /^https:/i.test(url)
    ? url
    : reject("invalid_value", `${param}.url`, `Invalid value for '${param}.url': expected an https: URL.`)
}

const unstored = (param: string): never =>
  reject(
    "unsupported_parameter",
    `${param}.type`,
    `'${param}' cannot be a file: the gateway stores no files. Send its content.`
  )

const given = (value: unknown): boolean => value !== undefined && value !== null

const isEnabled = (citations: unknown): boolean =>
  typeof citations === "object" && citations !== null && "enabled" in citations && citations.enabled === true
