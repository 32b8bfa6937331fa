/** Characters of one kind that may begin or end an emphasis, as CommonMark pairs them. */
export interface Delimiter {
  readonly mark: string
  readonly length: number
  readonly opens: boolean
  readonly closes: boolean
  /** Where those stand that belong to no emphasis yet. */
  at: number
  left: number
}

interface Emphasis {
  readonly at: number
  readonly end: number
  readonly from: number
  readonly to: number
  readonly node: { readonly kind: "strong" | "em" | "del" }
}

export const delimiterAt = (text: string, at: number): Delimiter | undefined => {
  const mark = text[at] ?? ""
  if (mark !== "*" && mark !== "_" && mark !== "~") return undefined
  let end = at + 1
  while (text[end] === mark) end += 1
  const length = end - at
  return { mark, length, at, left: length, ...sidesOf(mark, length, text[at - 1] ?? " ", text[end] ?? " ") }
}

/**
 * Stricter rules of CommonMark would leave asterisks around words that end with a colon or a quotation mark where no space
 * follows, as in Chinese: they hold only where an opening bracket stands before, or a mark after a Latin letter.
 */
const sidesOf = (mark: string, length: number, before: string, after: string) => {
  const mayOpen = after.trim() !== ""
  const mayClose = before.trim() !== ""
  // a letter makes an underscore a part of a word
  if (mark === "_") return { opens: mayOpen && !isWord(before), closes: mayClose && !isWord(after) }
  if (mark === "~") return { opens: mayOpen && length === 2, closes: mayClose && length === 2 }
  return {
    opens: mayOpen && !(/\w/.test(before) && /[^\p{L}\p{N}\p{M}\p{Cs}\p{Ps}\p{Pi}"'`_~]/u.test(after)),
    closes: mayClose && !(/[\p{Ps}\p{Pi}]/u.test(before) && isWord(after))
  }
}

const isWord = (character: string): boolean => /[\p{L}\p{N}]/u.test(character)

/** Of those that stand in one label, or in none. */
export const emphasisOf = (delimiters: ReadonlyArray<Delimiter>): ReadonlyArray<Emphasis> => {
  const found: Array<Emphasis> = []
  const openers: Array<Delimiter> = []
  // before which there is nothing that fits: it is not searched again
  const searched = new Map<string, number>()
  for (const closer of delimiters) {
    const kind = `${closer.mark}${closer.opens}${closer.length % 3}`
    while (closer.closes && closer.left > 0) {
      const first = searched.get(kind) ?? 0
      const opener = lastFitting(openers, closer, first)
      if (opener === undefined) {
        searched.set(kind, closer.at)
        break
      }
      const length = Math.min(2, opener.left, closer.left)
      opener.left -= length
      found.push({
        at: opener.at + opener.left,
        from: opener.at + opener.left + length,
        to: closer.at,
        end: closer.at + length,
        node: { kind: closer.mark === "~" ? "del" : length === 2 ? "strong" : "em" }
      })
      closer.at += length
      closer.left -= length
      if (opener.left === 0) openers.pop()
    }
    if (closer.opens && closer.left > 0) openers.push(closer)
  }
  return found
}

/** The nearest opener, which then is the last; those after it are text. */
const lastFitting = (openers: Array<Delimiter>, closer: Delimiter, first: number): Delimiter | undefined => {
  for (let index = openers.length - 1; index >= 0; index -= 1) {
    const opener = openers[index]
    if (opener === undefined || opener.at < first) return undefined
    if (!fits(opener, closer)) continue
    openers.length = index + 1
    return opener
  }
  return undefined
}

/** Where one of both might begin and end, their lengths tell which belongs to which: a rule of CommonMark. */
const fits = (opener: Delimiter, closer: Delimiter): boolean =>
  opener.mark === closer.mark &&
  (!(opener.closes || closer.opens) ||
    (opener.length + closer.length) % 3 !== 0 ||
    (opener.length % 3 === 0 && closer.length % 3 === 0))
