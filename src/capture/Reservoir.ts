import { createHash } from "node:crypto"

/** What the window of a collection holds of one class of prompts. */
export interface ClassLoad {
  readonly class: string
  readonly samples: number
  /** Conversations of the class have been given up before: there were more than there is room for. */
  readonly isFull: boolean
}

/**
 * Where a conversation stands in the order in which a window keeps conversations, 0 to 1. It depends on nothing but the window and
 * the conversation, so that any node takes the same ones.
 */
export const positionOf = (salt: Uint8Array, configVersion: number, conversation: string): number =>
  createHash("sha1").update(salt).update(`${configVersion} ${conversation}`).digest().readUInt32BE(0) / positions
const positions = 2 ** 32

/**
 * How many samples each class may keep: what it has, as long as there is room, and otherwise an equal share; what is left over when the
 * room is divided goes to the first of the full classes by name, one each. A class that is full counts with any number, since not all
 * of it was offered. So the share of a full class only falls, and does not depend on the order in which samples come.
 */
export const sharesOf = (maxSamples: number, loads: ReadonlyArray<ClassLoad>): ReadonlyMap<string, number> => {
  const demands = loads
    .map(({ class: name, isFull, samples }) => ({ name, demand: isFull ? Number.POSITIVE_INFINITY : samples }))
    .sort((a, b) => a.demand - b.demand)
  const shares = new Map<string, number>()
  let room = maxSamples
  for (const [at, { demand, name }] of demands.entries()) {
    const equal = Math.floor(room / (demands.length - at))
    if (demand > equal) {
      const left = room % (demands.length - at)
      const names = demands.slice(at).map((one) => one.name)
      for (const [rank, each] of names.sort(compare).entries()) shares.set(each, rank < left ? equal + 1 : equal)
      return shares
    }
    shares.set(name, demand)
    room -= demand
  }
  return shares
}

/**
 * The position from which on conversations have to be given up so that at most `room` of `samples` are left; 1 where all may stay.
 * `last` are conversations from the end of the hash order on: where they are too few, it is the position of the last of them.
 */
export const cutOf = (
  last: ReadonlyArray<{ readonly position: number; readonly samples: number }>,
  samples: number,
  room: number
): number => {
  let [below, left] = [1, samples]
  for (const { position, samples: own } of last) {
    if (left <= room) break
    left -= own
    below = position
  }
  return below
}

/**
 * The first `max` conversations in hash order. Where there are more, each of them was only taken because its place is before that of the
 * next one: its probability of being taken is no higher than that.
 */
export const firstOf = <A extends { readonly position: number; readonly inclusion: number }>(
  inOrder: ReadonlyArray<A>,
  max: number
): ReadonlyArray<A> => {
  const next = inOrder[max]
  if (next === undefined) return inOrder
  const cut = Math.max(next.position, 1 / positions)
  return inOrder.slice(0, max).map((one) => ({ ...one, inclusion: Math.min(one.inclusion, cut) }))
}

/** Samples that the windows before may keep beside those of the current one, which fills up as if it were alone. */
export const roomOfEarlier = (maxSamples: number, loads: ReadonlyArray<ClassLoad>): number =>
  loads.some(({ isFull }) => isFull) ? 0 : Math.max(0, maxSamples - samplesOf(loads))

export const samplesOf = (loads: ReadonlyArray<ClassLoad>): number =>
  loads.reduce((sum, { samples }) => sum + samples, 0)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Longer conversations would take the room of all others: of their calls those with the first ids are kept, which are the earliest
 * ones. No sample refers to one with a later id, so that none is left without what it refers to.
 */
export const maxOfConversation = (maxSamples: number): number =>
  Math.min(maxSamples, Math.max(minOfConversation, Math.floor(maxSamples / conversationsInWindow)))
const minOfConversation = 32
const conversationsInWindow = 20
