import type { ChatRequest, RoutingControls } from "../../src/domain/Chat.ts"

/** Narrows nothing. */
export const unrestricted: RoutingControls = {
  models: { allow: null, deny: [] },
  providers: { allow: null, deny: [] },
  routingConfig: undefined,
  alpha: undefined,
  maxInputPriceMicroUsdPerMillion: undefined,
  maxOutputPriceMicroUsdPerMillion: undefined,
  enableFallback: undefined
}

/** A plain request that says hi to `auto` and asks for nothing else, but for what is given here. */
export const chatRequest = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: "auto",
  messages: [{ role: "user", content: "hi" }],
  tools: [],
  toolChoice: undefined,
  stream: false,
  includeUsage: false,
  tokenDoctor: false,
  maxOutputTokens: undefined,
  temperature: undefined,
  topP: undefined,
  stop: [],
  frequencyPenalty: undefined,
  presencePenalty: undefined,
  seed: undefined,
  logprobs: undefined,
  topLogprobs: undefined,
  parallelToolCalls: undefined,
  responseFormat: undefined,
  effort: undefined,
  reasoning: { maxTokens: undefined, summary: undefined, exclude: false },
  verbosity: undefined,
  serviceTier: undefined,
  metadata: undefined,
  store: undefined,
  safetyIdentifier: undefined,
  promptCacheKey: undefined,
  promptCacheOptions: undefined,
  promptCacheRetention: undefined,
  prediction: undefined,
  modalities: undefined,
  audio: undefined,
  moderation: undefined,
  webSearchOptions: undefined,
  user: undefined,
  routing: unrestricted,
  ...more
})
