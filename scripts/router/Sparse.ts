import { buckets, featuresOf, shapeNames } from "../../src/routing/quality/Features.ts"
import { columns, shapeScale, termWeight } from "../../src/routing/quality/Linear.ts"

/** Rows of features, compressed: of row `r` the columns `starts[r]` to `starts[r + 1]`. */
export interface Matrix {
  readonly rows: number
  readonly columns: number
  readonly starts: Int32Array
  readonly indexes: Int32Array
  readonly values: Float32Array
}

const shapeColumns = shapeNames.length

/** How much a bucket tells: rare ones more; 0 for those of fewer texts than `minTexts`. */
export const weightsOf = (texts: ReadonlyArray<string>, minTexts = 2): Float32Array => {
  const documents = new Float64Array(buckets)
  for (const text of texts) {
    const { buckets: found, size } = featuresOf(text)
    for (let at = 0; at < size; at++) documents[found[at] ?? 0] = (documents[found[at] ?? 0] ?? 0) + 1
  }
  return Float32Array.from(documents, (count) =>
    count < minTexts ? 0 : Math.log((1 + texts.length) / (1 + count)) + 0.1
  )
}

export const matrixOf = (texts: ReadonlyArray<string>, weights: Float32Array): Matrix => {
  const starts = new Int32Array(texts.length + 1)
  let capacity = texts.length * 512
  let indexes = new Int32Array(capacity)
  let values = new Float32Array(capacity)
  let end = 0
  texts.forEach((text, row) => {
    const { buckets: found, counts, shape, size } = featuresOf(text)
    if (end + size + shapeColumns > capacity) {
      capacity = Math.max(capacity * 2, end + size + shapeColumns)
      const wider = new Int32Array(capacity)
      wider.set(indexes)
      indexes = wider
      const larger = new Float32Array(capacity)
      larger.set(values)
      values = larger
    }
    const start = end
    let sum = 0
    for (let at = 0; at < size; at++) {
      const bucket = found[at] ?? 0
      const weight = weights[bucket] ?? 0
      if (weight === 0) continue
      const value = termWeight(counts[at] ?? 1) * weight
      indexes[end] = bucket
      values[end++] = value
      sum += value * value
    }
    const norm = sum === 0 ? 0 : 1 / Math.sqrt(sum)
    for (let at = start; at < end; at++) values[at] = (values[at] ?? 0) * norm
    for (let at = 0; at < shapeColumns; at++) {
      const value = shape[at] ?? 0
      if (value === 0) continue
      indexes[end] = buckets + at
      values[end++] = value * shapeScale
    }
    starts[row + 1] = end
  })
  return { rows: texts.length, columns, starts, indexes: indexes.slice(0, end), values: values.slice(0, end) }
}

/** `X·W`: `weights` and the result have `outputs` numbers per row. */
export const times = (matrix: Matrix, weights: Float64Array, outputs: number): Float64Array => {
  const { indexes, rows, starts, values } = matrix
  const result = new Float64Array(rows * outputs)
  for (let row = 0; row < rows; row++) {
    const to = row * outputs
    for (let at = starts[row] ?? 0; at < (starts[row + 1] ?? 0); at++) {
      const from = (indexes[at] ?? 0) * outputs
      const value = values[at] ?? 0
      for (let k = 0; k < outputs; k++) result[to + k] = (result[to + k] ?? 0) + value * (weights[from + k] ?? 0)
    }
  }
  return result
}

/** `Xᵀ·R`. */
export const timesTransposed = (matrix: Matrix, right: Float64Array, outputs: number): Float64Array => {
  const { columns, indexes, rows, starts, values } = matrix
  const result = new Float64Array(columns * outputs)
  for (let row = 0; row < rows; row++) {
    const from = row * outputs
    for (let at = starts[row] ?? 0; at < (starts[row + 1] ?? 0); at++) {
      const to = (indexes[at] ?? 0) * outputs
      const value = values[at] ?? 0
      for (let k = 0; k < outputs; k++) result[to + k] = (result[to + k] ?? 0) + value * (right[from + k] ?? 0)
    }
  }
  return result
}

/** The weights that minimise |X·W − Y|² + penalty·|W|², by conjugate gradients, each output by itself. */
export const ridge = (
  matrix: Matrix,
  targets: Float64Array,
  outputs: number,
  penalty: number,
  steps = 12
): Float64Array => {
  const weights = new Float64Array(matrix.columns * outputs)
  const residual = timesTransposed(matrix, targets, outputs)
  const direction = residual.slice()
  const squares = (vector: Float64Array, other: Float64Array): Float64Array => {
    const sums = new Float64Array(outputs)
    for (let at = 0, k = 0; at < vector.length; at++) {
      sums[k] = (sums[k] ?? 0) + (vector[at] ?? 0) * (other[at] ?? 0)
      if (++k === outputs) k = 0
    }
    return sums
  }
  let before = squares(residual, residual)
  const start = before.slice()
  for (let step = 0; step < steps; step++) {
    const image = timesTransposed(matrix, times(matrix, direction, outputs), outputs)
    for (let at = 0; at < image.length; at++) image[at] = (image[at] ?? 0) + penalty * (direction[at] ?? 0)
    const curvature = squares(direction, image)
    const lengths = before.map((value, k) => ((curvature[k] ?? 0) > 0 ? value / (curvature[k] ?? 0) : 0))
    for (let at = 0, k = 0; at < weights.length; at++) {
      weights[at] = (weights[at] ?? 0) + (lengths[k] ?? 0) * (direction[at] ?? 0)
      residual[at] = (residual[at] ?? 0) - (lengths[k] ?? 0) * (image[at] ?? 0)
      if (++k === outputs) k = 0
    }
    const after = squares(residual, residual)
    if (after.every((value, k) => value <= 1e-8 * (start[k] ?? 0))) break
    const turns = after.map((value, k) => ((before[k] ?? 0) > 0 ? value / (before[k] ?? 0) : 0))
    for (let at = 0, k = 0; at < direction.length; at++) {
      direction[at] = (residual[at] ?? 0) + (turns[k] ?? 0) * (direction[at] ?? 0)
      if (++k === outputs) k = 0
    }
    before = after
  }
  return weights
}
