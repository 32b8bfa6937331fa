// @ts-check
// Seeded randomness: a name beside the seed makes a sequence of its own, so that leaving out one part moves no other.
import { createHash } from "node:crypto"

/** @typedef {{ readonly next: () => number, readonly int: (min: number, max: number) => number, readonly pick: <A>(items: ReadonlyArray<A>) => A, readonly chance: (probability: number) => boolean, readonly shuffled: <A>(items: ReadonlyArray<A>) => Array<A> }} Random */

/** @param {...(string | number)} names @returns {Random} */
export const random = (...names) => {
  let state = createHash("sha256").update(names.join("\0")).digest().readUInt32LE(0)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (/** @type {number} */ min, /** @type {number} */ max) => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    int,
    pick: (items) => {
      const item = items[int(0, items.length - 1)]
      if (item === undefined) throw new Error("nothing to pick from")
      return item
    },
    chance: (probability) => next() < probability,
    shuffled: (items) => {
      const copy = [...items]
      for (let at = copy.length - 1; at > 0; at--) {
        const other = int(0, at)
        const [a, b] = [copy[at], copy[other]]
        if (a !== undefined && b !== undefined) [copy[at], copy[other]] = [b, a]
      }
      return copy
    }
  }
}

/** A UUID that follows from the names. @param {...(string | number)} names */
export const uuid = (...names) => {
  const hex = createHash("sha256").update(names.join("\0")).digest("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
