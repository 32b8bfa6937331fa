import { type MicroUsd, microUsd, perMillion } from "./Money.ts"
import { feeOf, highestAudioRate, highestInputRate, highestOutputRate, type Prices, type PriceTerms } from "./Prices.ts"

/** The upper bound of a prompt's length at one model. */
export interface BoundedPrompt {
  /** With its audio. */
  readonly promptTokens: number
  readonly audioTokens: number
}

/** What a call may cost at most: every token at the highest rate that can apply to it. */
export const highestCost = (
  prices: Prices,
  terms: PriceTerms,
  prompt: BoundedPrompt,
  outputTokens: number
): MicroUsd => {
  const tokens = perMillion(
    promptProduct(prices, terms, prompt) + outputTokens * highestOutputRate(prices, prompt.promptTokens, terms)
  )
  return terms.webSearch ? microUsd(tokens + feeOf(prices, terms)) : tokens
}

/** Output tokens that the amount pays for beside the prompt; none or fewer where it does not pay for the prompt. */
export const payableOutputTokens = (
  amount: number,
  prices: Prices,
  terms: PriceTerms,
  prompt: BoundedPrompt
): number => {
  const left = (amount - feeOf(prices, terms)) * 1_000_000 - promptProduct(prices, terms, prompt)
  const rate = highestOutputRate(prices, prompt.promptTokens, terms)
  return rate === 0 ? (left < 0 ? 0 : Number.POSITIVE_INFINITY) : Math.floor(left / rate)
}

/** Tokens of the prompt times the highest rates that can apply to them. */
const promptProduct = (prices: Prices, terms: PriceTerms, { audioTokens, promptTokens }: BoundedPrompt): number => {
  const inputRate = highestInputRate(prices, promptTokens, terms)
  if (audioTokens === 0) return promptTokens * inputRate
  const audioRate = Math.max(inputRate, highestAudioRate(prices, promptTokens, terms))
  return (promptTokens - audioTokens) * inputRate + audioTokens * audioRate
}
