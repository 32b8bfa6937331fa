/** The wire protocols of providers. */
export const protocolIds = ["openai-chat", "anthropic-messages", "gemini", "bedrock-converse", "simulated"] as const
/** The format that a provider speaks. */
export type ProtocolId = (typeof protocolIds)[number]

/**
 * Request parameters that are provider-dependent. The first group shapes the response: a route that refuses one of them is not
 * eligible. The second group only tunes it: a dropped one is named in the response. `tool_choice.required` is any choice that forces
 * a call, `stop[1]` more than one stop string, `response_format.tools` a JSON format together with tools, and
 * `response_format.json_schema.stream` a JSON schema of a streamed response.
 */
export const shapingParameters = [
  "tools",
  "tool_choice",
  "tool_choice.required",
  "response_format",
  "response_format.json_schema",
  "response_format.json_schema.stream",
  "response_format.tools",
  "modalities",
  "audio",
  "logprobs",
  "top_logprobs",
  "reasoning_effort",
  "stop[1]"
] as const
export const tuningParameters = [
  "temperature",
  "top_p",
  "top_k",
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
  "parallel_tool_calls",
  "cache_control",
  "messages.name"
] as const
/** A parameter that decides the form of the answer. */
export type ShapingParameter = (typeof shapingParameters)[number]
/** A parameter that only tunes the answer. */
export type TuningParameter = (typeof tuningParameters)[number]
/** A request parameter that not every provider takes. */
export type Parameter = ShapingParameter | TuningParameter

/** native: same meaning upstream. translated: sent in another field. dropped: not sent, named in the response. refused: not eligible. */
export type Support = "native" | "translated" | "dropped" | "refused"
/** What a route does with each parameter. */
export type SupportTable = Readonly<Record<Parameter, Support>>
