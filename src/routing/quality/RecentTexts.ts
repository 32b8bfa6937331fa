import { randomBytes } from "node:crypto"

/**
 * What was computed of the texts that were asked about last. A conversation that calls tools asks with the same turn of its user
 * at each step: to read that text is most of what its class costs.
 */
export interface RecentTexts {
  /** Writes what was kept of this text to `result`; false where nothing is. The text is well-formed Unicode. */
  readonly read: (text: string, result: Float64Array) => boolean
  /** Keeps this of the text that was read last, in place of an older one. */
  readonly keep: (values: Float64Array) => void
}

const encoder = new TextEncoder()

/** Of a UTF-16 code unit. */
const maxUtf8Bytes = 3

/**
 * `places` is a power of two; each holds `width` numbers. No text is kept, only its hash, with multipliers that differ by process:
 * nobody can choose texts that are taken for one another.
 */
export const make = (places: number, width: number): RecentTexts => {
  const [one, other] = [oddNumber(), oddNumber()]
  // two numbers by place; the second is 0 where nothing was kept yet
  const hashes = new Int32Array(2 * places)
  const kept = new Float64Array(width * places)
  let words = new Int32Array(0)
  let bytes = new Uint8Array(0)
  let first = 0
  let second = 0
  let place = 0

  /** The UTF-8 of the text in `words`, the last one filled up with zeros; its length in bytes. */
  const encode = (text: string): number => {
    if (bytes.length < maxUtf8Bytes * text.length) {
      words = new Int32Array(text.length)
      bytes = new Uint8Array(words.buffer)
    }
    const { written } = encoder.encodeInto(text, bytes)
    bytes.fill(0, written, (written + 3) & ~3)
    return written
  }

  return {
    read: (text, result) => {
      const length = encode(text)
      first = second = length
      for (let at = 0; 4 * at < length; at++) {
        const word = words[at] ?? 0
        first = mix(first ^ word, one)
        second = mix(second ^ word, other)
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

/** A product moves bits up only: the halves change places before the second, or high bits of a word could be cancelled by the next. */
const mix = (hash: number, multiplier: number): number => {
  const product = Math.imul(hash, multiplier)
  return Math.imul((product << 16) | (product >>> 16), multiplier)
}

/** Every bit of the result depends on all bits of the hash. */
const spread = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 16), 0x2c1b3c6d)
  const twice = Math.imul(once ^ (once >>> 12), 0x297a2d39)
  return twice ^ (twice >>> 15)
}
