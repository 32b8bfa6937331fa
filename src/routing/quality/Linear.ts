import { buckets, type Features, shapeNames } from "./Features.ts"

/**
 * Linear functions of the features of a text: n-grams weighted by how much each tells, of length 1 together, then the shape.
 * One row of `weights` for each bucket and then for each number of the shape, `outputs` numbers wide.
 */
export interface Linear {
  readonly outputs: number
  /** By bucket; 0 for one that tells nothing. */
  readonly bucketWeights: Float32Array
  readonly weights: Float32Array
  readonly intercepts: Float64Array
}

export const columns = buckets + shapeNames.length

/** What the shape weighs beside the n-grams. */
export const shapeScale = 0.5

/** How often a bucket occurs counts less and less. */
export const termWeight = (count: number): number => logs[count] ?? 1 + Math.log(count)
const logs = Float64Array.from({ length: 256 }, (_, count) => (count === 0 ? 0 : 1 + Math.log(count)))

/** Writes the outputs to `result`, and returns how much of the text is known: 0 where no n-gram of it tells anything. */
export const applyLinear = (
  { bucketWeights, intercepts, outputs, weights }: Linear,
  { buckets: found, counts, shape, size }: Features,
  result: Float64Array
): number => {
  result.fill(0)
  let squares = 0
  for (let at = 0; at < size; at++) {
    const bucket = found[at] ?? 0
    const weight = bucketWeights[bucket] ?? 0
    if (weight === 0) continue
    const value = termWeight(counts[at] ?? 1) * weight
    squares += value * value
    const row = bucket * outputs
    for (let k = 0; k < outputs; k++) result[k] = (result[k] ?? 0) + value * (weights[row + k] ?? 0)
  }
  const norm = squares === 0 ? 0 : 1 / Math.sqrt(squares)
  for (let k = 0; k < outputs; k++) {
    let sum = (intercepts[k] ?? 0) + norm * (result[k] ?? 0)
    for (let at = 0; at < shape.length; at++) {
      sum += shapeScale * (shape[at] ?? 0) * (weights[(buckets + at) * outputs + k] ?? 0)
    }
    result[k] = sum
  }
  return squares
}
