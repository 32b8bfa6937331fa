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
  createHash("sha1").update(salt).update(`${configVersion} ${conversation}`).digest().readUInt32BE(0) / 2 ** 32

/**
 * How many samples each class may keep: what it has, as long as there is room, and otherwise an equal share. A class that is full counts
 * with any number, since not all of it was offered: so shares only fall, and do not depend on the order in which samples come.
 */
export const sharesOf = (maxSamples: number, loads: ReadonlyArray<ClassLoad>): ReadonlyMap<string, number> => {
  const demands = loads
    .map(({ class: name, isFull, samples }) => ({ name, demand: isFull ? Number.POSITIVE_INFINITY : samples }))
    .sort((a, b) => a.demand - b.demand || (a.name < b.name ? -1 : 1))
  const shares = new Map<string, number>()
  let room = maxSamples
  for (const [at, { demand, name }] of demands.entries()) {
    const share = Math.min(demand, Math.floor(room / (demands.length - at)))
    shares.set(name, share)
    room -= share
  }
  return shares
}

/** Longer conversations would take the room of all others: their later calls are not kept. */
export const maxOfConversation = (maxSamples: number): number =>
  Math.min(maxSamples, Math.max(minOfConversation, Math.floor(maxSamples / conversationsInWindow)))
const minOfConversation = 32
const conversationsInWindow = 20
