/** `npm run promises` runs the same tests in their long form and collects the figures that they print. */
export const isLong = process.env["PROMISES"] === "long"

export const inLong = <A>(long: A, short: A): A => (isLong ? long : short)

/** One line of evidence, printed in the long form only. */
export const figure = (name: string, value: number | string): void => {
  if (isLong) console.log(`figure: ${name}: ${value}`)
}

export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
