import { parseExactly } from "../../domain/ExactJson.ts"

/** No valid request is nested deeper; recursive code over bounded values needs no bound of its own. */
export const maxDepth = 64
/**
 * Names, values and brackets of what a client sends: parsing costs time by them, not by bytes, and nothing else runs
 * meanwhile. The maximum number of messages needs a third of it.
 */
export const maxMarks = 300_000
/** The bound for an upstream response: log probabilities of a long response have a million. */
const maxUpstreamMarks = 2_000_000

/** Returned instead of a number of marks. */
export const tooDeep = -1

/**
 * The marks of a JSON text outside its strings, or `tooDeep`. One pass that never recurses, valid JSON or not; it ends early
 * once there are more than `max`. A long string is jumped over by a native search: strings are the largest part of a large text.
 */
export const marksOf = (text: string, max: number = maxMarks): number => {
  let depth = 0
  let marks = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) at = endOfString(text, at + 1)
    else if (unit === openBrace || unit === openBracket) {
      if (++depth > maxDepth) return tooDeep
      if (++marks > max) return marks
    } else if (unit === closeBrace || unit === closeBracket) depth--
    else if ((unit === comma || unit === colon) && ++marks > max) return marks
  }
  return marks
}

/** What a JSON text in UTF-8 contains outside its strings, and where its long strings are. */
export interface Bounds {
  /** As `marksOf`. */
  readonly marks: number
  /** Of each long string that is a value, in turn: where its literal starts, and where it ends. */
  readonly longStrings: ReadonlyArray<number>
}

/** Shorter literals are not worth more than being parsed with the rest. */
export const longBytes = 1024

/** The same pass over the bytes of a client's body. */
export const boundsOf = (bytes: Buffer): Bounds => {
  const longStrings: Array<number> = []
  let depth = 0
  let marks = 0
  for (let at = 0; at < bytes.length; at++) {
    const unit = bytes[at]
    if (unit === quote) {
      const end = endOfStringIn(bytes, at + 1)
      if (end + 1 - at >= longBytes && !isName(bytes, end + 1)) longStrings.push(at, end + 1)
      at = end
    } else if (unit === openBrace || unit === openBracket) {
      if (++depth > maxDepth) return { marks: tooDeep, longStrings }
      if (++marks > maxMarks) break
    } else if (unit === closeBrace || unit === closeBracket) depth--
    else if ((unit === comma || unit === colon) && ++marks > maxMarks) break
  }
  return { marks, longStrings }
}

/** Whether the string that ends there is the name of a member. */
const isName = (bytes: Buffer, end: number): boolean => {
  let at = end
  while (blanks.has(bytes[at] ?? 0)) at++
  return bytes[at] === colon
}

/** The value of a JSON text, by default an upstream's; `undefined` when it is none, or one beyond the bounds. */
export const parse = (text: string, max: number = maxUpstreamMarks): unknown => {
  const marks = marksOf(text, max)
  if (marks === tooDeep || marks > max) return undefined
  try {
    return parseExactly(text)
  } catch {
    return undefined
  }
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
/** Up to this length a loop is cheaper than a native search. */
const shortString = 48

/** The index of the closing quote, or of the end of the text. */
const endOfString = (text: string, start: number): number => {
  const near = Math.min(start + shortString, text.length)
  let at = start
  for (; at < near; at++) {
    const unit = text.charCodeAt(at)
    if (unit === backslash) at++
    else if (unit === quote) return at
  }
  for (let end = text.indexOf('"', at); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end
    while (escapes > at && text.charCodeAt(escapes - 1) === backslash) escapes--
    if ((end - escapes) % 2 === 0) return end
  }
  return text.length
}

/** The same in bytes: no byte of a longer UTF-8 sequence is a quote or a backslash. */
const endOfStringIn = (bytes: Buffer, start: number): number => {
  const near = Math.min(start + shortString, bytes.length)
  let at = start
  for (; at < near; at++) {
    const unit = bytes[at]
    if (unit === backslash) at++
    else if (unit === quote) return at
  }
  for (let end = bytes.indexOf(quote, at); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = end
    while (escapes > at && bytes[escapes - 1] === backslash) escapes--
    if ((end - escapes) % 2 === 0) return end
  }
  return bytes.length
}
