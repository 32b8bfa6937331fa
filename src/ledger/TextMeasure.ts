/** Adds up the length of text, in bytes and in likely tokens. */
export interface TextMeasure {
  readonly add: (text: string) => void
  readonly utf8Bytes: () => number
  readonly tokens: () => number
}

/** Tokens are counted in whole parts of one, so that their sums stay small integers. */
const token = 210
const lettersPerToken = 6
const digitsPerToken = 3
const spacesPerToken = 8
const punctuation = 150
/** A letter of a script with two bytes a letter. */
const otherLetter = 105
/** Words longer than this are not words: base64, hashes and the like have far more tokens for their length. */
const longestWord = 24
const opaqueLetter = 140

/**
 * Tokens by classes of characters, for common byte-pair encodings: within a factor of about two for prose, code, base64 and
 * other scripts, and linear where a real tokenizer takes seconds.
 */
export const make = (): TextMeasure => {
  let utf8Bytes = 0
  let tokens = 0
  return {
    utf8Bytes: () => utf8Bytes,
    tokens: () => tokens,
    add: (text) => {
      for (let rest = text; rest !== ""; ) {
        const { read, written } = encoder.encodeInto(rest, bytes)
        utf8Bytes += written
        tokens += partsOf(0, written, longestWord) / token
        rest = read === rest.length ? "" : rest.slice(read)
      }
    }
  }
}

const encoder = new TextEncoder()
/** The piece of text that is being counted. */
const bytes = new Uint8Array(64 * 1024)

/**
 * Steps of an automaton whose states are how far a run of one class has come, by state and byte: the next state (bits 8 to
 * 14), whether the byte is in a word (bit 15), and what it adds (from bit 16). The processor guesses branches on classes
 * wrong at every word; a table has none.
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
        // the first space belongs to the word that follows, so what counts begins with the second
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

/** Of the bytes between two places; a word beyond `longest` letters and digits is counted as what it is. */
const partsOf = (from: number, to: number, longest: number): number => {
  let parts = 0
  let state = 0
  let word = 0
  for (let at = from; at < to; at++) {
    const step = steps[state | (bytes[at] ?? 0)] ?? 0
    state = step & 0x7f00
    parts += step >> 16
    const inWord = (step << 16) >> 31
    if (word > longest && inWord === 0) parts += hiddenParts(at - word, at)
    word = (word + 1) & inWord
  }
  return word > longest ? parts + hiddenParts(to - word, to) : parts
}

/** What an opaque word has beyond what its letters and digits were counted as. */
const hiddenParts = (from: number, to: number): number =>
  Math.max(0, (to - from) * opaqueLetter - partsOf(from, to, Number.MAX_SAFE_INTEGER))
