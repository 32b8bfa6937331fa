import { type Capability, followsSchemas, type Model } from "../../domain/Model.ts"
import type { Parameter } from "../../domain/Support.ts"
import { listedPrices, noPrice } from "./ListedPrices.ts"
import { isSelectable, reasoningOf } from "./ListedReasoning.ts"
import { type Listing, listingOf, listings, minOf, type RoutingEntry } from "./Listing.ts"
import type { ModelEntry, ModelList } from "./ModelListSchema.ts"

/**
 * The body of `GET /v1/models`: OpenAI's list, with the additional fields that clients of multi-provider routers read. `path` is
 * where it is served.
 */
export const modelList = (
  models: ReadonlyArray<Model>,
  configurations: ReadonlyArray<RoutingEntry>,
  path: string
): string => {
  const data = listings(models, configurations).map((listing) => entry(listing, path))
  const list: ModelList = { object: "list", data, links: { next: null }, total_count: data.length }
  return JSON.stringify(list)
}

/** The body of `GET /v1/models/{id}`: the entry of the list at `path`; `undefined` where there is none. */
export const modelEntry = (
  models: ReadonlyArray<Model>,
  configurations: ReadonlyArray<RoutingEntry>,
  id: string,
  path: string
): string | undefined => {
  const found = listingOf(models, configurations, id)
  return found && JSON.stringify(entry(found, path))
}

const entry = (listing: Listing, path: string): ModelEntry =>
  listing._tag === "Routed" ? routed(listing, path) : concrete(listing.model, path)

const routed = ({ id, name, pool }: Extract<Listing, { _tag: "Routed" }>, path: string): ModelEntry => ({
  ...identity(id, name, path),
  created: 0,
  owned_by: "gateway",
  description: `Routes each request to the best eligible ${id === "auto" ? "model" : "model of this configuration"}.`,
  ...limits(
    minOf(pool, (model) => model.contextTokens),
    minOf(pool, (model) => model.outputTokens)
  ),
  architecture: architecture((capability) => pool.some((model) => model.capabilities[capability] === true)),
  pricing: { prompt: noPrice, completion: noPrice },
  supported_parameters: portable
})

const concrete = (model: Model, path: string): ModelEntry => ({
  ...identity(model.id, model.displayName, path),
  created: model.createdSeconds,
  owned_by: model.providerId,
  ...limits(model.contextTokens, model.outputTokens),
  architecture: architecture((capability) => model.capabilities[capability] === true),
  pricing: listedPrices(model.prices),
  supported_parameters: supported(model),
  ...(model.knowledgeCutoff === null ? {} : { knowledge_cutoff: model.knowledgeCutoff }),
  ...reasoningOf(model)
})

const identity = (id: string, name: string, path: string) => ({
  id,
  object: "model" as const,
  canonical_slug: id,
  name,
  per_request_limits: null,
  default_parameters: null,
  supported_voices: null,
  links: { details: path }
})

const limits = (contextTokens: number | null, outputTokens: number | null) => ({
  context_length: contextTokens,
  top_provider: {
    is_moderated: false,
    context_length: contextTokens,
    ...(outputTokens === null ? {} : { max_completion_tokens: outputTokens })
  }
})

const architecture = (has: (capability: Capability) => boolean) => {
  const input = [
    "text",
    ...(has("vision") ? ["image"] : []),
    ...(has("audio-input") ? ["audio"] : []),
    ...(has("file-input") ? ["file"] : [])
  ]
  return {
    modality: `${input.join("+")}->text`,
    input_modalities: input,
    output_modalities: ["text"],
    tokenizer: "Other",
    instruct_type: null
  }
}

const caps = ["max_tokens", "max_completion_tokens"] as const

/** Parameters with the same meaning for every model. */
const portable: ReadonlyArray<string> = [...caps, "temperature", "top_p", "stop", "tools", "tool_choice"]

/** Parameters of the lists' common vocabulary, with the capability that each one needs. */
const vocabulary: ReadonlyArray<readonly [parameter: Parameter, needs: Capability | null]> = [
  ["temperature", "sampling"],
  ["top_p", "sampling"],
  ["stop", null],
  ["frequency_penalty", "sampling"],
  ["presence_penalty", "sampling"],
  ["seed", null],
  ["tools", "tools"],
  ["tool_choice", "tools"],
  ["parallel_tool_calls", "tools"],
  ["response_format", null],
  ["logprobs", "logprobs"],
  ["top_logprobs", "logprobs"],
  ["prediction", null],
  ["verbosity", null],
  ["web_search_options", null]
]

const supported = (model: Model): ReadonlyArray<string> => {
  const names: Array<string> = [...caps]
  for (const [parameter, needs] of vocabulary) {
    if (takes(model, parameter) && (needs === null || has(model, needs))) names.push(parameter)
  }
  if (followsSchemas(model)) names.push("structured_outputs")
  if (model.reasoning !== null && isSelectable(model.reasoning)) {
    names.push("reasoning", "include_reasoning", "reasoning_effort")
  }
  return names
}

const takes = (model: Model, parameter: Parameter): boolean =>
  model.support[parameter] === "native" || model.support[parameter] === "translated"

/** Sampling counts as supported unless the source denies it; other capabilities must be documented. */
const has = (model: Model, capability: Capability): boolean =>
  capability === "sampling" ? model.capabilities.sampling !== false : model.capabilities[capability] === true
