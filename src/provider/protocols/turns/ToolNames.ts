import { createHash } from "node:crypto"
import type { ChatRequest } from "../../../domain/Chat.ts"

/** Tool names of a request in the alphabet of a provider, and back. Names that are fine stay as they are. */
export interface ToolNames {
  readonly toProvider: (name: string) => string
  /** A name that the request does not have is the model's invention and stays as it is. */
  readonly toClient: (name: string) => string
}

/** Letters, digits, `_` and `-`, at most 64: what all of them take. */
export const portableName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

export const toolNamesOf = (request: Pick<ChatRequest, "tools" | "messages">, accepted = portableName): ToolNames => {
  const names = new Set<string>()
  for (const tool of request.tools) names.add(tool.type === "function" ? tool.function.name : tool.custom.name)
  for (const message of request.messages) {
    if (message.role !== "assistant") continue
    for (const call of message.tool_calls ?? [])
      names.add(call.type === "function" ? call.function.name : call.custom.name)
  }
  const renamed = new Map<string, string>()
  const original = new Map<string, string>()
  for (const name of names) {
    if (accepted.test(name)) continue
    let ordinal = 0
    let portable = portableFor(name, ordinal)
    while (names.has(portable) || original.has(portable)) portable = portableFor(name, ++ordinal)
    renamed.set(name, portable)
    original.set(portable, name)
  }
  return {
    toProvider: (name) => renamed.get(name) ?? name,
    toClient: (name) => original.get(name) ?? name
  }
}

const longestReadable = 50

/** Still readable, since models choose tools by their names, and told apart by a digest. */
const portableFor = (name: string, ordinal: number): string => {
  const readable = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, longestReadable)
  const digest = createHash("sha256").update(`${ordinal} ${name}`).digest("hex").slice(0, 8)
  return `${/^[A-Za-z_]/.test(readable) ? readable : `_${readable}`}_${digest}`
}
