import { createHash } from "node:crypto"

/**
 * Ids of tool calls, of any origin, as every provider takes them: letters, digits, `_` and `-`, at most 64, and each only once
 * in a conversation. Depends on nothing but the ids before it, so a longer conversation begins with the same ids.
 */
export class ToolIds {
  private readonly taken = new Set<string>()

  next(clientId: string): string {
    let id = isPortable(clientId) ? clientId : digest(clientId, 0)
    for (let again = 1; this.taken.has(id); again++) id = digest(clientId, again)
    this.taken.add(id)
    return id
  }
}

const isPortable = (id: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(id)

const digest = (id: string, ordinal: number): string =>
  `call_${createHash("sha256").update(`${ordinal} ${id}`).digest("hex").slice(0, 32)}`
