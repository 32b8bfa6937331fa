/** Adds up the length of text, in bytes and in likely tokens. */
export interface TextMeasure {
  readonly add: (text: string) => void
  readonly utf8Bytes: () => number
  readonly tokens: () => number
}

/** Words longer than this are not words: base64, hashes and the like have far more tokens for their length. */
const longestWord = 24
const lettersPerToken = 6
const opaquePerToken = 1.5
const digitsPerToken = 3
const punctuationPerToken = 1.4
const spacesPerToken = 8
const otherLettersPerToken = 2

/** Classes of characters; runs of one class are counted together. */
const letter = 0
const digit = 1
const space = 2
const punctuation = 3
const other = 4
const ideograph = 5

const asciiClasses = Uint8Array.from({ length: 128 }, (_, code) => {
  if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122)) return letter
  if (code >= 48 && code <= 57) return digit
  return code <= 32 || code === 127 ? space : punctuation
})

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
      utf8Bytes += Buffer.byteLength(text, "utf8")
      tokens += tokensOf(text)
    }
  }
}

/** Counts in locals only: a captured number with a fraction would be allocated anew with every change. */
const tokensOf = (text: string): number => {
  let tokens = 0
  let runClass = -1
  let runLength = 0
  /** Letters and digits without anything between them, however they alternate. */
  let wordLength = 0
  let wordTokens = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const kind = code < 128 ? (asciiClasses[code] ?? other) : code < 0x800 ? other : ideograph
    if (kind === runClass) {
      runLength += 1
      continue
    }
    if (runClass === letter || runClass === digit) {
      wordLength += runLength
      wordTokens += tokensOfRun(runClass, runLength)
    } else if (runClass !== -1) tokens += tokensOfRun(runClass, runLength)
    if (kind !== letter && kind !== digit) {
      tokens += tokensOfWord(wordLength, wordTokens)
      wordLength = 0
      wordTokens = 0
    }
    runClass = kind
    runLength = 1
  }
  if (runClass === letter || runClass === digit) {
    wordLength += runLength
    wordTokens += tokensOfRun(runClass, runLength)
  } else if (runClass !== -1) tokens += tokensOfRun(runClass, runLength)
  return tokens + tokensOfWord(wordLength, wordTokens)
}

const tokensOfRun = (kind: number, length: number): number => {
  switch (kind) {
    case letter:
      return Math.ceil(length / lettersPerToken)
    case digit:
      return Math.ceil(length / digitsPerToken)
    case space:
      // One space belongs to the word that follows.
      return length === 1 ? 0 : Math.ceil(length / spacesPerToken)
    case punctuation:
      return length / punctuationPerToken
    case other:
      return length / otherLettersPerToken
    default:
      return length
  }
}

const tokensOfWord = (length: number, tokens: number): number =>
  length > longestWord ? Math.max(tokens, length / opaquePerToken) : tokens
