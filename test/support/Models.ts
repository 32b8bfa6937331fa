import type { Model } from "../../src/domain/Model.ts"

/** Everything that a model may take. */
export const everyCapability: Model["capabilities"] = {
  tools: true,
  vision: true,
  "structured-output": true,
  sampling: true,
  logprobs: true,
  "audio-input": true,
  "file-input": true,
  "image-url": true
}

/** A listed route without reasoning that takes everything, by its id, but for what is given here. */
export const modelOf = (id: string, more: Partial<Model> & Pick<Model, "support">): Model => {
  const slash = id.indexOf("/")
  const name = id.slice(slash + 1)
  return {
    id,
    providerId: id.slice(0, slash),
    upstreamModel: name,
    alias: name,
    displayName: id,
    createdSeconds: 0,
    protocol: "openai-chat",
    prices: { input: 1_000_000, output: 2_000_000, cacheRead: null, cacheWrite: null, tiers: [] },
    contextTokens: 100_000,
    inputTokens: null,
    outputTokens: 10_000,
    imageTokens: 1_000,
    quality: 0.5,
    capabilities: everyCapability,
    reasoning: null,
    reasonsByDefault: false,
    toolsForbidEffort: false,
    profile: { effort: null, maxOutputTokens: null, apiVersion: null },
    billsAbortedCalls: false,
    listed: true,
    knowledgeCutoff: null,
    ...more
  }
}
