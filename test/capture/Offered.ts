import * as fc from "fast-check"
import { maxOfConversation } from "../../src/capture/Reservoir.ts"

/** A call that opted in, as one of the nodes takes it. */
export interface OfferedCall {
  /** Sorts by the time of its admission. */
  readonly id: string
  readonly conversation: string
  readonly class: string
  readonly position: number
}

const hex = (digits: number, value: number): string => value.toString(16).padStart(digits, "0")
export const idOf = (at: number): string => `00000000-0000-7000-8000-${hex(12, at)}`

/** The calls of conversations, by the time of their admission: what is kept of them. */
export interface KeptSamples {
  readonly ids: ReadonlySet<string>
  /** By class: the position from which on conversations are given up. */
  readonly thresholds: ReadonlyMap<string, number>
}

/**
 * What is to be kept, from all calls at once: of each conversation the first ones; of the room one sample after the other to each class in
 * the order of their names, as long as it has any; of each class the conversations that come first in the hash order, as far as they fit.
 */
export const keptOf = (maxSamples: number, calls: ReadonlyArray<OfferedCall>): KeptSamples => {
  const conversations = new Map<string, Array<OfferedCall>>()
  for (const call of [...calls].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const own = conversations.get(call.conversation) ?? []
    if (own.length < maxOfConversation(maxSamples)) conversations.set(call.conversation, [...own, call])
  }
  const classes = [...new Set(calls.map((call) => call.class))].sort()
  const taken = [...conversations.values()].flat().sort((a, b) => a.position - b.position)
  const of = (name: string) => taken.filter((call) => call.class === name)
  const offered = new Map(classes.map((name) => [name, of(name).length]))
  const shares = new Map(classes.map((name) => [name, 0]))
  for (let left = maxSamples; left > 0; ) {
    const hungry = classes.filter((name) => (shares.get(name) ?? 0) < (offered.get(name) ?? 0)).slice(0, left)
    if (hungry.length === 0) break
    for (const name of hungry) shares.set(name, (shares.get(name) ?? 0) + 1)
    left -= hungry.length
  }
  const ids = new Set<string>()
  const thresholds = new Map<string, number>()
  for (const name of classes) {
    const room = shares.get(name) ?? 0
    const own = of(name)
    // conversations with the same place are given up together
    const below = own[room] === undefined ? 1 : own[room].position
    if (below < 1) thresholds.set(name, below)
    for (const { id, position } of own) if (position < below) ids.add(id)
  }
  return { ids, thresholds }
}

/** Conversations of up to five classes, some longer than one may be, and their calls in an order in which they may come. */
export const offered = (maxSamples: number, minConversations = 1): fc.Arbitrary<ReadonlyArray<OfferedCall>> =>
  fc
    .array(
      fc.record({
        class: fc.constantFrom("chat", "code", "math", "named", "tool_use"),
        // now and then two conversations have the same place
        position: fc.nat(60).map((at) => at / 64),
        calls: fc.oneof(
          { weight: 9, arbitrary: fc.integer({ min: 1, max: 6 }) },
          { weight: 1, arbitrary: fc.constant(maxOfConversation(maxSamples) + 3) }
        )
      }),
      { minLength: minConversations, maxLength: 24 }
    )
    .chain((conversations) => {
      const all = conversations.flatMap(({ calls, ...place }, at) =>
        Array.from({ length: calls }, () => ({ ...place, conversation: hex(32, at) }))
      )
      return fc
        .shuffledSubarray(
          all.map((_, at) => at),
          { minLength: all.length }
        )
        .map((ranks) => all.map((call, at) => ({ ...call, id: idOf(ranks[at] ?? at) })))
    })
