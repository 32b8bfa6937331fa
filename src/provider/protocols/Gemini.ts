import type { SupportTable } from "../../domain/Support.ts"
import { sse } from "../Framing.ts"
import { type Protocol, streaming } from "../Protocol.ts"
import { classify } from "./gemini/Classify.ts"
import { machine, plain } from "./gemini/Decode.ts"
import { lower } from "./gemini/Lower.ts"
import type { SchemaDialect } from "./gemini/Schema.ts"

/** Google's generateContent, as the Gemini API and Vertex AI speak it. */
export const make = (schemas: SchemaDialect): Protocol => ({
  id: "gemini",
  support,
  takesCustomTools: true,
  path: ({ model, request }) =>
    `/models/${encodeURIComponent(model.upstreamModel)}:${request.stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  headers: () => ({}),
  lower: (call) => lower(call, schemas),
  plain,
  stream: streaming(sse, machine),
  failure: classify
})

/** What has no field of its own here is left out; nothing is sent that would be billed apart from tokens. */
const support: SupportTable = {
  tools: "native",
  tool_choice: "translated",
  response_format: "translated",
  modalities: "refused",
  audio: "refused",
  logprobs: "translated",
  top_logprobs: "translated",
  reasoning_effort: "translated",
  temperature: "native",
  top_p: "native",
  stop: "native",
  frequency_penalty: "native",
  presence_penalty: "native",
  seed: "native",
  verbosity: "dropped",
  service_tier: "dropped",
  store: "dropped",
  metadata: "dropped",
  user: "dropped",
  safety_identifier: "dropped",
  prompt_cache_key: "dropped",
  prompt_cache_options: "dropped",
  prompt_cache_retention: "dropped",
  prediction: "dropped",
  moderation: "dropped",
  web_search_options: "dropped",
  parallel_tool_calls: "dropped"
}
