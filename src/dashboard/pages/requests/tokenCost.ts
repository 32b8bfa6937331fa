import type { Records } from "../../api/client.ts"

type Prices = NonNullable<Records["CatalogModelOut"]["prices"]>
type Usage = NonNullable<Records["RequestOut"]["usage"]>

/** What these tokens cost at these prices, in micro-USD; a longer prompt falls into a tier. */
export const tokenCost = (usage: Usage, prices: Prices): number => {
  const tier = [...prices.tiers].reverse().find((each) => usage.prompt_tokens > each.above_prompt_tokens) ?? prices
  const { cache_write_tokens = 0, cached_tokens = 0 } = usage.prompt_tokens_details
  const plain = Math.max(0, usage.prompt_tokens - cached_tokens - cache_write_tokens)
  const perMillion =
    plain * tier.input +
    cached_tokens * (tier.cache_read ?? tier.input) +
    cache_write_tokens * (tier.cache_write ?? tier.input) +
    usage.completion_tokens * tier.output
  return Math.ceil(perMillion / 1_000_000)
}
