/**
 * The features of a text, computed in one pass that is linear in its length: hashed words, pairs of words, the first words, and
 * sequences of four characters, in `buckets` counters, and a few numbers about its shape. The trainer and the router use the same code, so that a
 * classifier sees in production what it was trained on.
 */
export interface Features {
  /** Buckets that occur; the first `size` entries are valid. */
  readonly buckets: Int32Array
  /** How often each of them occurs, in the same order. */
  readonly counts: Float64Array
  readonly size: number
  /** By `shapeNames`, each about 0 to 1. */
  readonly shape: Float64Array
}

const bucketBits = 15
export const buckets = 1 << bucketBits
const shift = 32 - bucketBits

/** Longer texts are read from their beginning and their end: instructions are there. */
export const maxTextLength = 4_096
const maxTailLength = 1_024

export const shapeNames = [
  "length",
  "lines",
  "words",
  "word_length",
  "digits",
  "upper_case",
  "spaces",
  "punctuation",
  "brackets",
  "code_symbols",
  "math_symbols",
  "quotes",
  "question_marks",
  "non_ascii",
  "wide_characters",
  "indented_lines",
  "option_lines",
  "list_lines",
  "short_lines",
  "fences",
  "latex",
  "dollars",
  "ends_with_question"
] as const

/** Different starting values keep the kinds of n-grams apart. */
const wordSeed = 0x811c9dc5
const pairSeed = 0x9e3779b1
const gramMultiplier = 0x85ebca6b
const headSeed = 0xc2b2ae35

/** The first words together often are the instruction. */
const headWords = 3
/** Words count more than what they are next to and made of: they stay when the same is asked in another way. */
export const wordTimes = 4

const newline = 10
const space = 32
const upperA = 65
const upperZ = 90
const lowerA = 97
const lowerZ = 122
const zero = 48
const nine = 57

const kinds = new Uint8Array(128)
const bracket = 1
const code = 2
const math = 4
const quote = 8
const mark = (characters: string, kind: number): void => {
  for (const one of characters) kinds[one.charCodeAt(0)] = (kinds[one.charCodeAt(0)] ?? 0) | kind
}
mark("()[]{}", bracket)
mark("{};=<>_#&|@/", code)
mark("+-*/^=<>%", math)
mark("\"'`", quote)

// One text at a time is read, synchronously: the counters are shared, and cleared by what was counted.
const counters = new Uint16Array(buckets)
const touched = new Int32Array(4 * maxTextLength)
const counts = new Float64Array(4 * maxTextLength)
const shape = new Float64Array(shapeNames.length)

/** The result is valid until the next call. */
export const featuresOf = (whole: string): Features => {
  const text = cut(whole)
  let size = 0
  const count = (bucket: number, times = 1): void => {
    const before = counters[bucket] ?? 0
    if (before === 0) touched[size++] = bucket
    counters[bucket] = before + times
  }
  let word = 0
  let wordLength = 0
  let previous = 0
  let head = 0
  let gram = 0
  let gramLength = 0
  let words = 0
  let letters = 0
  let digits = 0
  let upper = 0
  let spaces = 0
  let lines = 1
  let lineStart = 0
  let punctuation = 0
  let brackets = 0
  let codeSymbols = 0
  let mathSymbols = 0
  let quotes = 0
  let questions = 0
  let nonAscii = 0
  let wide = 0
  let indented = 0
  let options = 0
  let listed = 0
  let shortLines = 0
  let fences = 0
  let latex = 0
  let dollars = 0
  const length = text.length
  for (let at = 0; at <= length; at++) {
    let unit = at < length ? text.charCodeAt(at) : newline
    if (unit >= upperA && unit <= upperZ) {
      upper++
      unit += lowerA - upperA
    }
    const isDigit = unit >= zero && unit <= nine
    if ((unit >= lowerA && unit <= lowerZ) || isDigit || unit > 127) {
      if (isDigit) digits++
      else letters++
      if (unit > 127) {
        nonAscii++
        if (unit >= 0x2e80) wide++
      }
      word = Math.imul((wordLength === 0 ? wordSeed : word) ^ unit, 0x01000193)
      wordLength++
    } else {
      if (wordLength > 0) {
        words++
        count(mixed(word) >>> shift, wordTimes)
        if (previous !== 0) count(mixed(Math.imul(previous, pairSeed) ^ word) >>> shift)
        if (words <= headWords) {
          head = Math.imul(head ^ word, headSeed)
          count(mixed(head) >>> shift)
        }
        previous = word
        wordLength = 0
      }
      if (unit === newline) {
        const lineLength = at - lineStart
        if (at < length) lines++
        if (lineLength > 0 && lineLength < 40) shortLines++
        if (lineLength > 1) {
          const first = text.charCodeAt(lineStart)
          const second = text.charCodeAt(lineStart + 1)
          if (first === space || first === 9) indented++
          // `A.`, `(b)`, `C)` begin an option; `-`, `*`, `1.` a list
          if (isLetter(first) && (second === 46 || second === 41)) options++
          else if (first === 40 && isLetter(second)) options++
          else if ((first === 45 || first === 42) && second === space) listed++
          else if (first >= zero && first <= nine && (second === 46 || second === 41)) listed++
        }
        lineStart = at + 1
      } else if (unit !== space && unit < 128) {
        punctuation++
        const kind = kinds[unit] ?? 0
        if ((kind & bracket) !== 0) brackets++
        if ((kind & code) !== 0) codeSymbols++
        if ((kind & math) !== 0) mathSymbols++
        if ((kind & quote) !== 0) quotes++
        if (unit === 63) questions++
        else if (unit === 36) dollars++
        else if (unit === 92) latex++
        else if (unit === 96 && text.charCodeAt(at + 1) === 96 && text.charCodeAt(at + 2) === 96) fences++
      }
      if (unit === space || unit === newline || unit === 9 || unit === 13) {
        spaces++
        unit = space
      }
    }
    // a run of spaces counts as one
    if (unit === space && (gram & 0xff) === space) continue
    gram = (gram << 8) | ((unit ^ (unit >>> 8)) & 0xff)
    if (++gramLength >= 4) count(mixed(Math.imul(gram, gramMultiplier)) >>> shift)
  }
  for (let at = 0; at < size; at++) {
    const bucket = touched[at] ?? 0
    counts[at] = counters[bucket] ?? 0
    counters[bucket] = 0
  }
  const per = 1 / Math.max(1, length)
  const perLine = 1 / lines
  shape[0] = Math.log2(1 + length) / 12
  shape[1] = Math.log2(lines) / 8
  shape[2] = Math.log2(1 + words) / 10
  shape[3] = Math.min(1, (letters + digits) / Math.max(1, words) / 10)
  shape[4] = Math.min(1, digits * per * 4)
  shape[5] = Math.min(1, upper * per * 4)
  shape[6] = Math.min(1, spaces * per * 2)
  shape[7] = Math.min(1, punctuation * per * 4)
  shape[8] = Math.min(1, brackets * per * 10)
  shape[9] = Math.min(1, codeSymbols * per * 10)
  shape[10] = Math.min(1, mathSymbols * per * 10)
  shape[11] = Math.min(1, quotes * per * 10)
  shape[12] = Math.min(1, questions / 3)
  shape[13] = Math.min(1, nonAscii * per * 2)
  shape[14] = Math.min(1, wide * per)
  shape[15] = indented * perLine
  shape[16] = Math.min(1, options / 8)
  shape[17] = Math.min(1, listed / 8)
  shape[18] = shortLines * perLine
  shape[19] = Math.min(1, fences / 2)
  shape[20] = Math.min(1, latex / 8)
  shape[21] = Math.min(1, dollars / 6)
  shape[22] = text.trimEnd().endsWith("?") ? 1 : 0
  return { buckets: touched, counts, size, shape }
}

const cut = (text: string): string =>
  text.length <= maxTextLength
    ? text
    : `${text.slice(0, maxTextLength - maxTailLength - 1)}\n${text.slice(text.length - maxTailLength)}`

const isLetter = (unit: number): boolean => (unit >= upperA && unit <= upperZ) || (unit >= lowerA && unit <= lowerZ)

/** Spreads the bits of a hash, so that its upper ones depend on all. */
const mixed = (hash: number): number => {
  const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return once ^ (once >>> 13)
}
