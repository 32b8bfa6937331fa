import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import type { RequestId } from "../../../domain/Ids.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { malformed, objectOf, textOf } from "../../Fields.ts"
import { isObject, type Json } from "../../Json.ts"

interface Slot {
  /** Ours, counted from 0 without gaps. */
  readonly index: number
  readonly upstreamId: string | undefined
  readonly kind: "function" | "custom"
  name: string | undefined
  /** Arguments that came before the name. */
  early: string
}

/** No honest answer calls more tools; each call is kept in memory. */
const mostToolCalls = 1024

/**
 * Puts the fragments of parallel tool calls together. Upstreams differ: some leave out the index or the id, and some give
 * every call the index 0 and a new id.
 */
export class ToolCalls {
  private readonly slots: Array<Slot> = []
  private byIndex: Map<number, Slot> | undefined
  private byId: Map<string, Slot> | undefined
  private readonly requestId: RequestId

  constructor(requestId: RequestId) {
    this.requestId = requestId
  }

  get count(): number {
    return this.slots.length
  }

  /** A call whose name never came. */
  get incomplete(): boolean {
    return this.slots.some((slot) => slot.name === undefined)
  }

  read(fragments: ReadonlyArray<unknown>, events: Array<ChatEvent>): ProviderFailure | undefined {
    for (const fragment of fragments) {
      if (!isObject(fragment)) return { _tag: "BadResponse", detail: "a tool call that is not an object" }
      const slot = this.slotOf(fragment)
      if (slot === undefined) return { _tag: "BadResponse", detail: "a piece of a tool call that never began" }
      if (this.slots.length > mostToolCalls) {
        return { _tag: "BadResponse", detail: `more than ${mostToolCalls} tool calls` }
      }
      this.emit(slot, fragment, events)
    }
    return undefined
  }

  private slotOf(fragment: Json): Slot | undefined {
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
    return id !== undefined || names ? this.begin(fragment) : this.slots.at(-1)
  }

  private begin(fragment: Json): Slot {
    const slot: Slot = {
      index: this.slots.length,
      upstreamId: textOf(fragment, "id"),
      kind: fragment["type"] === "custom" || objectOf(fragment, "custom") !== undefined ? "custom" : "function",
      name: undefined,
      early: ""
    }
    this.slots.push(slot)
    if (slot.upstreamId !== undefined) {
      this.byId ??= new Map()
      if (!this.byId.has(slot.upstreamId)) this.byId.set(slot.upstreamId, slot)
    }
    return slot
  }

  private emit(slot: Slot, fragment: Json, events: Array<ChatEvent>): void {
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
      id: slot.upstreamId ?? mintId(this.requestId, slot.index),
      name: slot.name,
      arguments: slot.early + piece,
      ...extra
    })
    slot.early = ""
  }
}

/** At most 40 characters, the longest id that every vendor takes back. */
export const mintId = (requestId: RequestId, index: number): string =>
  `call_${requestId.replaceAll("-", "")}${index.toString(36)}`

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
