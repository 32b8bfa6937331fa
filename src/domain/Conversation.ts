import { hash } from "node:crypto"
import type { ChatRequest, Message } from "./Chat.ts"
import type { ProjectId } from "./Ids.ts"

/** Of the first message of the user: later ones change from call to call. */
const maxCharacters = 512
const hashBytes = 16

/**
 * Tells the conversations of a project apart, as 32 hex digits: by the request's `prompt_cache_key`, else by its end user and the
 * beginning of the user's first message. Equal conversations of two projects have different hashes; nothing can be read from one.
 */
export const conversationOf = (
  project: ProjectId,
  request: Pick<ChatRequest, "messages" | "promptCacheKey" | "user">
) => {
  const { messages, promptCacheKey, user } = request
  const told =
    promptCacheKey === undefined ? `\0user\0${user ?? ""}\0${beginningOf(messages)}` : `\0key\0${promptCacheKey}`
  // in one call: an object of the hash is a native one, which the collector has to finalize
  return hash("sha256", project + told, "hex").slice(0, 2 * hashBytes)
}

const beginningOf = (messages: ReadonlyArray<Message>): string => {
  const first = messages.find(({ role }) => role === "user")
  if (first === undefined) return ""
  const { content } = first
  if (typeof content === "string") return content.slice(0, maxCharacters)
  let text = ""
  for (const part of content ?? []) {
    if (text.length >= maxCharacters) break
    if ("text" in part) text += part.text
  }
  return text.slice(0, maxCharacters)
}
