import type { Model } from "../../../src/domain/Model.ts"
import { type Support, type SupportTable, shapingParameters, tuningParameters } from "../../../src/domain/Support.ts"

const everywhere = (support: Support): SupportTable =>
  Object.fromEntries([...shapingParameters, ...tuningParameters].map((name) => [name, support])) as SupportTable

export const model = (id: string, more: Partial<Model> = {}): Model => ({
  id,
  providerId: id.slice(0, id.indexOf("/")),
  upstreamModel: id.slice(id.indexOf("/") + 1),
  alias: id.slice(id.indexOf("/") + 1),
  displayName: `The ${id}`,
  createdSeconds: 1_795_000_000,
  protocol: "openai-chat",
  prices: { input: 2_500_000, output: 10_000_000, cacheRead: 250_000, cacheWrite: null, tiers: [] },
  contextTokens: 200_000,
  inputTokens: null,
  outputTokens: 64_000,
  imageTokens: 3_000,
  quality: 0.8,
  capabilities: {
    tools: true,
    vision: true,
    "structured-output": true,
    sampling: true,
    logprobs: false,
    "audio-input": null,
    "file-input": false,
    "image-url": true
  },
  reasoning: null,
  reasonsByDefault: false,
  toolsForbidEffort: false,
  profile: { effort: null, maxOutputTokens: null, apiVersion: null },
  support: { ...everywhere("native"), verbosity: "dropped", web_search_options: "refused", seed: "translated" },
  billsAbortedCalls: false,
  listed: true,
  knowledgeCutoff: null,
  ...more
})

export const reasoning = (more: Partial<NonNullable<Model["reasoning"]>> = {}): NonNullable<Model["reasoning"]> => ({
  efforts: ["none", "low", "medium", "high"],
  style: "effort",
  budget: null,
  defaultEffort: "medium",
  mandatory: false,
  depth: null,
  ...more
})
