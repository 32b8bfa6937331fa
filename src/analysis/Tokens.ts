import { countTokens } from "gpt-tokenizer/encoding/o200k_base"

/**
 * Tokens of a text as o200k counts them. The table of this encoding takes tens of megabytes: only the worker of the analyses
 * imports this file. A run without separators is cut: byte-pair encoding is quadratic in its length.
 */
export const tokensOf = (text: string): number => {
  let tokens = 0
  for (const piece of pieces(text)) tokens += countTokens(piece, allSpecialAsText)
  return tokens
}

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
