/** Median over calls of the tokens that were billed, by those that were counted; `undefined` without any. */
export const calibration = (
  calls: ReadonlyArray<{ readonly billed: number; readonly counted: number }>
): number | undefined => {
  const factors = calls
    .filter(({ billed, counted }) => billed > 0 && counted > 0)
    .map(({ billed, counted }) => billed / counted)
    .sort((a, b) => a - b)
  const middle = factors.length >> 1
  return factors.length % 2 === 1 ? factors[middle] : mean(factors[middle - 1], factors[middle])
}

const mean = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : (a + b) / 2

/** What tokenizers count differently: tokens of o200k, those of them that go on with a word, and characters by kind. */
export interface TextCounts {
  readonly tokens: number
  readonly fragments: number
  readonly digits: number
  readonly symbols: number
  readonly breaks: number
}

/** A text of which only the length is known. */
export const onlyTokens = (tokens: number): TextCounts => ({
  tokens,
  fragments: 0,
  digits: 0,
  symbols: 0,
  breaks: 0
})

/** What a route bills for each of the counts. */
export type Calibration = Readonly<Record<keyof TextCounts, number>>

export interface CountedPrompt {
  readonly conversation: number
  readonly billed: number
  readonly blocks: ReadonlyArray<TextCounts>
}

/** The order of weights and rows. */
const kinds: ReadonlyArray<keyof TextCounts> = ["tokens", "fragments", "digits", "symbols", "breaks"]

export const tokensWith = (calibration: Calibration, counts: TextCounts): number => {
  let tokens = 0
  for (const kind of kinds) tokens += calibration[kind] * counts[kind]
  // a text is never far below what the route bills on the average
  return Math.max(tokens, (calibration.tokens * counts.tokens) / 4)
}

/**
 * What a route bills for each kind of text, from what it has billed for prompts. One factor for all text is wrong where a change
 * leaves text of another kind than the mean: markup, digits and encoded bytes are other numbers of tokens to each provider. Ridge
 * regression, from one factor for all; what the bills do not tell stays there.
 */
export const calibrate = (prompts: ReadonlyArray<CountedPrompt>): Calibration => {
  const sums = prompts.map(({ billed, blocks, conversation }) => ({ conversation, billed, row: sumOf(blocks) }))
  const factor = calibration(sums.map(({ billed, row }) => ({ billed, counted: row[0] ?? 0 }))) ?? 1
  const observations = differencesOf(sums)
  let weights = kinds.map((_, at) => (at === 0 ? factor : 0))
  const prior = weights
  for (let pass = 0; pass < passes; pass++) weights = fitted(observations, prior, weights)
  const [tokens = 0, fragments = 0, digits = 0, symbols = 0, breaks = 0] = weights
  return { tokens, fragments, digits, symbols, breaks }
}

/** The weights of outliers, such as images that are in no text, fall with each pass. */
const passes = 5
const relativeError = 0.03
const absoluteError = 3
const outlier = 2
/** How far a route's tokenizer is likely to be from one factor for all text. */
const spreads: Calibration = { tokens: 0.5, fragments: 0.3, digits: 0.15, symbols: 0.3, breaks: 0.3 }
const precisions = kinds.map((kind) => 1 / spreads[kind] ** 2)

interface Observation {
  readonly row: ReadonlyArray<number>
  readonly billed: number
}

const sumOf = (blocks: ReadonlyArray<TextCounts>): ReadonlyArray<number> =>
  kinds.map((kind) => blocks.reduce((sum, counts) => sum + counts[kind], 0))

/** Each text counts once, although it is in all prompts that follow: a call tells what it has more than the one before. */
const differencesOf = (
  sums: ReadonlyArray<Observation & { readonly conversation: number }>
): ReadonlyArray<Observation> => {
  const before = new Map<number, Observation>()
  let first: Observation | undefined
  return sums.flatMap((sum) => {
    const last = before.get(sum.conversation) ?? first
    if (!before.has(sum.conversation)) first = sum
    before.set(sum.conversation, sum)
    const row = sum.row.map((count, at) => count - (last?.row[at] ?? 0))
    return row.every((count) => count === 0) ? [] : [{ row, billed: sum.billed - (last?.billed ?? 0) }]
  })
}

const fitted = (
  observations: ReadonlyArray<Observation>,
  prior: ReadonlyArray<number>,
  before: ReadonlyArray<number>
): Array<number> => {
  const size = prior.length
  const left = Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j) => (i === j ? (precisions[i] ?? 1) : 0))
  )
  const right = prior.map((value, at) => value * (precisions[at] ?? 1))
  for (const { billed, row } of observations) {
    const error = relativeError * Math.abs(billed) + absoluteError
    const residual = Math.abs(billed - product(row, before)) / error
    const weight = (residual > outlier ? outlier / residual : 1) / error ** 2
    for (let i = 0; i < size; i++) {
      const own = weight * (row[i] ?? 0)
      right[i] = (right[i] ?? 0) + own * billed
      for (let j = 0; j < size; j++) (left[i] ?? [])[j] = (left[i]?.[j] ?? 0) + own * (row[j] ?? 0)
    }
  }
  return solved(left, right)
}

const product = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)

/** Gauss' elimination of a positive definite matrix. */
const solved = (matrix: ReadonlyArray<ReadonlyArray<number>>, right: ReadonlyArray<number>): Array<number> => {
  const rows = matrix.map((row, at) => [...row, right[at] ?? 0])
  rows.forEach((pivotRow, at) => {
    const pivot = pivotRow[at] ?? 1
    rows.forEach((row, other) => {
      if (other === at) return
      const factor = (row[at] ?? 0) / pivot
      for (let column = at; column < row.length; column++) {
        row[column] = (row[column] ?? 0) - factor * (pivotRow[column] ?? 0)
      }
    })
  })
  return rows.map((row, at) => (row[rows.length] ?? 0) / (row[at] ?? 1))
}
