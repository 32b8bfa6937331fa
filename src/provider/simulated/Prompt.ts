import type { ChatRequest, Message, UserPart } from "../../domain/Chat.ts"
import * as DataUrl from "../../domain/DataUrl.ts"
import { writeExactly } from "../../domain/ExactJson.ts"

/** The part of a request that a simulated model reads. */
export interface Prompt {
  /** The text of the last message of the user, as far as it is read. */
  readonly text: string
  /** One phrase for each image, clip or file of that message. */
  readonly attachments: ReadonlyArray<string>
  /** Results that came after the last message of the assistant, in order. */
  readonly toolResults: ReadonlyArray<string>
}

/** More than the output cap allows a model to repeat. */
const maxReadCharacters = 128 * 1024

export const promptOf = (request: Pick<ChatRequest, "messages">): Prompt => {
  const last = request.messages.findLast((message) => message.role === "user")
  return {
    text: last === undefined ? "" : textOf(last).slice(0, maxReadCharacters).trim(),
    attachments: last === undefined || typeof last.content === "string" ? [] : last.content.flatMap(describe),
    toolResults: toolResults(request.messages)
  }
}

/** Four bytes of text count as one token. */
export const promptTokens = (request: ChatRequest, imageTokens: number): number => {
  let bytes = 0
  let attached = 0
  for (const message of request.messages) {
    bytes += bytesOf(message)
    attached += attachmentTokens(message, imageTokens)
  }
  if (request.tools.length > 0) bytes += Buffer.byteLength(writeExactly(request.tools))
  return Math.ceil(bytes / 4) + attached
}

/** What counts of a message's text and of its tool calls. */
export const bytesOf = (message: Message): number =>
  Buffer.byteLength(textOf(message)) +
  (message.role === "assistant" && message.tool_calls !== undefined
    ? Buffer.byteLength(writeExactly(message.tool_calls))
    : 0)

/** What counts of one of the request's tools, with its place in the list. */
export const toolBytes = (tool: ChatRequest["tools"][number]): number => Buffer.byteLength(writeExactly(tool)) + 1

/** Images, audio and files of a message. */
export const attachmentTokens = (message: Message, imageTokens: number): number =>
  (message.role === "user" || message.role === "tool") && typeof message.content !== "string"
    ? imageTokens * message.content.filter((part) => part.type !== "text").length
    : 0

const textOf = (message: Message): string => {
  const { content } = message
  if (typeof content === "string") return content
  if (content === undefined || content === null) return ""
  return content
    .flatMap((part) => (part.type === "text" ? [part.text] : part.type === "refusal" ? [part.refusal] : []))
    .join("\n")
}

const toolResults = (messages: ReadonlyArray<Message>): ReadonlyArray<string> => {
  const after = messages.slice(messages.findLastIndex((message) => message.role !== "tool") + 1)
  return after.map(textOf)
}

const describe = (part: UserPart): ReadonlyArray<string> => {
  switch (part.type) {
    case "text":
      return []
    case "image_url":
      return [`an image (${describeUrl(part.image_url.url)})`]
    case "input_audio":
      return [`an audio clip (${part.input_audio.format}, ${decodedBytes(part.input_audio.data)} bytes)`]
    case "file":
      return [`a file (${part.file.filename ?? part.file.file_id ?? "unnamed"})`]
  }
}

const describeUrl = (url: string): string => {
  if (!url.startsWith("data:")) return URL.canParse(url) ? `at ${new URL(url).host}` : "at an unknown place"
  const comma = url.indexOf(",")
  if (comma === -1) return "at an unknown place"
  const type = /^[\w.+/-]{1,100}/.exec(url.slice("data:".length, comma))?.[0]
  return `${type ?? "text/plain"}, ${decodedBytes(url.slice(comma + 1))} bytes`
}

const decodedBytes = (base64: string): number => Math.floor((DataUrl.withoutPadding(base64).length * 3) / 4)
