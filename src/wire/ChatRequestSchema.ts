import * as Schema from "effect/Schema"
import { efforts } from "../domain/Chat.ts"
import { Message, ToolDefinition } from "./ChatMessageSchema.ts"
import { allowed, freeForm, listOf, nonEmptyText, optional } from "./SchemaParts.ts"

export const mostMessages = 20_000
export const mostTools = 1_024
export const mostStops = 64
export const mostRoutingConfigCharacters = 120

const effort = Schema.Union(
  Schema.Literal(...efforts),
  Schema.Number.pipe(allowed({ type: "integer", minimum: 1, maximum: 100 }))
)

const StreamOptions = Schema.Struct({
  include_usage: optional(Schema.Boolean, "Send a last chunk with the usage of the whole answer."),
  include_obfuscation: optional(Schema.Boolean, "Accepted for compatibility; the gateway adds no padding.")
}).annotations({ identifier: "StreamOptions" })

const ReasoningConfig = Schema.Struct({
  effort: optional(effort, "The same as `reasoning_effort`; both may be sent when they agree."),
  max_tokens: optional(
    Schema.Number.pipe(allowed({ type: "integer", minimum: 1 })),
    "Budget for thoughts, in tokens, where the model takes one."
  ),
  summary: optional(Schema.String, "How to summarise the thoughts, where the provider can."),
  exclude: optional(Schema.Boolean, "Let the model think, but do not return its thoughts.")
}).annotations({ identifier: "ReasoningConfig" })

const entries = Schema.Array(Schema.String)

const ModelRestriction = Schema.Struct({
  allow: optional(entries, "Model ids, `<prefix>/*` or `*`; an empty list allows nothing."),
  deny: optional(entries, "Model ids, `<prefix>/*` or `*`; wins over `allow`.")
}).annotations({ identifier: "ModelRestriction", description: "Narrows the project's policy, never widens it." })

const ProviderRestriction = Schema.Struct({
  allow: optional(entries, "Provider ids, `<prefix>/*` or `*`; an empty list allows nothing."),
  deny: optional(entries, "Provider ids, `<prefix>/*` or `*`; wins over `allow`."),
  only: optional(entries, "Another name for `allow`; send one of the two."),
  ignore: optional(entries, "Another name for `deny`; both together add up.")
}).pipe(
  Schema.filter(
    (restriction) =>
      allowsTwice(restriction) ? { path: ["only"], message: "it is another name for 'allow', send one" } : undefined,
    { jsonSchema: {} }
  ),
  Schema.annotations({
    identifier: "ProviderRestriction",
    description: "Narrows the project's policy, never widens it."
  })
)

export const allowsTwice = (restriction: { readonly allow?: unknown; readonly only?: unknown }): boolean =>
  (restriction.allow ?? null) !== null && (restriction.only ?? null) !== null

const priceCap = Schema.Number.pipe(allowed({ type: "integer", minimum: 0 }))
const penalty = Schema.Number.pipe(allowed({ type: "number", minimum: -2, maximum: 2 }))
const finite = Schema.Number.pipe(allowed({ type: "number" }))
const positive = Schema.Number.pipe(allowed({ type: "integer", minimum: 1 }))

/** What says where the call may go; the same on both endpoints. */
export const routingFields = {
  models: optional(ModelRestriction, "Models this request may use; narrows the project's policy only."),
  provider: optional(ProviderRestriction, "Providers this request may use; narrows the project's policy only."),
  routing_config: optional(
    nonEmptyText(mostRoutingConfigCharacters),
    "Id or slug of one of the project's routing configurations, 1 to 120 characters."
  ),
  alpha: optional(
    Schema.Number.pipe(allowed({ type: "number", minimum: 0, maximum: 1 })),
    "Quality-versus-cost weight: 0 is cheapest, 1 is highest quality. Overrides the project's default."
  ),
  max_input_price_microusd_per_million: optional(
    priceCap,
    "Excludes models priced above this, in micro-USD per million input tokens."
  ),
  max_output_price_microusd_per_million: optional(
    priceCap,
    "Excludes models priced above this, in micro-USD per million output tokens."
  ),
  enable_fallback: optional(Schema.Boolean, "When false, only the first candidate is tried.")
} as const

export const ChatCompletionRequest = Schema.Struct({
  model: Schema.String.annotations({ description: "`auto`, `auto:<slug>`, or a concrete id from the models list." }),
  messages: listOf(Message, { least: 1, most: mostMessages }).annotations({
    description: "The conversation, oldest message first."
  }),
  tools: optional(listOf(ToolDefinition, { most: mostTools }), "Tools the model may call."),
  tool_choice: optional(
    Schema.Union(Schema.Literal("auto", "none", "required"), freeForm),
    "Whether and which tool to call; an object names one or a set."
  ),
  stream: Schema.optional(Schema.Boolean).annotations({
    description: "Answer as a stream of server-sent events. Default false.",
    default: false
  }),
  token_doctor: Schema.optional(Schema.Boolean).annotations({
    description: "Opts the request into an active data-collection window of the project. Default false.",
    default: false
  }),
  stream_options: optional(StreamOptions, "Options of a streamed answer."),
  temperature: optional(finite, "Sampling temperature; ranges differ by provider."),
  top_p: optional(finite, "Nucleus sampling; ranges differ by provider."),
  max_tokens: optional(positive, "Deprecated: the cap on completion tokens, unless `max_completion_tokens` is sent."),
  max_completion_tokens: optional(positive, "Cap on completion tokens, thoughts included."),
  stop: optional(
    Schema.Union(Schema.String, listOf(Schema.String, { most: mostStops })),
    "Text at which the model stops: one string or several."
  ),
  frequency_penalty: optional(penalty, "Makes repeated tokens less likely, -2 to 2."),
  presence_penalty: optional(penalty, "Makes tokens that have occurred less likely, -2 to 2."),
  n: optional(Schema.Literal(1), "Number of answers: only 1 is supported."),
  seed: optional(
    Schema.Number.pipe(allowed({ type: "integer" })),
    "Asks for repeatable sampling, where the provider can."
  ),
  logprobs: optional(Schema.Boolean, "Return log probabilities of the answer's tokens."),
  top_logprobs: optional(
    Schema.Number.pipe(allowed({ type: "integer", minimum: 0, maximum: 20 })),
    "How many alternatives per token, 0 to 20."
  ),
  parallel_tool_calls: optional(Schema.Boolean, "Whether several tools may be called at once."),
  response_format: optional(freeForm, "JSON-object or JSON-schema answers, where the provider supports them."),
  reasoning_effort: optional(
    effort,
    "How hard to think. Integers from 1 to 100 are a depth (not tokens), for the models that list one."
  ),
  reasoning: optional(ReasoningConfig, "Reasoning controls."),
  verbosity: optional(Schema.Literal("low", "medium", "high"), "How long the answer should be."),
  service_tier: optional(Schema.String, "The provider's service tier."),
  metadata: optional(
    Schema.Record({ key: Schema.String, value: Schema.String }),
    "Pairs of strings, passed to providers that keep them."
  ),
  store: optional(Schema.Boolean, "Whether the provider may keep the answer."),
  safety_identifier: optional(Schema.String, "Opaque id of the end user for abuse detection."),
  prompt_cache_key: optional(Schema.String, "Groups requests that share a prompt prefix."),
  prompt_cache_options: optional(freeForm, "Options of the provider's prompt cache."),
  prompt_cache_retention: optional(Schema.String, "How long the provider keeps the cached prompt."),
  prediction: optional(freeForm, "Expected content, where the provider can make use of it."),
  modalities: optional(entries, "Kinds of output to produce, such as text or audio."),
  audio: optional(freeForm, "Options of audio output."),
  moderation: optional(freeForm, "Options of the provider's moderation."),
  web_search_options: optional(freeForm, "Options of the provider's web search."),
  user: optional(Schema.String, "Opaque end-user id, passed to providers that support it."),
  ...routingFields
}).pipe(
  Schema.filter(
    (body) =>
      disagreesOnEffort(body)
        ? { path: ["reasoning", "effort"], message: "it differs from 'reasoning_effort', which means the same" }
        : undefined,
    { jsonSchema: {} }
  ),
  Schema.annotations({
    identifier: "ChatCompletionRequest",
    description: "Unknown fields are ignored; known fields with invalid values are refused."
  })
)
export type ChatCompletionRequest = typeof ChatCompletionRequest.Type

export const disagreesOnEffort = (body: {
  readonly reasoning_effort?: unknown
  readonly reasoning?: { readonly effort?: unknown } | null | undefined
}): boolean => {
  const plain = body.reasoning_effort ?? null
  const nested = body.reasoning?.effort ?? null
  return plain !== null && nested !== null && plain !== nested
}
