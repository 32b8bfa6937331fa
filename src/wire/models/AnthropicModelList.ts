import * as DateTime from "effect/DateTime"
import type { Effort } from "../../domain/Chat.ts"
import { followsSchemas, type Model } from "../../domain/Model.ts"
import type { AnthropicModelEntry, AnthropicModelList } from "./AnthropicModelListSchema.ts"
import { isSelectable } from "./ListedReasoning.ts"
import { type Listing, listingOf, listings, minOf, type RoutingEntry } from "./Listing.ts"

/** The model list in Anthropic's shape, one page of it as `limit`, `after_id`, `before_id` and `lifecycle` ask for. */
export const anthropicList = (
  models: ReadonlyArray<Model>,
  configurations: ReadonlyArray<RoutingEntry>,
  query: URLSearchParams
): string => JSON.stringify(page(listings(models, configurations).map(entry), query))

/** One entry of the list in Anthropic's shape; `undefined` where there is none. */
export const anthropicEntry = (
  models: ReadonlyArray<Model>,
  configurations: ReadonlyArray<RoutingEntry>,
  id: string
): string | undefined => {
  const found = listingOf(models, configurations, id)
  return found && JSON.stringify(entry(found))
}

/** Also the default limit, so that clients without paging get the complete list. */
const maxEntries = 1_000

/** Invalid query parameters are ignored (this endpoint never returns 400). An unknown cursor yields an empty page. */
const page = (all: ReadonlyArray<AnthropicModelEntry>, query: URLSearchParams): AnthropicModelList => {
  const lifecycles = [...query.getAll("lifecycle"), ...query.getAll("lifecycle[]")]
  const entries = lifecycles.length === 0 || lifecycles.includes("active") ? all : []
  const limit = limitOf(query.get("limit"))
  const [after, before] = [query.get("after_id"), query.get("before_id")]
  if (before !== null && after === null) {
    const end = Math.max(0, positionOf(entries, before))
    const start = Math.max(0, end - limit)
    return pageOf(entries.slice(start, end), start > 0)
  }
  const position = after === null ? -1 : positionOf(entries, after)
  const start = after !== null && position === -1 ? entries.length : position + 1
  return pageOf(entries.slice(start, start + limit), start + limit < entries.length)
}

const positionOf = (entries: ReadonlyArray<AnthropicModelEntry>, id: string): number =>
  entries.findIndex((item) => item.id === id)

const limitOf = (text: string | null): number => {
  const limit = text === null || text === "" ? Number.NaN : Number(text)
  return Number.isInteger(limit) ? Math.min(maxEntries, Math.max(1, limit)) : maxEntries
}

const pageOf = (data: ReadonlyArray<AnthropicModelEntry>, hasMore: boolean): AnthropicModelList => ({
  data,
  has_more: hasMore,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null
})

const entry = (listing: Listing): AnthropicModelEntry =>
  listing._tag === "Routed"
    ? {
        ...facts(listing.id, listing.name, 0),
        max_input_tokens: minOf(listing.pool, promptLimit),
        max_tokens: minOf(listing.pool, (model) => model.outputTokens),
        capabilities: null
      }
    : {
        ...facts(listing.model.id, listing.model.displayName, listing.model.createdSeconds),
        max_input_tokens: promptLimit(listing.model),
        max_tokens: listing.model.outputTokens,
        capabilities: capabilities(listing.model)
      }

const promptLimit = (model: Model): number | null => model.inputTokens ?? model.contextTokens

const facts = (id: string, name: string, createdSeconds: number) => ({
  type: "model" as const,
  id,
  display_name: name,
  created_at: DateTime.formatIso(DateTime.unsafeMake(createdSeconds * 1_000)),
  lifecycle: "active" as const,
  line: null,
  deprecated_at: null,
  retires_at: null
})

const capabilities = (model: Model): NonNullable<AnthropicModelEntry["capabilities"]> => {
  const { reasoning } = model
  const efforts: ReadonlyArray<Effort> = reasoning?.efforts ?? []
  const named = (effort: Effort) => support(efforts.includes(effort))
  return {
    batch: support(false),
    citations: support(false),
    code_execution: support(false),
    context_management: {
      supported: false,
      clear_thinking_20251015: null,
      clear_tool_uses_20250919: null,
      compact_20260112: null
    },
    effort: {
      supported: reasoning !== null && isSelectable(reasoning),
      low: named("low"),
      medium: named("medium"),
      high: named("high"),
      xhigh: named("xhigh"),
      max: named("max")
    },
    image_input: support(model.capabilities.vision === true),
    pdf_input: support(model.capabilities["file-input"] === true),
    server_tools: { supported: false, code_execution: support(false), web_search: support(false) },
    structured_outputs: support(followsSchemas(model)),
    thinking: {
      supported: reasoning !== null || model.reasonsByDefault,
      types: {
        adaptive: support(reasoning?.style === "effort"),
        between_tools: support(false),
        disabled: support(efforts.includes("none")),
        enabled: support(reasoning?.style === "budget")
      }
    }
  }
}

const support = (supported: boolean) => ({ supported })
