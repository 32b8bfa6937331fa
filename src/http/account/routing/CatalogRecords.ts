import type { Model } from "../../../domain/Model.ts"
import type { PriceList } from "../../../domain/Prices.ts"
import type { HealthShape } from "../../../routing/Health.ts"
import type { RouteHealth } from "../../../routing/RouteHealth.ts"
import { type CatalogModelOut, type CatalogParameters, catalogCursor } from "../../../wire/account/Models.ts"
import type { Page } from "../../../wire/account/Page.ts"
import { healthOut } from "../../RoutePreview.ts"

/** A page of the catalog, whose models are sorted by id. */
export const catalogPage = (
  models: ReadonlyArray<Model>,
  health: HealthShape,
  nowMillis: number,
  { cursor, limit }: typeof CatalogParameters.Type
): Page<CatalogModelOut> => {
  const found = cursor === undefined ? 0 : models.findIndex(({ id }) => id > cursor)
  const start = found === -1 ? models.length : found
  const shown = models.slice(start, start + limit)
  const last = shown.at(-1)
  const hasMore = last !== undefined && start + limit < models.length
  return {
    items: shown.map((model) => recordOf(model, health.of(model), nowMillis)),
    has_more: hasMore,
    next_cursor: hasMore ? catalogCursor(last.id) : null
  }
}

/** Both, by id in code point order; a model that both have is that of the first. */
export const withModels = (models: ReadonlyArray<Model>, more: ReadonlyArray<Model>): ReadonlyArray<Model> => {
  const known = new Set(models.map(({ id }) => id))
  const added = more.filter(({ id }) => !known.has(id))
  return added.length === 0 ? models : [...models, ...added].sort((one, other) => (one.id < other.id ? -1 : 1))
}

const recordOf = (model: Model, health: RouteHealth, nowMillis: number): CatalogModelOut => ({
  id: model.id,
  provider: model.providerId,
  name: model.displayName,
  alias: model.alias,
  listed: model.listed,
  prices: model.prices === null ? null : pricesOf(model.prices),
  context_tokens: model.contextTokens,
  input_tokens: model.inputTokens,
  output_tokens: model.outputTokens,
  capabilities: model.capabilities,
  reasoning_efforts: model.reasoning === null ? null : model.reasoning.efforts,
  quality: model.quality,
  health: healthOut(health, nowMillis)
})

const pricesOf = ({ cacheRead, cacheWrite, input, output, tiers }: PriceList) => ({
  input,
  output,
  cache_read: cacheRead,
  cache_write: cacheWrite,
  tiers: tiers.map((tier) => ({
    above_prompt_tokens: tier.abovePromptTokens,
    input: tier.input,
    output: tier.output,
    cache_read: tier.cacheRead,
    cache_write: tier.cacheWrite
  }))
})
