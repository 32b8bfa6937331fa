import { type MicroUsd, microUsd, perMillion } from "./Money.ts"
import { promptTokens, type Usage } from "./Usage.ts"

/**
 * Prices per million tokens in micro-USD. `null` and absent are unknown: a cache rate then falls back to the input rate, and
 * audio is not sold where the customer is charged. Images are tokens of the prompt.
 */
export interface Rates {
  /** Of the prompt. */
  readonly input: number
  /** Of the completion, reasoning included. */
  readonly output: number
  /** Of prompt tokens that are read from the provider's cache. */
  readonly cacheRead: number | null
  /** Of prompt tokens that are written to it. */
  readonly cacheWrite: number | null
  /** Audio in the prompt. */
  readonly audioInput?: number | null
  /** Audio in the completion. */
  readonly audioOutput?: number | null
}

/** Rates that hold for the whole call once its prompt is longer than `abovePromptTokens`. */
export interface PriceTier extends Rates {
  /** Longer prompts have these rates. */
  readonly abovePromptTokens: number
}

/** The rates of one service tier. */
export interface PriceList extends Rates {
  /** Ascending by `abovePromptTokens`. */
  readonly tiers: ReadonlyArray<PriceTier>
}

/** The list of the provider's standard service tier, and what else a call may be charged for. */
export interface Prices extends PriceList {
  /** Other service tiers, by the name that requests have for them. */
  readonly serviceTiers?: Readonly<Record<string, PriceList>>
  /** What web search adds to one call, in micro-USD; `null` and absent are unknown. */
  readonly webSearchMicroUsd?: number | null
}

/** What a call asks for besides tokens of text: it decides which prices apply. */
export interface PriceTerms {
  /** `null` is the provider's standard tier. */
  readonly serviceTier: string | null
  /** The provider searches the web. */
  readonly webSearch: boolean
  /** The answer is audio. */
  readonly audioOutput: boolean
}

export const plainTerms: PriceTerms = { serviceTier: null, webSearch: false, audioOutput: false }

/** Names of the standard tier, in requests and in responses. */
const standardTiers: ReadonlySet<string> = new Set(["auto", "default", "on_demand", "standard", "standard_only"])

export const isStandardTier = (serviceTier: string): boolean => standardTiers.has(serviceTier)

/** `undefined` where the tier has no price. */
export const listOfTier = (prices: Prices, serviceTier: string): PriceList | undefined => {
  const { serviceTiers } = prices
  // a name comes from a request: `constructor` is in every object
  return serviceTiers !== undefined && Object.hasOwn(serviceTiers, serviceTier) ? serviceTiers[serviceTier] : undefined
}

/** The list of the requested service tier, the standard one where that has no price. */
export const listOf = (prices: Prices, { serviceTier }: PriceTerms): PriceList =>
  serviceTier === null ? prices : (listOfTier(prices, serviceTier) ?? prices)

/** A provider may serve a call in its standard tier, and reports it; a tier that was not requested does not raise the price. */
export const servedTerms = (terms: PriceTerms, servedTier: string | undefined): PriceTerms =>
  terms.serviceTier === null || servedTier === undefined || !isStandardTier(servedTier)
    ? terms
    : { ...terms, serviceTier: null }

/** The rates of the tier that a prompt of this length falls into. */
export const ratesFor = (prices: PriceList, prompt: number): Rates => {
  let rates: Rates = prices
  for (const tier of prices.tiers) if (prompt > tier.abovePromptTokens) rates = tier
  return rates
}

/** Cost of the usage at these prices: summed exactly, rounded up once to a whole micro-USD. The SQL `call_cost` is the same. */
export const costOf = (prices: Prices, usage: Usage, terms: PriceTerms = plainTerms): MicroUsd => {
  const rates = ratesFor(listOf(prices, terms), promptTokens(usage))
  const audioInput = Math.min(usage.inputTokens, usage.details.inputAudioTokens)
  const audioOutput = Math.min(usage.outputTokens, usage.details.outputAudioTokens)
  const tokens = perMillion(
    (usage.inputTokens - audioInput) * rates.input +
      audioInput * (rates.audioInput ?? rates.input) +
      usage.cacheReadTokens * (rates.cacheRead ?? rates.input) +
      usage.cacheWriteTokens * (rates.cacheWrite ?? rates.input) +
      (usage.outputTokens - audioOutput + usage.reasoningTokens) * rates.output +
      audioOutput * (rates.audioOutput ?? rates.output)
  )
  return terms.webSearch ? microUsd(tokens + feeOf(prices, terms)) : tokens
}

/** What a call costs besides its tokens, in micro-USD. */
export const feeOf = ({ webSearchMicroUsd }: Prices, { webSearch }: PriceTerms): number =>
  webSearch ? (webSearchMicroUsd ?? 0) : 0

/** The highest rate of an input token in a prompt of at most this length (a cache write may cost more than uncached input). */
export const highestInputRate = (prices: Prices, maxPromptTokens: number, terms: PriceTerms = plainTerms): number =>
  highest(prices, maxPromptTokens, terms, inputRate)

/** The highest rate of a token of audio in a prompt of at most this length. */
export const highestAudioRate = (prices: Prices, maxPromptTokens: number, terms: PriceTerms = plainTerms): number =>
  highest(prices, maxPromptTokens, terms, audioInputRate)

/** The highest rate of an output token after a prompt of at most this length. */
export const highestOutputRate = (prices: Prices, maxPromptTokens: number, terms: PriceTerms = plainTerms): number =>
  highest(prices, maxPromptTokens, terms, terms.audioOutput ? anyOutputRate : textOutputRate)

const inputRate = ({ cacheRead, cacheWrite, input }: Rates): number => Math.max(input, cacheRead ?? 0, cacheWrite ?? 0)
const audioInputRate = ({ audioInput, input }: Rates): number => audioInput ?? input
const textOutputRate = ({ output }: Rates): number => output
const anyOutputRate = ({ audioOutput, output }: Rates): number => Math.max(output, audioOutput ?? 0)

/** Of the standard tier and of the requested one: the provider may serve either. */
const highest = (
  prices: Prices,
  maxPromptTokens: number,
  terms: PriceTerms,
  rateOf: (rates: Rates) => number
): number => {
  const requested = listOf(prices, terms)
  const standard = highestIn(prices, maxPromptTokens, rateOf)
  return requested === prices ? standard : Math.max(standard, highestIn(requested, maxPromptTokens, rateOf))
}

const highestIn = (list: PriceList, maxPromptTokens: number, rateOf: (rates: Rates) => number): number => {
  let rate = rateOf(list)
  for (const tier of list.tiers) if (maxPromptTokens > tier.abovePromptTokens) rate = Math.max(rate, rateOf(tier))
  return rate
}

/** Lists do not change: the text of each is written once, not for every call. */
const texts = new WeakMap<PriceList, string>()

/** The prices of one call as JSON, as they are recorded with it: its charge can be proved once they have changed. */
export const snapshotOf = (prices: Prices, terms: PriceTerms): string => {
  const list = listOf(prices, terms)
  if (terms.webSearch) return textOf(list, prices, terms)
  let text = texts.get(list)
  if (text === undefined) {
    text = textOf(list, prices, terms)
    texts.set(list, text)
  }
  return text
}

const textOf = (list: PriceList, prices: Prices, terms: PriceTerms): string =>
  JSON.stringify({
    ...known(list),
    ...(list.tiers.length === 0
      ? {}
      : { tiers: list.tiers.map((tier) => ({ abovePromptTokens: tier.abovePromptTokens, ...known(tier) })) }),
    ...(list === prices ? {} : { serviceTier: terms.serviceTier }),
    ...(terms.webSearch ? { webSearchMicroUsd: feeOf(prices, terms) } : {})
  })

const known = ({ audioInput, audioOutput, cacheRead, cacheWrite, input, output }: Rates) => ({
  input,
  output,
  ...(cacheRead === null ? {} : { cacheRead }),
  ...(cacheWrite === null ? {} : { cacheWrite }),
  ...(audioInput === null || audioInput === undefined ? {} : { audioInput }),
  ...(audioOutput === null || audioOutput === undefined ? {} : { audioOutput })
})
