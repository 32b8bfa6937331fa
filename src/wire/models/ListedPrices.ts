import type { Prices } from "../../domain/Prices.ts"

/** The price of entries without a single or known price. */
export const noPrice = "-1"

interface ListedPrices {
  readonly prompt: string
  readonly completion: string
  readonly input_cache_read?: string
  readonly input_cache_write?: string
}

export const listedPrices = (prices: Prices | null): ListedPrices =>
  prices === null
    ? { prompt: noPrice, completion: noPrice }
    : {
        prompt: usdPerToken(prices.input),
        completion: usdPerToken(prices.output),
        ...(prices.cacheRead === null ? {} : { input_cache_read: usdPerToken(prices.cacheRead) }),
        ...(prices.cacheWrite === null ? {} : { input_cache_write: usdPerToken(prices.cacheWrite) })
      }

/** Micro-USD per million tokens are 10^-12 USD per token. */
const places = 12

/** USD per token as an exact decimal without an exponent: the decimal point is moved in the text, without division. */
export const usdPerToken = (microUsdPerMillion: number): string => {
  const [mantissa = "0", exponent = "0"] = String(microUsdPerMillion).split("e")
  const [whole = "0", fraction = ""] = mantissa.split(".")
  const digits = whole + fraction
  const scale = fraction.length + places - Number(exponent)
  if (scale <= 0) return trimmed(digits + "0".repeat(-scale), "")
  const padded = digits.padStart(scale + 1, "0")
  return trimmed(padded.slice(0, -scale), padded.slice(-scale))
}

const trimmed = (whole: string, fraction: string): string => {
  let digits = fraction.length
  while (fraction.endsWith("0", digits)) digits--
  const kept = fraction.slice(0, digits)
  const start = whole.replace(/^0+(?=\d)/, "")
  return kept === "" ? start : `${start}.${kept}`
}
