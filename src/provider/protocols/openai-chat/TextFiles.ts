import type { FilePart, Message, TextPart } from "../../../domain/Chat.ts"
import * as DataUrl from "../../../domain/DataUrl.ts"
import { headOf, isTextFile } from "../../../domain/MediaTypes.ts"
import { emptyText } from "../shared/Blocks.ts"

/** Files that are text as texts: OpenAI takes no other file than a PDF, and most other vendors take none. */
export const withTextFiles = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> =>
  messages.some(hasFile) ? messages.map(inMessage) : messages

const hasFile = ({ content }: Message): boolean =>
  typeof content === "object" && content !== null && content.some(({ type }) => type === "file")

const inMessage = (message: Message): Message => {
  if (typeof message.content === "string") return message
  switch (message.role) {
    case "user":
      return { ...message, content: message.content.map((part) => (part.type === "file" ? asText(part) : part)) }
    case "tool":
      return { ...message, content: message.content.map((part) => (part.type === "file" ? asText(part) : part)) }
    default:
      return message
  }
}

/** A file that cannot be read stays as it is. */
const asText = (part: FilePart): FilePart | TextPart => {
  const { file, type: _, ...marks } = part
  const head = headOf(file.file_data ?? "")
  if (head === undefined || !isTextFile(head.mediaType, file.filename)) return part
  const content = DataUrl.textOf(file.file_data ?? "")
  if (content === undefined) return part
  const text = [file.filename ?? "", content].filter((one) => /\S/.test(one)).join("\n\n")
  return { type: "text", text: text === "" ? emptyText : text, ...marks }
}
