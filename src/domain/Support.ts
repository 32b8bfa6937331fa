/** The wire protocols that providers speak. */
export const protocolIds = ["openai-chat", "anthropic-messages", "gemini", "bedrock-converse", "simulated"] as const
export type ProtocolId = (typeof protocolIds)[number]

/**
 * Request parameters that are provider-dependent. The first group shapes the answer: where one is refused, the route is
 * not eligible. The second only tunes it: where one is dropped, the answer says so.
 */
export const shapingParameters = [
  "tools",
  "tool_choice",
  "response_format",
  "modalities",
  "audio",
  "logprobs",
  "top_logprobs",
  "reasoning_effort"
] as const
export const tuningParameters = [
  "temperature",
  "top_p",
  "stop",
  "frequency_penalty",
  "presence_penalty",
  "seed",
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
  "parallel_tool_calls"
] as const
export type ShapingParameter = (typeof shapingParameters)[number]
export type TuningParameter = (typeof tuningParameters)[number]
export type Parameter = ShapingParameter | TuningParameter

/** native: same meaning upstream. translated: carried by another field. dropped: left out and noted. refused: not eligible. */
export type Support = "native" | "translated" | "dropped" | "refused"
export type SupportTable = Readonly<Record<Parameter, Support>>
