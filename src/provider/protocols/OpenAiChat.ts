import type { SupportTable } from "../../domain/Support.ts"
import { sse } from "../Framing.ts"
import { type Protocol, streaming } from "../Protocol.ts"
import { classify } from "./openai-chat/Classify.ts"
import { machine, plain } from "./openai-chat/Decode.ts"
import { lower } from "./openai-chat/Lower.ts"
import type { Quirks } from "./openai-chat/Quirks.ts"

/** Chat completions, as OpenAI defined them and most vendors copied them. */
export const make = (quirks: Quirks): Protocol => ({
  id: "openai-chat",
  support: { ...support, seed: quirks.seedField === "seed" ? "native" : "translated", ...quirks.support },
  takesCustomTools: quirks.customTools,
  path: () => "/chat/completions",
  headers: () => ({}),
  lower: (call) => lower(call, quirks),
  plain: (call, body) => plain(call, body, quirks),
  stream: streaming(sse, machine(quirks)),
  failure: classify
})

/** It is the format that requests come in: everything has its own field. */
const support: SupportTable = {
  tools: "native",
  tool_choice: "native",
  response_format: "native",
  modalities: "native",
  audio: "native",
  logprobs: "native",
  top_logprobs: "native",
  reasoning_effort: "native",
  temperature: "native",
  top_p: "native",
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
  parallel_tool_calls: "native"
}
