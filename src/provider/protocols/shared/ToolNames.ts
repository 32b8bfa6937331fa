import { hash } from "node:crypto"
import type { ChatRequest } from "../../../domain/Chat.ts"

/** Maps tool names of a request to the alphabet of a provider, and back. Valid names stay unchanged. */
export interface ToolNames {
  readonly toProvider: (name: string) => string
  /** A name that is not in the request was invented by the model and stays unchanged. */
  readonly toClient: (name: string) => string
}

/** Letters, digits, `_` and `-`, at most 64 characters: valid at every provider. */
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
    // a long name is hashed once, however many ordinals are taken
    const readable = readableFor(name)
    const source = name.length <= maxSourceCharacters ? name : sha256(name)
    let ordinal = 0
    let portable = portableFor(readable, source, ordinal)
    while (names.has(portable) || original.has(portable)) portable = portableFor(readable, source, ++ordinal)
    renamed.set(name, portable)
    original.set(portable, name)
  }
  return {
    toProvider: (name) => renamed.get(name) ?? name,
    toClient: (name) => original.get(name) ?? name
  }
}

const maxReadableCharacters = 50
const maxSourceCharacters = 1_024

/** Keeps the name readable, since models choose tools by name. */
const readableFor = (name: string): string => {
  const readable = name.slice(0, maxReadableCharacters).replace(/[^A-Za-z0-9_-]/g, "_")
  return /^[A-Za-z_]/.test(readable) ? readable : `_${readable}`
}

/** Made unique by a digest. */
const portableFor = (readable: string, source: string, ordinal: number): string =>
  `${readable}_${sha256(`${ordinal} ${source}`).slice(0, 8)}`

const sha256 = (text: string): string => hash("sha256", text, "hex")
