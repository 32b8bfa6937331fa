/** Sums the length of texts, in bytes and in likely tokens. */
export interface TokenEstimator {
  readonly add: (text: string) => void
  readonly utf8Bytes: () => number
  /** Counted in full up to `maxCounted` characters, beyond that estimated from random samples. */
  readonly tokens: () => number
}

/** A number from 0 up to 1, the next one of a sequence. */
export type NextRandom = () => number

/** Characters; up to here every one is counted. */
export const maxCounted = 8_192
const sampleLength = 160
const minSamples = 32
/** Longer text gets more samples: one in so many characters. */
const maxStratum = 4_096
/** A sample is counted from here before its start on, so that it does not begin with half a word. */
const leadLength = 32

/** Tokens are counted in integer parts of a token, so that their sums stay small integers. */
const token = 210
const lettersPerToken = 6
const digitsPerToken = 3
const spacesPerToken = 8
const punctuation = 150
/** A letter of a script with two bytes per letter. */
const otherLetter = 105
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

const counted = (texts: ReadonlyArray<string>): number => {
  let parts = 0
  for (const text of texts) parts += partsOf(0, encoded(text), maxWordLength)
  return parts / token
}

/** The tokens for each byte of the samples, times all bytes. */
const sampled = (texts: ReadonlyArray<string>, length: number, utf8Bytes: number, random: NextRandom): number => {
  const samples = Math.max(minSamples, Math.ceil(length / maxStratum))
  const stratum = length / samples
  let sampledBytes = 0
  let parts = 0
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
      const allBytes = encoded(text.slice(lead, to - passed))
      parts += partsOf(0, allBytes, maxWordLength) - partsOf(0, leadBytes, maxWordLength)
      sampledBytes += allBytes - leadBytes
      if (from + sampleLength > end) break
      sample += 1
      from = Math.floor(sample * stratum + random() * (stratum - sampleLength))
    }
    passed = end
  }
  return sampledBytes === 0 ? 0 : (parts / token) * (utf8Bytes / sampledBytes)
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
  const digits = letters + lettersPerToken
  const spaces = digits + digitsPerToken
  const others = spaces + spacesPerToken
  const table = new Int32Array((others + 1) * 256)
  const set = (state: number, byte: number, next: number, inWord: boolean, parts: number) => {
    table[(state << 8) | byte] = (parts << 16) | (inWord ? 1 << 15 : 0) | (next << 8)
  }
  /** One character more in a run, which begins with its second state. */
  const longer = (state: number, first: number, length: number) =>
    state >= first && state < first + length ? first + ((state - first + 1) % length) : first + 1
  for (let state = 0; state <= others; state++) {
    for (let byte = 0; byte < 256; byte++) {
      const isLetter = (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
      if (isLetter) {
        const next = longer(state, letters, lettersPerToken)
        set(state, byte, next, true, next === letters + 1 ? token : 0)
      } else if (byte >= 0x30 && byte <= 0x39) {
        const next = longer(state, digits, digitsPerToken)
        set(state, byte, next, true, next === digits + 1 ? token : 0)
      } else if (byte <= 0x20 || byte === 0x7f) {
        // The first space belongs to the word that follows, so counting begins with the second.
        const next = longer(state, spaces, spacesPerToken)
        set(state, byte, next, false, next === spaces + 2 ? token : 0)
      } else if (byte < 0x80) set(state, byte, others, false, punctuation)
      else if (byte < 0xc0) set(state, byte, state, false, 0)
      else if (byte < 0xe0) set(state, byte, others, false, otherLetter)
      else set(state, byte, others, false, byte < 0xf0 ? token : 2 * token)
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

/** The parts of an opaque word beyond those that its letters and digits were counted as. */
const hiddenParts = (from: number, to: number): number =>
  Math.max(0, (to - from) * opaqueLetter - partsOf(from, to, Number.MAX_SAFE_INTEGER))
