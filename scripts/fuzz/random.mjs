// @ts-check
// Numbers that follow from a seed alone, so that whatever is found can be made again.

/**
 * `below(bound)` is a whole number from 0, `chance(share)` is true in that share of cases, `times(min, max, make)` makes a list.
 *
 * @typedef {{
 *   below: (bound: number) => number
 *   pick: <T>(list: readonly [T, ...Array<T>]) => T
 *   chance: (share: number) => boolean
 *   times: <T>(min: number, max: number, make: (at: number) => T) => Array<T>
 * }} Random
 */

/** mulberry32, by Tommy Ettinger (public domain): a fraction from 0 to 1. @param {number} seed @returns {Random} */
export const randomOf = (seed) => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (/** @type {number} */ bound) => Math.floor(next() * bound)
  return {
    below,
    pick: (list) => list[below(list.length)] ?? list[0],
    chance: (share) => next() < share,
    times: (min, max, make) => Array.from({ length: min + below(max - min + 1) }, (_, at) => make(at))
  }
}
