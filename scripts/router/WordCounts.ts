import { buckets, type Features, featuresOf, wordTimes } from "../../src/routing/quality/Features.ts"
import { meansOf } from "./Means.ts"
import { type Matrix, ridge } from "./Sparse.ts"

/**
 * What the numbers of certain words in a text say about the targets of its class. Unlike the other features they are not relative
 * to the length of the text: within one kind of task, what there is more of is harder.
 */
export interface WordCounts {
  /** Adds `factor` times the prediction to `result`. */
  readonly add: (features: Features, factor: number, result: Float64Array) => void
}

/** Of a smaller class too little is known. */
const minTexts = 500
/** Words of fewer texts are left out. */
const minShare = 0.02
const minOwnTexts = 15
const penalty = 300
/** Share of the variance between models that has to be explained in texts that were held out: where it is less, the words say nothing. */
const minExplained = 0.015
const folds = 4

/** `undefined` where the class is small, or its words say too little. `targets` has one row of models for each text. */
export const wordCountsOf = (
  texts: ReadonlyArray<string>,
  targets: ReadonlyArray<ReadonlyArray<number>>
): WordCounts | undefined => {
  if (texts.length < minTexts) return undefined
  const columns = commonWords(texts)
  const rows = texts.map((text) => {
    const row = new Array<number>(columns.size).fill(0)
    eachWord(featuresOf(text), (bucket, value) => {
      const column = columns.get(bucket)
      if (column !== undefined) row[column] = value
    })
    return row
  })
  if (explained(rows, targets) < minExplained) return undefined
  const { intercepts, outputs, weights } = regress(rows, targets)
  return {
    add: (features, factor, result) => {
      for (let k = 0; k < outputs; k++) result[k] = (result[k] ?? 0) + factor * (intercepts[k] ?? 0)
      eachWord(features, (bucket, value) => {
        const column = columns.get(bucket)
        if (column === undefined) return
        const from = column * outputs
        for (let k = 0; k < outputs; k++) result[k] = (result[k] ?? 0) + factor * value * (weights[from + k] ?? 0)
      })
    }
  }
}

/** What occurs as often as one word counts: words, and parts of words that are repeated. */
const eachWord = ({ buckets: found, counts, size }: Features, use: (bucket: number, value: number) => void): void => {
  for (let at = 0; at < size; at++) {
    const count = counts[at] ?? 0
    if (count >= wordTimes) use(found[at] ?? 0, Math.log1p(count / wordTimes))
  }
}

/** A column for each bucket that enough of the texts have. */
const commonWords = (texts: ReadonlyArray<string>): ReadonlyMap<number, number> => {
  const documents = new Int32Array(buckets)
  for (const text of texts) eachWord(featuresOf(text), (bucket) => (documents[bucket] = (documents[bucket] ?? 0) + 1))
  const enough = Math.max(minOwnTexts, minShare * texts.length)
  const common = Array.from(documents.keys()).filter((bucket) => (documents[bucket] ?? 0) >= enough)
  return new Map(common.map((bucket, column) => [bucket, column]))
}

interface Fitted {
  readonly outputs: number
  readonly intercepts: ReadonlyArray<number>
  readonly weights: Float64Array
}

const regress = (rows: ReadonlyArray<ReadonlyArray<number>>, targets: ReadonlyArray<ReadonlyArray<number>>): Fitted => {
  const averages = meansOf(rows)
  const levels = meansOf(targets)
  const outputs = levels.length
  const centred = Float64Array.from(targets.flatMap((row) => row.map((value, k) => value - (levels[k] ?? 0))))
  const weights = ridge(
    dense(rows.map((row) => row.map((value, at) => value - (averages[at] ?? 0)))),
    centred,
    outputs,
    penalty
  )
  const intercepts = levels.map((level, k) =>
    averages.reduce((sum, average, at) => sum - average * (weights[at * outputs + k] ?? 0), level)
  )
  return { outputs, intercepts, weights }
}

const dense = (rows: ReadonlyArray<ReadonlyArray<number>>): Matrix => {
  const columns = rows[0]?.length ?? 0
  return {
    rows: rows.length,
    columns,
    starts: Int32Array.from({ length: rows.length + 1 }, (_, row) => row * columns),
    indexes: Int32Array.from({ length: rows.length * columns }, (_, at) => at % columns),
    values: Float32Array.from(rows.flat())
  }
}

/** Of the variance between the models: what they have in common decides nothing. */
const explained = (
  rows: ReadonlyArray<ReadonlyArray<number>>,
  targets: ReadonlyArray<ReadonlyArray<number>>
): number => {
  const levels = meansOf(targets)
  let errors = 0
  let total = 0
  for (let fold = 0; fold < folds; fold++) {
    const isOther = (_: unknown, at: number) => at % folds !== fold
    const { intercepts, outputs, weights } = regress(rows.filter(isOther), targets.filter(isOther))
    targets.forEach((target, at) => {
      if (isOther(target, at)) return
      const row = rows[at] ?? []
      const predicted = intercepts.map((intercept, k) =>
        row.reduce((sum, value, column) => sum + value * (weights[column * outputs + k] ?? 0), intercept)
      )
      const deviations = between(target.map((value, k) => value - (levels[k] ?? 0)))
      const missed = between(target.map((value, k) => value - (predicted[k] ?? 0)))
      for (let k = 0; k < outputs; k++) {
        errors += (missed[k] ?? 0) ** 2
        total += (deviations[k] ?? 0) ** 2
      }
    })
  }
  return total === 0 ? 0 : 1 - errors / total
}

const between = (row: ReadonlyArray<number>): ReadonlyArray<number> => {
  const mean = row.reduce((sum, value) => sum + value, 0) / row.length
  return row.map((value) => value - mean)
}
