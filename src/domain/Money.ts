import * as Schema from "effect/Schema"

/** Whole micro-USD: 1 000 000 are one dollar. The type of every amount of money, exact below 2^53. */
export const MicroUsd = Schema.Int.pipe(Schema.nonNegative(), Schema.brand("MicroUsd"))
export type MicroUsd = typeof MicroUsd.Type

export const isMicroUsd = (value: number): value is MicroUsd => Number.isSafeInteger(value) && value >= 0

/** For computed amounts; a negative or fractional one is a broken invariant. */
export const microUsd = (value: number): MicroUsd => {
  if (!isMicroUsd(value)) throw new RangeError(`not an amount of micro-USD: ${value}`)
  return value
}

export const zero: MicroUsd = microUsd(0)

/** Tokens times micro-USD per million, rounded up to whole micro-USD. */
export const perMillion = (tokensTimesRate: number): MicroUsd => microUsd(Math.ceil(tokensTimesRate / 1_000_000))

/** For people: dollars and cents, and further digits where they say something. */
export const inDollars = (microUsdAmount: number): string => {
  const amount = Math.abs(microUsdAmount)
  const digits = String(amount % 1_000_000).padStart(6, "0")
  let end = digits.length
  while (end > 2 && digits[end - 1] === "0") end--
  return `${microUsdAmount < 0 ? "-" : ""}$${Math.floor(amount / 1_000_000)}.${digits.slice(0, end)}`
}
