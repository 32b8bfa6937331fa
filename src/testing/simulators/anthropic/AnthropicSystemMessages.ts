import { isObject, listAt } from "../../../provider/protocols/shared/Json.ts"
import type { Claude } from "./AnthropicModels.ts"

/** What is wrong with the system messages among the messages: most models take none, and where others do depends on what is beside them. */
export const rejectedSystemMessages = (messages: ReadonlyArray<unknown>, claude: Claude): string | undefined => {
  const roles = messages.map(roleOf)
  for (const [at, role] of roles.entries()) {
    if (role !== "system") continue
    if (!claude.takesSystemMessages) return "role 'system' is not supported on this model"
    if (at === 0) return "messages.0: use the top-level 'system' parameter for the initial system prompt"
    if (roles[at - 1] !== "user") return `messages.${at}: a system message must follow a user message`
    const next = roles[at + 1]
    if (next !== undefined && next !== "assistant")
      return `messages.${at}: a system message must be last or be followed by an assistant message`
    const message = messages[at]
    const blocks = listAt(isObject(message) ? message : {}, "content")
    if (blocks.length === 0 || blocks.some((block) => !isObject(block) || block["type"] !== "text"))
      return `messages.${at}: text only`
  }
  return undefined
}

export const roleOf = (message: unknown): unknown => (isObject(message) ? message["role"] : undefined)
