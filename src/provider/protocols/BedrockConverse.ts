import type { SupportTable } from "../../domain/Support.ts"
import { escaped } from "../AwsSignature.ts"
import { awsEventStream } from "../Framing.ts"
import { type Protocol, streaming } from "../Protocol.ts"
import { classify } from "./bedrock-converse/Classify.ts"
import { machine, plain } from "./bedrock-converse/Decode.ts"
import { lower } from "./bedrock-converse/Lower.ts"

/** A custom tool is a function of one text; `none` takes the tools away. */
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

/** Converse and ConverseStream, the one format that Amazon Bedrock has for the models of all makers. */
export const bedrockConverse: Protocol = {
  id: "bedrock-converse",
  support,
  takesCustomTools: true,
  /** Model ids hold colons and, as ARNs, slashes. */
  path: ({ model, request }) =>
    `/model/${escaped(model.upstreamModel)}/${request.stream ? "converse-stream" : "converse"}`,
  headers: () => ({}),
  lower,
  plain,
  stream: streaming(awsEventStream, machine),
  failure: classify
}
