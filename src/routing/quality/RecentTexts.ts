import { randomBytes } from "node:crypto"

/**
 * What was computed of the texts that were asked about last. A conversation that calls tools asks with the same turn of its user
 * at each step: to read that text is most of what its class costs.
 */
export interface RecentTexts {
  /** Writes what was kept of this text to `result`; false where nothing is. */
  readonly read: (text: string, result: Float64Array) => boolean
  /** Keeps this of the text that was read last, in place of an older one. */
  readonly keep: (values: Float64Array) => void
}

/**
 * `places` is a power of two; each holds `width` numbers. No text is kept, only its hash, with multipliers that differ by process:
 * nobody can choose texts that are taken for one another.
 */
export const make = (places: number, width: number): RecentTexts => {
  const [one, other] = [oddNumber(), oddNumber()]
  // two numbers by place; the second is 0 where nothing was kept yet
  const hashes = new Int32Array(2 * places)
  const kept = new Float64Array(width * places)
  let first = 0
  let second = 0
  let place = 0

  return {
    read: (text, result) => {
      first = second = text.length
      for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at)
        first = Math.imul(first ^ unit, one)
        second = Math.imul(second ^ unit, other)
      }
      first = spread(first)
      second = spread(second) | 1
      place = first & (places - 1)
      if (hashes[2 * place] !== first || hashes[2 * place + 1] !== second) return false
      for (let k = 0; k < width; k++) result[k] = kept[width * place + k] ?? 0
      return true
    },
    keep: (values) => {
      hashes[2 * place] = first
      hashes[2 * place + 1] = second
      kept.set(values, width * place)
    }
  }
}

/** An even multiplier would lose bits. */
const oddNumber = (): number => randomBytes(4).readInt32LE() | 1

/** Every bit of the result depends on all bits of the hash. */
const spread = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 16), 0x2c1b3c6d)
  const twice = Math.imul(once ^ (once >>> 12), 0x297a2d39)
  return twice ^ (twice >>> 15)
}
