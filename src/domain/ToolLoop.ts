import type { Message } from "./Chat.ts"

/** Results of tools have come that the assistant has not answered yet, whatever was said after them. */
export const isInToolLoop = (messages: ReadonlyArray<Pick<Message, "role">>): boolean => {
  const last = messages.findLast(({ role }) => role === "tool" || role === "assistant")
  return last?.role === "tool"
}
