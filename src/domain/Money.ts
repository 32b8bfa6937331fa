import * as Schema from "effect/Schema"
import { promptTokens, type Usage } from "./Usage.ts"

/** Whole micro-USD: 1 000 000 are one dollar. The type of every amount of money, exact below 2^53. */
export const MicroUsd = Schema.Int.pipe(Schema.nonNegative(), Schema.brand("MicroUsd"))
export type MicroUsd = typeof MicroUsd.Type

/** For computed amounts; a negative or fractional one is a broken invariant. */
export const microUsd = (value: number): MicroUsd => {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not an amount of micro-USD: ${value}`)
  return value as MicroUsd
}

export const zero: MicroUsd = microUsd(0)

/** Prices per million tokens in micro-USD. `null` is unknown: a cache rate then falls back to the input rate. */
export interface Rates {
  readonly input: number
  readonly output: number
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
}

/** Rates that hold for the whole call once its prompt is longer than `abovePromptTokens`. */
export interface PriceTier extends Rates {
  readonly abovePromptTokens: number
}

export interface Prices extends Rates {
  /** Ascending by `abovePromptTokens`. */
  readonly tiers: ReadonlyArray<PriceTier>
}

/** The rates of the tier that a prompt of this length falls into. */
export const ratesFor = (prices: Prices, prompt: number): Rates => {
  let rates: Rates = prices
  for (const tier of prices.tiers) if (prompt > tier.abovePromptTokens) rates = tier
  return rates
}

/** Cost of the usage at these prices: summed exactly, rounded up once to a whole micro-USD. */
export const costOf = (prices: Prices, usage: Usage): MicroUsd => {
  const rates = ratesFor(prices, promptTokens(usage))
  return perMillion(
    usage.inputTokens * rates.input +
      usage.cacheReadTokens * (rates.cacheRead ?? rates.input) +
      usage.cacheWriteTokens * (rates.cacheWrite ?? rates.input) +
      (usage.outputTokens + usage.reasoningTokens) * rates.output
  )
}

/** Tokens times micro-USD per million, rounded up to whole micro-USD. */
export const perMillion = (tokensTimesRate: number): MicroUsd => microUsd(Math.ceil(tokensTimesRate / 1_000_000))

/** The highest rate of an input token in a prompt of at most this length (a cache write may cost more than uncached input). */
export const highestInputRate = (prices: Prices, maxPromptTokens: number): number => {
  let highest = Math.max(prices.input, prices.cacheRead ?? 0, prices.cacheWrite ?? 0)
  for (const tier of prices.tiers) {
    if (maxPromptTokens > tier.abovePromptTokens) {
      highest = Math.max(highest, tier.input, tier.cacheRead ?? 0, tier.cacheWrite ?? 0)
    }
  }
  return highest
}

/** The highest rate of an output token after a prompt of at most this length. */
export const highestOutputRate = (prices: Prices, maxPromptTokens: number): number => {
  let highest = prices.output
  for (const tier of prices.tiers) {
    if (maxPromptTokens > tier.abovePromptTokens) highest = Math.max(highest, tier.output)
  }
  return highest
}
