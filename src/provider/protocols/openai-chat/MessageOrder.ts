import type { JsonObject } from "../../../domain/Chat.ts"
import { continued } from "../shared/Conversation.ts"

/**
 * The order of messages that strict servers require: all instructions first, and between the results of tools and what the user
 * says next a message of the assistant. An answer at the end is marked as the beginning of the one to give.
 */
export const inStrictOrder = (messages: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> => {
  const instructions = messages.filter(isInstruction)
  const ordered: Array<JsonObject> = [...instructions]
  for (const message of messages) {
    if (isInstruction(message)) continue
    if (message["role"] === "user" && ordered.at(-1)?.["role"] === "tool")
      ordered.push({ role: "assistant", content: continued })
    ordered.push(message)
  }
  const last = ordered.at(-1)
  if (last?.["role"] === "assistant") ordered[ordered.length - 1] = { ...last, prefix: true }
  return ordered
}

const isInstruction = ({ role }: JsonObject): boolean => role === "system" || role === "developer"
