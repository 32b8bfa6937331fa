/** Sums the length of texts, in bytes and in tokens. */
export interface TokenEstimator {
  readonly add: (text: string) => void
  readonly utf8Bytes: () => number
  /** Counted in full up to `maxCounted` characters, beyond that estimated from random samples. */
  readonly tokens: () => Tokens
}

export interface Tokens {
  /** As a tokenizer with a large vocabulary has them (o200k_base). */
  readonly likely: number
  /** As a tokenizer has them that takes the letters of many scripts apart into bytes (cl100k_base). */
  readonly high: number
}

/** A number from 0 up to 1, the next one of a sequence. */
export type NextRandom = () => number

/** Characters; up to here every one is counted. */
export const maxCounted = 8_192
const sampleLength = 160
const minSamples = 20
/** Longer text gets more samples: one in so many characters. */
const maxStratum = 4_096
/** A sample is counted from here before its start on, so that it does not begin with half a word. */
const leadLength = 32

/** Tokens are counted in integer parts of a token, so that their sums stay small integers. */
const token = 210
const lettersPerToken = 6
const capitalsPerToken = 2
const digitsPerToken = 3
const spacesPerToken = 8
const punctuation = 140
/** Longer runs are base64, hashes and the like, which have far more tokens for their length. */
const maxWordLength = 24
const opaqueLetter = 140

/**
 * Tokens by classes of characters, for common byte-pair encodings: within a factor of about two for prose, code, base64 and
 * other scripts, and linear where a real tokenizer takes seconds. Long text is cut into strata, each with a sample at a
 * random place: nobody can put what has many tokens where it is not seen.
 */
export const make = (random: NextRandom): TokenEstimator => {
  const texts: Array<string> = []
  let length = 0
  let utf8Bytes = 0
  return {
    utf8Bytes: () => utf8Bytes,
    tokens: () => (length <= maxCounted ? counted(texts) : sampled(texts, length, utf8Bytes, random)),
    add: (text) => {
      texts.push(text)
      length += text.length
      utf8Bytes += Buffer.byteLength(text)
    }
  }
}

/** Counts the likely tokens of a text that comes in pieces. */
export interface TokenCounter {
  readonly add: (piece: string) => void
  readonly tokens: () => number
}

/** Characters that are counted together; where they are cut, a word may count as two. */
const maxPending = 1_024

/** Characters are counted in portions: adding a piece of a few characters takes 50 ns. */
export const counter = (): TokenCounter => {
  let parts = 0
  let pending = ""
  let total: number | undefined
  return {
    add: (piece) => {
      pending += piece
      total = undefined
      if (pending.length < maxPending) return
      for (let from = 0; from < pending.length; from += maxCounted) {
        parts += partsOf(0, encoded(pending.slice(from, from + maxCounted)), maxWordLength)
      }
      pending = ""
    },
    tokens: () => (total ??= (parts + partsOf(0, encoded(pending), maxWordLength)) / token)
  }
}

const counted = (texts: ReadonlyArray<string>): Tokens => {
  let parts = 0
  let extra = 0
  for (const text of texts) {
    const end = encoded(text)
    parts += partsOf(0, end, maxWordLength)
    if (end !== text.length) extra += extraPartsOf(0, end)
  }
  return { likely: parts / token, high: (parts + extra) / token }
}

/** The tokens for each byte of the samples, times all bytes. */
const sampled = (texts: ReadonlyArray<string>, length: number, utf8Bytes: number, random: NextRandom): Tokens => {
  const samples = Math.max(minSamples, Math.ceil(length / maxStratum))
  const stratum = length / samples
  let sampledBytes = 0
  let parts = 0
  let extra = 0
  let sample = 0
  let from = Math.floor(random() * (stratum - sampleLength))
  let passed = 0
  for (const text of texts) {
    const end = passed + text.length
    while (sample < samples && from < end) {
      const to = Math.min(from + sampleLength, end)
      const start = Math.max(from, passed) - passed
      const lead = Math.max(0, start - leadLength)
      const leadBytes = Buffer.byteLength(text.slice(lead, start))
      const piece = text.slice(lead, to - passed)
      const allBytes = encoded(piece)
      parts += partsOf(0, allBytes, maxWordLength) - partsOf(0, leadBytes, maxWordLength)
      if (allBytes !== piece.length) extra += extraPartsOf(leadBytes, allBytes)
      sampledBytes += allBytes - leadBytes
      if (from + sampleLength > end) break
      sample += 1
      from = Math.floor(sample * stratum + random() * (stratum - sampleLength))
    }
    passed = end
  }
  if (sampledBytes === 0) return { likely: 0, high: 0 }
  const each = utf8Bytes / sampledBytes / token
  return { likely: parts * each, high: (parts + extra) * each }
}

/** The likely parts of a character of several bytes, by its first one: fitted to o200k_base. */
const likelyParts = (first: number): number => {
  if (first < 0xe0) return first === 0xcc || first === 0xcd ? combiningMark : letterOfWord
  if (first < 0xe3) return token
  if (first === 0xe3) return kana
  if (first < 0xea) return ideograph
  if (first < 0xee) return hangul
  return first < 0xf0 ? token : supplementary
}
const combiningMark = 230
/** Of an alphabet whose words have tokens of their own. */
const letterOfWord = 70
const kana = 140
const ideograph = 180
const hangul = 120
const supplementary = 2 * token

/** From U+0800: the scripts of India (Gurmukhi apart), then Sinhala, Thai, Lao and Tibetan. */
const indicParts = (second: number): number => {
  if (second === 0xa8 || second === 0xa9) return 110
  return second < 0xb6 ? letterOfWord : second < 0xb8 ? 110 : second < 0xba ? 85 : second < 0xbc ? 380 : 320
}

/** From U+1000: Burmese, Georgian, Hangul's parts, Ethiopic and Cherokee, others, Khmer, others, Latin. */
const furtherParts = (second: number): number => {
  if (second < 0x83) return 100
  if (second === 0x83) return letterOfWord
  if (second === 0x9e || second === 0x9f) return 135
  return second >= 0xb8 && second <= 0xbb ? 20 : 380
}

/**
 * The high parts of a character, by its first byte: two thirds of what cl100k_base takes for rare letters of these scripts,
 * because half as much again is held.
 */
const highParts = (first: number, second: number): number => {
  if (first < 0xe0) {
    const isTakenApart = (first >= 0xc9 && first <= 0xcd) || (first >= 0xd4 && first <= 0xd6) || first >= 0xdc
    if (isTakenApart) return 310
    return first === 0xce || first === 0xcf ? 170 : 150
  }
  if (first === 0xea && second < 0xb0) return 420
  if (first === 0xe0) return 315
  if (first < 0xe3) return 420
  if (first === 0xe3) return 280
  if (first < 0xea) return 340
  if (first < 0xee) return 360
  return first < 0xf0 ? 420 : 560
}

const encoder = new TextEncoder()
/** The text that is being counted: at most three bytes a character. */
const bytes = new Uint8Array(3 * maxCounted)

const encoded = (text: string): number => encoder.encodeInto(text, bytes).written

/**
 * Steps of an automaton whose states are how far a run of one class has come, by state and byte: the next state (bits 8 to
 * 14), whether the byte is in a word (bit 15), and what it adds (from bit 16). Branches on classes would be mispredicted at
 * every word; a table has none.
 */
const steps = ((): Int32Array => {
  const letters = 0
  const capitals = letters + lettersPerToken
  const digits = capitals + capitalsPerToken
  const spaces = digits + digitsPerToken
  const others = spaces + spacesPerToken
  /** Within a character of three bytes whose second byte says which script it is. */
  const [indic, further] = [others + 1, others + 2]
  const table = new Int32Array((further + 1) * 256)
  const set = (state: number, byte: number, next: number, inWord: boolean, parts: number) => {
    table[(state << 8) | byte] = (parts << 16) | (inWord ? 1 << 15 : 0) | (next << 8)
  }
  /** One character more in a run, which begins with its second state. */
  const longer = (state: number, first: number, length: number) =>
    state >= first && state < first + length ? first + ((state - first + 1) % length) : first + 1
  for (let state = 0; state <= further; state++) {
    for (let byte = 0; byte < 256; byte++) {
      if (byte >= 0x61 && byte <= 0x7a) {
        // a capital is the first letter of its word
        const isCapitalised = state >= capitals && state < digits
        const next = isCapitalised ? letters + 2 : longer(state, letters, lettersPerToken)
        set(state, byte, next, true, next === letters + 1 ? token : 0)
      } else if (byte >= 0x41 && byte <= 0x5a) {
        const next = longer(state, capitals, capitalsPerToken)
        set(state, byte, next, true, next === capitals + 1 ? token : 0)
      } else if (byte >= 0x30 && byte <= 0x39) {
        const next = longer(state, digits, digitsPerToken)
        set(state, byte, next, true, next === digits + 1 ? token : 0)
      } else if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)) {
        // The first space belongs to the word that follows, so counting begins with the second.
        const next = longer(state, spaces, spacesPerToken)
        set(state, byte, next, false, next === spaces + 2 ? token : 0)
      } else if (byte < 0x80) set(state, byte, others, false, byte > 0x20 && byte < 0x7f ? punctuation : token)
      else if (byte < 0xc0) {
        const second = state === indic ? indicParts(byte) : state === further ? furtherParts(byte) : 0
        set(state, byte, state >= indic ? others : state, false, second)
      } else if (byte === 0xe0) set(state, byte, indic, false, 0)
      else if (byte === 0xe1) set(state, byte, further, false, 0)
      else set(state, byte, others, false, likelyParts(byte))
    }
  }
  return table
})()

/** Parts of the bytes between two positions; a word of more than `maxWord` letters and digits counts as opaque. */
const partsOf = (from: number, to: number, maxWord: number): number => {
  let parts = 0
  let state = 0
  let word = 0
  for (let at = from; at < to; at++) {
    const step = steps[state | (bytes[at] ?? 0)] ?? 0
    state = step & 0x7f00
    parts += step >> 16
    const inWord = (step << 16) >> 31
    if (word > maxWord && inWord === 0) parts += hiddenParts(at - word, at)
    word = (word + 1) & inWord
  }
  return word > maxWord ? parts + hiddenParts(to - word, to) : parts
}

/** What the high parts of the characters between two positions are above the likely ones. */
const extraPartsOf = (from: number, to: number): number => {
  let parts = 0
  for (let at = from; at < to; at++) parts += extraParts[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] ?? 0
  return parts
}

/** By the first two bytes of a character. */
const extraParts = ((): Uint16Array => {
  const table = new Uint16Array(256 * 256)
  for (let first = 0xc0; first < 256; first++) {
    for (let second = 0x80; second < 0xc0; second++) {
      const likely = first === 0xe0 ? indicParts(second) : first === 0xe1 ? furtherParts(second) : likelyParts(first)
      table[(first << 8) | second] = Math.max(0, highParts(first, second) - likely)
    }
  }
  return table
})()

/** The parts of an opaque word beyond those that its letters and digits were counted as. */
const hiddenParts = (from: number, to: number): number =>
  Math.max(0, (to - from) * opaqueLetter - partsOf(from, to, Number.MAX_SAFE_INTEGER))
