// Numbers that follow from a seed alone, so that whatever is found can be made again.

/** mulberry32, by Tommy Ettinger (public domain): a fraction from 0 to 1. */
export const randomOf = (seed) => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (bound) => Math.floor(next() * bound)
  const pick = (list) => list[below(list.length)]
  return {
    below,
    pick,
    chance: (share) => next() < share,
    times: (least, most, make) => Array.from({ length: least + below(most - least + 1) }, (_, at) => make(at))
  }
}
