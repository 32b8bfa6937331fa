import type { ChatRequest } from "../../../domain/Chat.ts"
import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import { writeExactly } from "../../../domain/ExactJson.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { ProviderCall } from "../../Provider.ts"
import { argumentsEvent } from "../shared/ContentBlocks.ts"
import { malformed, objectOf, textOf } from "../shared/Fields.ts"
import { isObject, type Json } from "../shared/Json.ts"
import { CallIds } from "../shared/ToolIds.ts"
import { type ToolNames, toolNamesOf } from "../shared/ToolNames.ts"
import { WrittenArguments } from "./WrittenArguments.ts"

interface PendingToolCall {
  /** Our index of the call, from 0 without gaps. */
  readonly index: number
  readonly upstreamId: string | undefined
  readonly kind: "function" | "custom"
  name: string | undefined
  /** The arguments so far. */
  readonly written: WrittenArguments
}

/** More tool calls than any valid response has; each call is kept in memory. */
const maxToolCalls = 1024

/**
 * Assembles the fragments of parallel tool calls. Upstreams differ: some leave out the index or the id, some give every call the
 * index 0, with a new id, the same id or none. Two calls must never become one, nor have the same id.
 */
export class ToolCalls {
  private readonly pending: Array<PendingToolCall> = []
  private byIndex: Map<number, PendingToolCall> | undefined
  /** The last call of each id. */
  private byId: Map<string, PendingToolCall> | undefined
  private readonly ids: CallIds
  private readonly request: ChatRequest
  private names: ToolNames | undefined

  constructor({ request, requestId }: Pick<ProviderCall, "request" | "requestId">) {
    this.request = request
    this.ids = new CallIds(requestId)
  }

  get count(): number {
    return this.pending.length
  }

  /** A call without a name. */
  get incomplete(): boolean {
    return this.pending.some((slot) => slot.name === undefined)
  }

  /** The calls of a whole message: each entry is one, whatever its index or id. */
  readWhole(calls: ReadonlyArray<unknown>, events: Array<ChatEvent>): ProviderFailure | undefined {
    return this.readAll(calls, events, (call) => this.begin(call))
  }

  read(fragments: ReadonlyArray<unknown>, events: Array<ChatEvent>): ProviderFailure | undefined {
    return this.readAll(fragments, events, (fragment) => this.pendingCallOf(fragment))
  }

  /** Functions without parameters are called with an empty text by some models, where clients expect JSON. */
  complete(events: Array<ChatEvent>): void {
    for (const { index, kind, written } of this.pending) {
      if (kind === "function" && !/\S/.test(written.text)) events.push(argumentsEvent(index, kind, "{}"))
    }
  }

  private readAll(
    entries: ReadonlyArray<unknown>,
    events: Array<ChatEvent>,
    callOf: (entry: Json) => PendingToolCall | undefined
  ): ProviderFailure | undefined {
    for (const fragment of entries) {
      if (!isObject(fragment)) return { _tag: "BadResponse", detail: "a tool call that is not an object" }
      const slot = callOf(fragment)
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
      const open = another ? this.byId?.get(id) : known
      const slot = open === undefined || isNext(open, fragment) ? this.begin(fragment) : open
      this.byIndex.set(given, slot)
      return slot
    }
    if (given !== undefined) return malformed("a tool call whose index is not a number")
    const same = id === undefined ? undefined : this.byId?.get(id)
    if (same !== undefined && !isNext(same, fragment)) return same
    return id !== undefined || names ? this.begin(fragment) : this.pending.at(-1)
  }

  private begin(fragment: Json): PendingToolCall {
    const slot: PendingToolCall = {
      index: this.pending.length,
      upstreamId: textOf(fragment, "id"),
      kind: fragment["type"] === "custom" || objectOf(fragment, "custom") !== undefined ? "custom" : "function",
      name: undefined,
      written: new WrittenArguments()
    }
    this.pending.push(slot)
    if (slot.upstreamId !== undefined) {
      this.byId ??= new Map()
      this.byId.set(slot.upstreamId, slot)
    }
    return slot
  }

  private emit(slot: PendingToolCall, fragment: Json, events: Array<ChatEvent>): void {
    const piece = argumentsOf(fragment)
    const extraContent = objectOf(fragment, "extra_content")
    const extra = extraContent !== undefined && { extraContent }
    slot.written.text += piece
    if (slot.name !== undefined) {
      if (piece === "" && extraContent === undefined) return
      events.push({ _tag: "ToolCall", index: slot.index, kind: slot.kind, arguments: piece, ...extra })
      return
    }
    slot.name = nameOf(fragment)
    if (slot.name === undefined) return
    this.names ??= toolNamesOf(this.request)
    events.push({
      _tag: "ToolCall",
      index: slot.index,
      kind: slot.kind,
      id: this.ids.next(slot.upstreamId, slot.index),
      name: this.names.toClient(slot.name),
      arguments: slot.written.text,
      ...extra
    })
  }
}

/**
 * The fragment begins another call, although it comes under the index or the id of this one: it names a function again, and the
 * arguments of this one are complete. Some servers repeat the name in every fragment of one call.
 */
const isNext = (call: PendingToolCall, fragment: Json): boolean => {
  const name = nameOf(fragment)
  if (name === undefined || call.name === undefined || call.kind === "custom") return false
  if (call.written.text === "") return name !== call.name
  return (name !== call.name || argumentsOf(fragment).trim() !== "") && call.written.isWhole
}

const bodyOf = (fragment: Json): Json | undefined => objectOf(fragment, "function") ?? objectOf(fragment, "custom")

const nameOf = (fragment: Json): string | undefined => textOf(bodyOf(fragment), "name")

/** Arguments are text; a few upstreams send the object itself. */
const argumentsOf = (fragment: Json): string => {
  const body = bodyOf(fragment)
  const value = body?.["arguments"] ?? body?.["input"] ?? ""
  if (typeof value === "string") return value
  return isObject(value)
    ? writeExactly(value)
    : malformed("arguments of a tool call that are neither text nor an object")
}
