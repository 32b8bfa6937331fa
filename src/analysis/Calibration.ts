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
