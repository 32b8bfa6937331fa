import { hash } from "node:crypto"
import type { RequestId } from "../../../domain/Ids.ts"

/**
 * Makes tool call ids of any origin acceptable to every provider: letters, digits, `_` and `-`, at most 64 characters, unique in a
 * conversation. An id depends only on the ids before it, so a longer conversation begins with the same ids.
 */
export class ToolIds {
  private readonly taken = new Set<string>()
  /** Next ordinal by the client's id, so that no ordinal is tried twice. */
  private readonly nextOrdinal = new Map<string, number>()

  next(clientId: string): string {
    const isKept = isPortable(clientId)
    // a long id is hashed once, however many ordinals are taken
    const source = clientId.length <= maxSourceCharacters ? clientId : sha256(clientId)
    let ordinal = this.nextOrdinal.get(clientId) ?? 0
    let id = isKept && ordinal === 0 ? clientId : digest(source, ordinal)
    while (this.taken.has(id)) id = digest(source, ++ordinal)
    this.taken.add(id)
    this.nextOrdinal.set(clientId, ordinal + 1)
    return id
  }
}

/** An id for a call that came without one. At most 40 characters, the maximum that every vendor accepts. */
export const mintToolCallId = (requestId: RequestId, index: number): string =>
  `call_${requestId.replaceAll("-", "")}${index.toString(36)}`

/** The ids of the calls of one response: clients tell calls apart by their ids alone, and some providers give one id twice. */
export class CallIds {
  private readonly taken = new Set<string>()
  private readonly requestId: RequestId

  constructor(requestId: RequestId) {
    this.requestId = requestId
  }

  /** The provider's id, or one made for the call at this index. */
  next(given: string | undefined, index: number): string {
    const id = given === undefined || this.taken.has(given) ? mintToolCallId(this.requestId, index) : given
    this.taken.add(id)
    return id
  }
}

const maxSourceCharacters = 1_024

const isPortable = (id: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(id)

const digest = (source: string, ordinal: number): string => `call_${sha256(`${ordinal} ${source}`).slice(0, 32)}`

const sha256 = (text: string): string => hash("sha256", text, "hex")
