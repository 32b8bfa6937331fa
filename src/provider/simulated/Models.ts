import type { Model, Reasoning } from "../../domain/Model.ts"
import type { ProviderFailure } from "../../domain/ProviderError.ts"
import type { SupportTable } from "../../domain/Support.ts"
import { all, everyParameter } from "../protocols/shared/SupportTables.ts"
import { cacheReadDivisor, cacheRules } from "./PromptCache.ts"

/** How a simulated model behaves in time. */
export interface Pace {
  readonly firstMillis: number
  readonly tokenMillis: number
}

/** How a failing simulated model fails, after `afterTokens` tokens of its output. */
export interface SimulatedFault {
  readonly afterTokens: number
  /** `null`: the model sends nothing more. */
  readonly failure: ProviderFailure | null
}

export interface SimulatedModel {
  readonly model: Model
  readonly pace: Pace
  readonly fault: SimulatedFault | undefined
}

/** Supports every parameter; most are ignored. */
export const support: SupportTable = {
  ...everyParameter,
  ...all("refused", "modalities", "audio"),
  response_format: "translated",
  ...all(
    "dropped",
    "verbosity",
    "service_tier",
    "store",
    "metadata",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "prediction",
    "moderation",
    "web_search_options",
    "cache_control"
  )
}

const efforts: Reasoning = {
  efforts: ["none", "low", "medium", "high"],
  style: "effort",
  budget: null,
  defaultEffort: "none",
  mandatory: false,
  depth: null
}

const depth: Reasoning = {
  efforts: ["low", "medium", "high", "xhigh", "max"],
  style: "effort",
  budget: null,
  defaultEffort: "medium",
  mandatory: true,
  depth: { min: 1, max: 100 }
}

const model = (
  id: `${string}/${string}`,
  displayName: string,
  quality: number,
  input: number,
  output: number,
  more: Partial<Model> = {}
): Model => {
  const [providerId, name] = [id.slice(0, id.indexOf("/")), id.slice(id.indexOf("/") + 1)]
  return {
    id,
    providerId,
    upstreamModel: name,
    alias: name,
    displayName,
    createdSeconds: 1_767_225_600,
    protocol: "simulated",
    prices: { input, output, cacheRead: input / cacheReadDivisor, cacheWrite: null, tiers: [] },
    cache: cacheRules,
    contextTokens: 200_000,
    inputTokens: null,
    outputTokens: 16_384,
    imageTokens: 85,
    quality,
    capabilities: {
      tools: true,
      vision: true,
      "structured-output": true,
      sampling: true,
      logprobs: true,
      "audio-input": true,
      "file-input": true,
      "image-url": true
    },
    reasoning: null,
    reasonsByDefault: false,
    toolsForbidEffort: false,
    profile: { effort: null, maxOutputTokens: null, apiVersion: null },
    support,
    billsAbortedCalls: true,
    listed: true,
    knowledgeCutoff: null,
    ...more
  }
}

const quick: Pace = { firstMillis: 15, tokenMillis: 2 }

/**
 * Prices and qualities are like those of models that are sold: at fifty times the price, one is better by far in what is hard, and
 * by little in what is easy. `auto` at its default alpha therefore has a reason for each of them.
 */
const listed: ReadonlyArray<SimulatedModel> = [
  { model: model("sim/fast", "Simulated Fast", 0.72, 100_000, 400_000), pace: quick, fault: undefined },
  {
    model: model("sim/balanced", "Simulated Balanced", 0.82, 1_000_000, 4_000_000, { reasoning: efforts }),
    pace: { firstMillis: 40, tokenMillis: 4 },
    fault: undefined
  },
  {
    model: model("sim/best", "Simulated Best", 0.875, 5_000_000, 25_000_000, { reasoning: efforts }),
    pace: { firstMillis: 80, tokenMillis: 6 },
    fault: undefined
  },
  {
    model: model("sim/deep", "Simulated Deep", 0.85, 2_000_000, 8_000_000, {
      reasoning: depth,
      reasonsByDefault: true
    }),
    pace: { firstMillis: 40, tokenMillis: 3 },
    fault: undefined
  },
  {
    model: model("sim2/balanced", "Simulated Balanced, elsewhere", 0.82, 1_200_000, 4_800_000, { reasoning: efforts }),
    pace: { firstMillis: 50, tokenMillis: 5 },
    fault: undefined
  },
  {
    model: model("sim2/deep", "Simulated Deep, elsewhere", 0.85, 2_200_000, 8_800_000, {
      reasoning: depth,
      reasonsByDefault: true
    }),
    pace: { firstMillis: 50, tokenMillis: 4 },
    fault: undefined
  }
]

const misbehaving = (name: string, failure: ProviderFailure | null, afterTokens = 0): SimulatedModel => ({
  model: model(`sim/${name}`, `Simulated: ${name}`, 0.3, 100_000, 400_000, { listed: false }),
  pace: quick,
  fault: { afterTokens, failure }
})

const unlisted: ReadonlyArray<SimulatedModel> = [
  misbehaving("fail", { _tag: "ServerError", status: 500 }),
  misbehaving("fail-mid", { _tag: "ServerError", status: 500 }, 3),
  misbehaving("unreachable", { _tag: "Unreachable", detail: "refused" }),
  misbehaving("connect-timeout", { _tag: "ConnectTimeout" }),
  misbehaving("rate-limited", { _tag: "RateLimited", retryAfterMillis: 5_000 }),
  misbehaving("overloaded", { _tag: "Overloaded", retryAfterMillis: null }),
  misbehaving("quota", { _tag: "QuotaExhausted" }),
  misbehaving("bad-credential", { _tag: "CredentialRejected" }),
  misbehaving("gone", { _tag: "ModelGone" }),
  misbehaving("stall", null),
  misbehaving("stall-mid", null, 3),
  misbehaving("cut", { _tag: "Disconnected" }),
  misbehaving("cut-mid", { _tag: "Disconnected" }, 3),
  misbehaving("malformed", { _tag: "BadResponse", detail: "an event that is not a JSON object" }),
  misbehaving("malformed-mid", { _tag: "BadResponse", detail: "an event that is not a JSON object" }, 3),
  misbehaving("empty", { _tag: "EmptyCompletion" }),
  misbehaving("reject", {
    _tag: "RequestRejected",
    message: "The simulated provider rejects every request.",
    param: null
  }),
  misbehaving("refuse", { _tag: "ContentPolicy", message: "The simulated provider's content policy forbids this." }),
  misbehaving("context", { _tag: "ContextLengthExceeded", message: "The prompt is too long for the simulated model." }),
  {
    model: model("sim/slow", "Simulated: slow", 0.3, 100_000, 400_000, { listed: false }),
    pace: { firstMillis: 3_000, tokenMillis: 250 },
    fault: undefined
  }
]

export const simulatedModels: ReadonlyArray<SimulatedModel> = [...listed, ...unlisted]

/** The catalog entries: listed models, which `auto` may choose, and models that are callable by id only. */
export const models: ReadonlyArray<Model> = simulatedModels.map((simulated) => simulated.model)
