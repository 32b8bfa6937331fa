import { decode, encode } from "gpt-tokenizer/encoding/o200k_base"
import type { TextCounts } from "./Calibration.ts"

/**
 * Tokens of a text as o200k counts them, and what other tokenizers count otherwise. The table of this encoding takes tens of
 * megabytes: only the worker of the analyses imports this file. A run without separators is cut: byte-pair encoding is quadratic
 * in its length.
 */
export const countsOf = (text: string): TextCounts => {
  let [tokens, fragments] = [0, 0]
  let isInWord = false
  for (const piece of pieces(text)) {
    for (const token of encode(piece, allSpecialAsText)) {
      const shape = shapeOf(token)
      tokens++
      if (isInWord && (shape & beginsInWord) !== 0) fragments++
      isInWord = (shape & endsInWord) !== 0
    }
  }
  return { tokens, fragments, ...charactersOf(text) }
}

const beginsInWord = 1
const endsInWord = 2
const shapes = new Map<number, number>()

/** Whether a token begins and ends with a letter. */
const shapeOf = (token: number): number => {
  const known = shapes.get(token)
  if (known !== undefined) return known
  const text = decode([token])
  const shape = (/^\p{L}/u.test(text) ? beginsInWord : 0) | (/\p{L}$/u.test(text) ? endsInWord : 0)
  shapes.set(token, shape)
  return shape
}

const charactersOf = (text: string): Pick<TextCounts, "digits" | "symbols" | "breaks"> => {
  let [digits, symbols, breaks] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === lineFeed) breaks++
    else if (unit >= 0x30 && unit <= 0x39) digits++
    else if (isAsciiSymbol(unit)) symbols++
  }
  return { digits, symbols, breaks }
}

const lineFeed = 0x0a

const isAsciiSymbol = (unit: number): boolean =>
  unit > 0x20 && unit < 0x80 && !(unit >= 0x41 && unit <= 0x5a) && !(unit >= 0x61 && unit <= 0x7a)

/** A prompt may spell a special token; it is text there. */
const allSpecialAsText = { disallowedSpecial: new Set<string>(), allowedSpecial: new Set<string>() }

const maxRunCharacters = 500

/** The text in order, cut after each run of `maxRunCharacters` characters without (or of nothing but) white space. */
export const pieces = function* (text: string): Generator<string> {
  let from = 0
  let run = 0
  let wasSpace = false
  for (let at = 0; at < text.length; at++) {
    const isSpace = isWhiteSpace(text.charCodeAt(at))
    run = isSpace === wasSpace ? run + 1 : 1
    wasSpace = isSpace
    if (run < maxRunCharacters || isHighSurrogate(text.charCodeAt(at))) continue
    yield text.slice(from, at + 1)
    from = at + 1
    run = 0
  }
  if (from < text.length) yield text.slice(from)
}

/** As `\s` has it. */
const isWhiteSpace = (unit: number): boolean =>
  unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) || (unit >= 0xa0 && /\s/u.test(String.fromCharCode(unit)))

/** Its pair is not cut in two. */
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
