import { randomBytes } from "node:crypto"

/**
 * JSON whose integers beyond 2^53 keep every digit, up to 64 bits: they are read as `bigint` and written as numbers. JavaScript's own
 * numbers would change ids, seeds and bounds of schemas silently. Texts without such an integer, which is nearly all, take the
 * native way.
 */
export const parseExactly = (text: string): unknown => {
  if (text.length > maxCharacters || !hasLongDigits(text)) return JSON.parse(text)
  const mark = randomBytes(16).toString("hex")
  const marked = withMarks(text, mark)
  return marked === undefined
    ? JSON.parse(text)
    : JSON.parse(marked, (_, value: unknown) =>
        typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value
      )
}

/** As `JSON.stringify`, for values with integers as `parseExactly` reads them. */
export const writeExactly = (value: unknown): string => {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const mark = randomBytes(16).toString("hex")
    const marked = JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? `${mark}${inner}` : inner))
    const [first = "", ...rest] = marked.split(`"${mark}`)
    // behind each mark come the digits and the closing quote
    return first + rest.map((part) => part.replace('"', "")).join("")
  }
}

/** Longer texts would hold the event loop: their long integers are rounded, and refused where they count. */
const maxCharacters = 1024 * 1024

/** Fewer digits are always exact. */
const longDigits = 16

/** Of 16 digits in a row one stands at every sixteenth place: a third of the time of a regular expression over the whole text. */
const hasLongDigits = (text: string): boolean => {
  for (let at = longDigits - 1; at < text.length; at += longDigits) {
    if (isDigit(text.charCodeAt(at)) && digitsAround(text, at) >= longDigits) return true
  }
  return false
}

const digitsAround = (text: string, at: number): number => {
  let start = at
  while (start > 0 && isDigit(text.charCodeAt(start - 1))) start--
  let end = at + 1
  while (end < text.length && isDigit(text.charCodeAt(end))) end++
  return end - start
}

const maxInt64 = 2n ** 63n - 1n
const minInt64 = -(2n ** 63n)

/** The text with every such integer as a marked string; `undefined` when there is none. The mark cannot be guessed. */
const withMarks = (text: string, mark: string): string | undefined => {
  let marked = ""
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) at = endOfString(text, at + 1)
    else if (unit === minus || isDigit(unit)) {
      const end = endOfNumber(text, at)
      if (end - at >= longDigits && isLong(text.slice(at, end))) {
        marked += `${text.slice(from, at)}"${mark}${text.slice(at, end)}"`
        from = end
      }
      at = end - 1
    }
  }
  return from === 0 ? undefined : marked + text.slice(from)
}

const isLong = (number: string): boolean => {
  if (!/^-?[1-9]\d{15,18}$/.test(number) || Number.isSafeInteger(Number(number))) return false
  const value = BigInt(number)
  return value >= minInt64 && value <= maxInt64
}

const endOfNumber = (text: string, start: number): number => {
  let at = start + 1
  while (at < text.length && isPartOfNumber(text.charCodeAt(at))) at++
  return at
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39

/** Digits, and the signs of a fraction or an exponent, which make it no integer. */
const isPartOfNumber = (unit: number): boolean =>
  isDigit(unit) || unit === 0x2e || unit === 0x65 || unit === 0x45 || unit === 0x2b || unit === minus

const quote = 0x22
const backslash = 0x5c
const minus = 0x2d

const endOfString = (text: string, start: number): number => {
  for (let at = text.indexOf('"', start); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = at
    while (escapes > start && text.charCodeAt(escapes - 1) === backslash) escapes--
    if ((at - escapes) % 2 === 0) return at
  }
  return text.length
}
