import type { TextPart } from "../../domain/Chat.ts"
import { type ReadingState, unwrapText } from "./MessagesContent.ts"

/**
 * Claude Code begins its instructions with a line for the billing of Anthropic's own service that is another one in each request. With
 * it no request begins as the one before: no provider's cache would have it, and a conversation could not be told by its beginning.
 * Bedrock refuses the word.
 */
export const withoutBillingHeader = (
  content: string | ReadonlyArray<TextPart>,
  { ignored }: ReadingState
): string | ReadonlyArray<TextPart> => {
  const isLine = (text: string): boolean => text.startsWith(header)
  if (!(typeof content === "string" ? isLine(content) : content.some(({ text }) => isLine(text)))) return content
  ignored.add(`system.${header.slice(0, -1)}`)
  if (typeof content === "string") return afterLine(content)
  return unwrapText(
    content
      .map((part) => (isLine(part.text) ? { ...part, text: afterLine(part.text) } : part))
      .filter(({ text }) => text !== "")
  )
}

const header = "x-anthropic-billing-header:"

const afterLine = (text: string): string => {
  const end = text.indexOf("\n")
  return end === -1 ? "" : text.slice(end + 1)
}
