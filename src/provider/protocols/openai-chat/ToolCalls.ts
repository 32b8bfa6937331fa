import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import type { RequestId } from "../../../domain/Ids.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { malformed, objectOf, textOf } from "../shared/Fields.ts"
import { isObject, type Json } from "../shared/Json.ts"
import { mintToolCallId } from "../shared/ToolIds.ts"

interface PendingToolCall {
  /** Our index of the call, from 0 without gaps. */
  readonly index: number
  readonly upstreamId: string | undefined
  readonly kind: "function" | "custom"
  name: string | undefined
  /** Arguments received before the name. */
  early: string
}

/** More tool calls than any valid response has; each call is kept in memory. */
const maxToolCalls = 1024

/**
 * Assembles the fragments of parallel tool calls. Upstreams differ: some leave out the index or the id, and some give every call
 * the index 0 and a new id.
 */
export class ToolCalls {
  private readonly pending: Array<PendingToolCall> = []
  private byIndex: Map<number, PendingToolCall> | undefined
  private byId: Map<string, PendingToolCall> | undefined
  private readonly requestId: RequestId

  constructor(requestId: RequestId) {
    this.requestId = requestId
  }

  get count(): number {
    return this.pending.length
  }

  /** A call without a name. */
  get incomplete(): boolean {
    return this.pending.some((slot) => slot.name === undefined)
  }

  read(fragments: ReadonlyArray<unknown>, events: Array<ChatEvent>): ProviderFailure | undefined {
    for (const fragment of fragments) {
      if (!isObject(fragment)) return { _tag: "BadResponse", detail: "a tool call that is not an object" }
      const slot = this.pendingCallOf(fragment)
      if (slot === undefined) return { _tag: "BadResponse", detail: "a piece of a tool call that never began" }
      if (this.pending.length > maxToolCalls) {
        return { _tag: "BadResponse", detail: `more than ${maxToolCalls} tool calls` }
      }
      this.emit(slot, fragment, events)
    }
    return undefined
  }

  private pendingCallOf(fragment: Json): PendingToolCall | undefined {
    const id = textOf(fragment, "id")
    const names = nameOf(fragment) !== undefined
    const given = fragment["index"] ?? undefined
    if (typeof given === "number") {
      this.byIndex ??= new Map()
      const known = this.byIndex.get(given)
      const another = id !== undefined && names && known?.upstreamId !== undefined && known.upstreamId !== id
      if (known !== undefined && !another) return known
      const slot = (another ? this.byId?.get(id) : undefined) ?? this.begin(fragment)
      this.byIndex.set(given, slot)
      return slot
    }
    if (given !== undefined) return malformed("a tool call whose index is not a number")
    const same = id === undefined ? undefined : this.byId?.get(id)
    if (same !== undefined) return same
    return id !== undefined || names ? this.begin(fragment) : this.pending.at(-1)
  }

  private begin(fragment: Json): PendingToolCall {
    const slot: PendingToolCall = {
      index: this.pending.length,
      upstreamId: textOf(fragment, "id"),
      kind: fragment["type"] === "custom" || objectOf(fragment, "custom") !== undefined ? "custom" : "function",
      name: undefined,
      early: ""
    }
    this.pending.push(slot)
    if (slot.upstreamId !== undefined) {
      this.byId ??= new Map()
      if (!this.byId.has(slot.upstreamId)) this.byId.set(slot.upstreamId, slot)
    }
    return slot
  }

  private emit(slot: PendingToolCall, fragment: Json, events: Array<ChatEvent>): void {
    const piece = argumentsOf(fragment)
    const extraContent = objectOf(fragment, "extra_content")
    const extra = extraContent !== undefined && { extraContent }
    if (slot.name !== undefined) {
      if (piece === "" && extraContent === undefined) return
      events.push({ _tag: "ToolCall", index: slot.index, kind: slot.kind, arguments: piece, ...extra })
      return
    }
    slot.name = nameOf(fragment)
    if (slot.name === undefined) {
      slot.early += piece
      return
    }
    events.push({
      _tag: "ToolCall",
      index: slot.index,
      kind: slot.kind,
      id: slot.upstreamId ?? mintToolCallId(this.requestId, slot.index),
      name: slot.name,
      arguments: slot.early + piece,
      ...extra
    })
    slot.early = ""
  }
}

const bodyOf = (fragment: Json): Json | undefined => objectOf(fragment, "function") ?? objectOf(fragment, "custom")

const nameOf = (fragment: Json): string | undefined => textOf(bodyOf(fragment), "name")

/** Arguments are text; a few upstreams send the object itself. */
const argumentsOf = (fragment: Json): string => {
  const body = bodyOf(fragment)
  const value = body?.["arguments"] ?? body?.["input"] ?? ""
  if (typeof value === "string") return value
  return isObject(value)
    ? JSON.stringify(value)
    : malformed("arguments of a tool call that are neither text nor an object")
}
