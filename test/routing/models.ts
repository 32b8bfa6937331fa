import type { ChatRequest, RoutingControls, RoutingRestrictions } from "../../src/domain/Chat.ts"
import type { Model } from "../../src/domain/Model.ts"
import type { Prices } from "../../src/domain/Prices.ts"
import type { SupportTable } from "../../src/domain/Support.ts"
import type { ProjectPolicy, RoutingConfiguration } from "../../src/policy/Policy.ts"
import { isPinned } from "../../src/routing/ModelPool.ts"
import { figuresBy, sameFigure } from "../../src/routing/ModelTable.ts"
import { featuresOf } from "../../src/routing/RequestFeatures.ts"
import type { RouteHealth } from "../../src/routing/RouteHealth.ts"
import { chatRequest, unrestricted } from "../support/ChatRequests.ts"
import { modelOf } from "../support/Models.ts"

/** A route that does everything, by its id; tests take away what they are about. */
export const model = (id: string, more: Partial<Model> = {}): Model =>
  modelOf(id, {
    prices: { ...prices(1_000_000, 4_000_000), audioInput: 2_000_000, audioOutput: 8_000_000 },
    support: everythingNative,
    ...more
  })

export const prices = (input: number, output: number, tiers: Prices["tiers"] = []): Prices => ({
  input,
  output,
  cacheRead: null,
  cacheWrite: null,
  tiers
})

export const supporting = (exceptions: Partial<SupportTable>): SupportTable => ({ ...everythingNative, ...exceptions })

export const everythingNative: SupportTable = {
  tools: "native",
  tool_choice: "native",
  "tool_choice.required": "native",
  response_format: "native",
  "response_format.json_schema": "native",
  "response_format.tools": "native",
  "response_format.json_schema.stream": "native",
  modalities: "native",
  audio: "native",
  logprobs: "native",
  top_logprobs: "native",
  reasoning_effort: "native",
  "stop[1]": "native",
  temperature: "native",
  top_p: "native",
  top_k: "native",
  stop: "native",
  frequency_penalty: "native",
  presence_penalty: "native",
  seed: "native",
  verbosity: "native",
  service_tier: "native",
  store: "native",
  metadata: "native",
  user: "native",
  safety_identifier: "native",
  prompt_cache_key: "native",
  prompt_cache_options: "native",
  prompt_cache_retention: "native",
  prediction: "native",
  moderation: "native",
  web_search_options: "native",
  parallel_tool_calls: "native",
  cache_control: "native",
  "messages.name": "native"
}

export const open: RoutingRestrictions = {
  models: { allow: null, deny: [] },
  providers: { allow: null, deny: [] },
  maxInputPriceMicroUsdPerMillion: null,
  maxOutputPriceMicroUsdPerMillion: null
}

export const project = (more: Partial<ProjectPolicy> = {}): ProjectPolicy => ({
  ...open,
  version: 7,
  defaultAlpha: null,
  enableFallback: true,
  ...more
})

export const configuration = (more: Partial<RoutingConfiguration> = {}): RoutingConfiguration => ({
  ...open,
  id: "8c1c6f5e-0000-7000-8000-000000000001",
  slug: "cheap",
  alpha: null,
  enableFallback: true,
  isActive: true,
  ...more
})

export const controls = (more: Partial<RoutingControls> = {}): RoutingControls => ({ ...unrestricted, ...more })

export const request = chatRequest

export const healthy: RouteHealth = { failure: 0.05, openUntilMillis: 0, latencyMillis: null }

/** What a ranking expects of a request where every model has its own quality for any prompt. */
export const expected = (asked: ChatRequest, promptTokens: number, imagesAndFiles = 0) => ({
  features: featuresOf(asked, isPinned(asked.model), promptTokens, [], undefined, imagesAndFiles),
  quality: figuresBy(({ quality }) => quality),
  outputTokens: sameFigure(400)
})
