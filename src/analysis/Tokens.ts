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
const longRun = new RegExp(`[^\\s]{${maxRunCharacters}}|\\s{${maxRunCharacters}}`, "gu")

/** The text in order, cut after each run of `maxRunCharacters` characters without (or of nothing but) white space. */
export const pieces = function* (text: string): Generator<string> {
  let from = 0
  for (const match of text.matchAll(longRun)) {
    const to = match.index + match[0].length
    yield text.slice(from, to)
    from = to
  }
  if (from < text.length) yield text.slice(from)
}
