import type { AssistantMessage, JsonObject, RefusalPart, TextPart, UserPart } from "../../domain/Chat.ts"
import { isMediaUrl } from "../chat/ChatMessageSchema.ts"
import { arrayOrText, choiceOf, cut, nonEmpty, object, oneOf, optional, reject, string } from "../validation/Fields.ts"

/** The content of a user message: text, images, files and audio. Fields that are not sent on are added to `ignored`. */
export const userContent = (content: unknown, param: string, ignored: Set<string>): string | ReadonlyArray<UserPart> =>
  typeof content === "string" ? content : unwrapText(parts(content, param, userPart(ignored)))

/** The content of a system or developer message: text alone. */
export const systemContent = (content: unknown, param: string): string | ReadonlyArray<TextPart> =>
  typeof content === "string" ? content : unwrapText(parts(content, param, textPart))

export type AssistantContent = NonNullable<AssistantMessage["content"]>

/** The content of an assistant message: text and refusals. */
export const assistantContent = (content: unknown, param: string): AssistantContent =>
  typeof content === "string" ? content : unwrapText(parts(content, param, assistantPart))

/** A tool result: its text, and separately the parts that a tool message cannot contain. */
export interface ToolOutput {
  readonly text: string | ReadonlyArray<TextPart>
  readonly attachments: ReadonlyArray<UserPart>
}

export const toolOutput = (output: unknown, param: string, ignored: Set<string>): ToolOutput => {
  if (typeof output === "string") return { text: output, attachments: [] }
  const all = parts(output, param, userPart(ignored))
  const text = all.filter((part) => part.type === "text")
  return { text: text.length === 0 ? "" : unwrapText(text), attachments: all.filter((part) => part.type !== "text") }
}

type ReadPart<A> = (part: JsonObject, type: string, param: string) => A

const parts = <A>(content: unknown, param: string, read: ReadPart<A>): ReadonlyArray<A> =>
  arrayOrText(content, param).map((value, index) => {
    const part = object(value, `${param}[${index}]`)
    return read(part, string(part["type"], `${param}[${index}].type`), `${param}[${index}]`)
  })

/** A single text part becomes a string, since some providers do not support parts. */
const unwrapText = <A extends { readonly type: string }>(content: ReadonlyArray<A>): string | ReadonlyArray<A> => {
  const only = content.length === 1 ? content[0] : undefined
  return only !== undefined && isBareText(only) ? only.text : content
}

const isBareText = (part: { readonly type: string }): part is TextPart =>
  part.type === "text" && !("prompt_cache_breakpoint" in part)

const textPart: ReadPart<TextPart> = (part, type, param) => readText(part, type, param, ["input_text"])

const readText = (part: JsonObject, type: string, param: string, known: ReadonlyArray<string>): TextPart => {
  if (type !== "input_text" && type !== "output_text") return unknownPart(type, param, known)
  const text = string(part["text"], `${param}.text`)
  return { type: "text", text, ...breakpointOf(part, param) }
}

const breakpointOf = (part: JsonObject, param: string): { readonly prompt_cache_breakpoint?: JsonObject } => {
  const breakpoint = optional(part["prompt_cache_breakpoint"], `${param}.prompt_cache_breakpoint`, object)
  return breakpoint === undefined ? {} : { prompt_cache_breakpoint: breakpoint }
}

const assistantPart: ReadPart<TextPart | RefusalPart> = (part, type, param) =>
  type === "refusal"
    ? { type, refusal: string(part["refusal"], `${param}.refusal`) }
    : readText(part, type, param, ["output_text", "refusal"])

const userPart =
  (ignored: Set<string>): ReadPart<UserPart> =>
  (part, type, param) => {
    switch (type) {
      case "input_image":
        return imagePart(part, param)
      case "input_file":
        // files of chat completions have no such field
        if ((optional(part["detail"], `${param}.detail`, string) ?? "auto") !== "auto") ignored.add("input_file.detail")
        return filePart(part, param)
      case "input_audio": {
        const audio = object(part["input_audio"], `${param}.input_audio`)
        return {
          type,
          input_audio: {
            data: string(audio["data"], `${param}.input_audio.data`),
            format: oneOf("wav", "mp3")(audio["format"], `${param}.input_audio.format`)
          }
        }
      }
      default:
        return readText(part, type, param, ["input_text", "input_image", "input_file", "input_audio"])
    }
  }

const imagePart = (part: JsonObject, param: string): UserPart => {
  if (part["image_url"] === undefined || part["image_url"] === null)
    unstored(part["file_id"], `${param}.file_id`, "the image as 'image_url'")
  const detail = optional(part["detail"], `${param}.detail`, string)
  const url = mediaUrl(part["image_url"] ?? undefined, `${param}.image_url`)
  return {
    type: "image_url",
    image_url: detail === undefined ? { url } : { url, detail },
    ...breakpointOf(part, param)
  }
}

const filePart = (part: JsonObject, param: string): UserPart => {
  const filename = optional(part["filename"], `${param}.filename`, string)
  const data =
    optional(part["file_data"], `${param}.file_data`, mediaUrl) ??
    optional(part["file_url"], `${param}.file_url`, mediaUrl)
  if (data === undefined) {
    unstored(part["file_id"], `${param}.file_id`, "the file as 'file_data'")
    return reject("missing_required_parameter", `${param}.file_data`, `'${param}.file_data' is required.`)
  }
  return {
    type: "file",
    file: filename === undefined ? { file_data: data } : { filename, file_data: data },
    ...breakpointOf(part, param)
  }
}

const mediaUrl = (value: unknown, param: string): string => {
  const url = nonEmpty(value, param)
  return isMediaUrl(url)
    ? url
    : reject("invalid_value", param, `Invalid value for '${param}': expected an https: or data: URL.`)
}

/** The gateway keeps no files. */
const unstored = (value: unknown, param: string, instead: string): void => {
  if (value !== undefined && value !== null)
    reject("unsupported_parameter", param, `'${param}' is not supported: send ${instead}.`)
}

const unknownPart = (type: string, param: string, known: ReadonlyArray<string>): never =>
  reject(
    "invalid_value",
    `${param}.type`,
    `Content parts of type '${cut(type)}' are not supported here: send ${choiceOf(known)}.`
  )
