import type { SupportTable } from "../../domain/Support.ts"
import { sse } from "../Framing.ts"
import { type Protocol, streaming } from "../Protocol.ts"
import { classify } from "./anthropic-messages/Classify.ts"
import { machine, plain } from "./anthropic-messages/Decode.ts"
import { lower } from "./anthropic-messages/Lower.ts"
import { versionOf } from "./anthropic-messages/Version.ts"

/** `user` and `safety_identifier` share one field; a custom tool is a function of one text. */
const support: SupportTable = {
  tools: "native",
  tool_choice: "translated",
  response_format: "translated",
  modalities: "refused",
  audio: "refused",
  logprobs: "refused",
  top_logprobs: "refused",
  reasoning_effort: "translated",
  temperature: "native",
  top_p: "native",
  stop: "native",
  frequency_penalty: "dropped",
  presence_penalty: "dropped",
  seed: "dropped",
  verbosity: "dropped",
  service_tier: "translated",
  store: "dropped",
  metadata: "dropped",
  user: "translated",
  safety_identifier: "translated",
  prompt_cache_key: "dropped",
  prompt_cache_options: "dropped",
  prompt_cache_retention: "dropped",
  prediction: "dropped",
  moderation: "dropped",
  web_search_options: "dropped",
  parallel_tool_calls: "translated"
}

/** Messages, as Anthropic defined them. */
export const anthropicMessages: Protocol = {
  id: "anthropic-messages",
  support,
  takesCustomTools: true,
  path: () => "/messages",
  headers: (call) => ({ "anthropic-version": versionOf(call.model) }),
  lower,
  plain,
  stream: streaming(sse, machine),
  failure: classify
}
