/** Longer texts are no misspelt names. */
const maxCharacters = 100
/** One typing error for so many characters. */
const charactersPerError = 4
const maxErrors = 3

/**
 * The known name that a misspelt one most likely means, whatever the case of its letters; of equally near ones the first.
 * `undefined` where none is near.
 */
export const nearest = (text: string, known: Iterable<string>): string | undefined => {
  if (text.length === 0 || text.length > maxCharacters) return undefined
  const asked = text.toLowerCase()
  let best: string | undefined
  let limit = Math.min(maxErrors, Math.max(1, Math.floor(text.length / charactersPerError))) + 1
  for (const name of known) {
    if (Math.abs(name.length - asked.length) >= limit) continue
    const errors = distance(asked, name.toLowerCase(), limit)
    if (errors >= limit) continue
    best = name
    limit = errors
    if (errors === 0) break
  }
  return best
}

/** Insertions, deletions, replacements and swaps of neighbours that make one text the other; `limit` when it is at least that. */
const distance = (one: string, other: string, limit: number): number => {
  let before: ReadonlyArray<number> = []
  let last: ReadonlyArray<number> = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const line = [row]
    let least = row
    for (let at = 1; at <= other.length; at++) {
      const isSame = one[row - 1] === other[at - 1]
      let errors = Math.min((last[at] ?? 0) + 1, (line[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + (isSame ? 0 : 1))
      if (row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1]) {
        errors = Math.min(errors, (before[at - 2] ?? 0) + 1)
      }
      line.push(errors)
      least = Math.min(least, errors)
    }
    if (least >= limit) return limit
    before = last
    last = line
  }
  return last[other.length] ?? limit
}
