/** The scores in `values`, from `start` on, become probabilities in place; the higher the sharpness, the more decided. */
export const softmax = (values: Float64Array, start: number, size: number, sharpness: number): void => {
  let highest = Number.NEGATIVE_INFINITY
  for (let k = start; k < start + size; k++) highest = Math.max(highest, values[k] ?? 0)
  let sum = 0
  for (let k = start; k < start + size; k++) {
    const value = Math.exp(sharpness * ((values[k] ?? 0) - highest))
    values[k] = value
    sum += value
  }
  for (let k = start; k < start + size; k++) values[k] = (values[k] ?? 0) / sum
}
