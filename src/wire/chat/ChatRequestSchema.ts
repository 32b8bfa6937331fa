import * as Schema from "effect/Schema"
import { efforts } from "../../domain/Chat.ts"
import { allowed, bound, closed, freeForm, listOf, nonEmptyText, optional } from "../validation/SchemaParts.ts"
import { Message, ToolDefinition } from "./ChatMessageSchema.ts"

export const maxMessages = 20_000
export const maxTools = 1_024
export const maxStops = 64
export const maxRoutingConfigCharacters = 120

const effort = Schema.Union(
  Schema.Literal(...efforts),
  Schema.Number.pipe(allowed({ type: "integer", minimum: 1, maximum: 100 }))
)

const StreamOptions = closed({
  include_usage: optional(Schema.Boolean, "Send a final chunk with the usage of the complete response."),
  include_obfuscation: optional(Schema.Boolean, "Accepted for compatibility; the gateway adds no padding.")
}).annotations({ identifier: "StreamOptions" })

const ReasoningConfig = closed({
  effort: optional(effort, "Alias of `reasoning_effort`; both may be sent if they agree."),
  max_tokens: optional(bound(1), "Reasoning budget in tokens, for models that take one."),
  summary: optional(Schema.String, "How to summarize the reasoning, where the provider supports it."),
  exclude: optional(Schema.Boolean, "Do not return the reasoning; the model may still reason.")
}).annotations({ identifier: "ReasoningConfig" })

const entries = Schema.Array(Schema.String)

const listsOf = (what: string) => ({
  allow: optional(entries, `${what} ids, \`<prefix>/*\` or \`*\`; an empty list allows nothing.`),
  deny: optional(entries, `${what} ids, \`<prefix>/*\` or \`*\`; takes precedence over \`allow\`.`),
  only: optional(entries, "Alias of `allow`; send only one of the two."),
  ignore: optional(entries, "Alias of `deny`; entries of both are combined.")
})

const oneAllowList = <Fields extends Schema.Struct.Fields>(identifier: string, fields: Fields) =>
  closed(fields).pipe(
    Schema.filter(
      (restriction) =>
        allowsTwice(restriction)
          ? { path: ["only"], message: "it is an alias of 'allow'; send only one of them" }
          : undefined,
      { jsonSchema: {} }
    ),
    Schema.annotations({ identifier, description: "Narrows the project's policy; never widens it." })
  )

const ModelRestriction = oneAllowList("ModelRestriction", listsOf("Model"))

const ProviderRestriction = oneAllowList("ProviderRestriction", {
  ...listsOf("Provider"),
  allow_fallbacks: optional(Schema.Boolean, "Alias of `enable_fallback`; false in either disables fallback.")
})

export const allowsTwice = (restriction: { readonly allow?: unknown; readonly only?: unknown }): boolean =>
  (restriction.allow ?? null) !== null && (restriction.only ?? null) !== null

const priceCap = bound(0)
const penalty = Schema.Number.pipe(allowed({ type: "number", minimum: -2, maximum: 2 }))
const finite = Schema.Number.pipe(allowed({ type: "number" }))
const positive = bound(1)

/** The routing fields, common to both endpoints. */
export const routingFields = {
  models: optional(ModelRestriction, "Models this request may use; narrows the project's policy only."),
  provider: optional(ProviderRestriction, "Providers this request may use; narrows the project's policy only."),
  routing_config: optional(
    nonEmptyText(maxRoutingConfigCharacters),
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
  max_cost_microusd: optional(
    priceCap,
    "Extension: maximum cost of this call, in micro-USD. The output is capped accordingly, and models for which it does not cover the prompt and a response are excluded; if it covers the prompt for no model, the request is rejected with 400."
  ),
  enable_fallback: optional(Schema.Boolean, "When false, only the first candidate is tried.")
} as const

/** The body of a chat completion, as the OpenAPI document describes it. */
export const ChatCompletionRequest = Schema.Struct({
  model: Schema.String.annotations({ description: "`auto`, `auto:<slug>`, or a concrete id from the models list." }),
  messages: listOf(Message, { min: 1, max: maxMessages }).annotations({
    description: "The conversation, oldest message first."
  }),
  tools: optional(listOf(ToolDefinition, { max: maxTools }), "Tools the model may call."),
  tool_choice: optional(
    Schema.Union(Schema.Literal("auto", "none", "required"), freeForm),
    'Whether and which tool to call: `auto`, `none`, `required` (which needs `tools`), `{type: "function", function: {name}}`, `{type: "custom", custom: {name}}`, or `{type: "allowed_tools", allowed_tools: {mode, tools}}`. Every tool named must be among `tools`.'
  ),
  stream: Schema.optional(Schema.Boolean).annotations({
    description: "Stream the response as server-sent events. Default false."
  }),
  token_doctor: Schema.optional(Schema.Boolean).annotations({
    description: "Opts the request into an active data-collection window of the project. Default false."
  }),
  stream_options: optional(StreamOptions, "Options of a streamed response."),
  temperature: optional(finite, "Sampling temperature; ranges differ by provider."),
  top_p: optional(finite, "Nucleus sampling; ranges differ by provider."),
  max_tokens: optional(positive, "Deprecated: the cap on completion tokens, unless `max_completion_tokens` is sent."),
  max_completion_tokens: optional(positive, "Maximum completion tokens, including reasoning tokens."),
  stop: optional(
    Schema.Union(Schema.String, listOf(Schema.String, { max: maxStops })),
    "Stop sequences: one string or several."
  ),
  frequency_penalty: optional(penalty, "Makes repeated tokens less likely, -2 to 2."),
  presence_penalty: optional(penalty, "Makes tokens that have already occurred less likely, -2 to 2."),
  n: optional(Schema.Literal(1), "Number of completions: only 1 is supported."),
  seed: optional(
    Schema.Number.pipe(allowed({ type: "integer" })),
    "Requests repeatable sampling, where the provider supports it."
  ),
  logprobs: optional(Schema.Boolean, "Return log probabilities of the completion tokens."),
  top_logprobs: optional(
    Schema.Number.pipe(allowed({ type: "integer", minimum: 0, maximum: 20 })),
    "Number of alternatives per token, 0 to 20."
  ),
  parallel_tool_calls: optional(Schema.Boolean, "Whether several tools may be called in parallel."),
  response_format: optional(
    freeForm,
    '`{type: "text"}`, `{type: "json_object"}`, or `{type: "json_schema", json_schema: {name, schema, description, strict}}`, where the provider supports it.'
  ),
  reasoning_effort: optional(
    effort,
    "Reasoning effort. Integers 1–100 are a relative level, not a token budget, for models that list a depth range."
  ),
  reasoning: optional(ReasoningConfig, "Reasoning controls."),
  verbosity: optional(Schema.Literal("low", "medium", "high"), "Verbosity of the response."),
  service_tier: optional(Schema.String, "The provider's service tier."),
  metadata: optional(
    Schema.Record({ key: Schema.String, value: Schema.String }),
    "String pairs, passed to providers that store them."
  ),
  store: optional(Schema.Boolean, "Whether the provider may store the response."),
  safety_identifier: optional(Schema.String, "Opaque end-user id for abuse detection."),
  prompt_cache_key: optional(Schema.String, "Groups requests that share a prompt prefix."),
  prompt_cache_options: optional(freeForm, "Options of the provider's prompt cache."),
  prompt_cache_retention: optional(Schema.String, "How long the provider keeps the cached prompt."),
  prediction: optional(freeForm, "Predicted output, where the provider supports it."),
  modalities: optional(entries, "Output modalities to produce, such as text or audio."),
  audio: optional(freeForm, "Options of audio output."),
  moderation: optional(freeForm, "Options of the provider's moderation."),
  web_search_options: optional(freeForm, "Options of the provider's web search."),
  user: optional(Schema.String, "Opaque end-user id, passed to providers that support it."),
  ...routingFields
}).pipe(
  Schema.filter(
    (body) =>
      disagreesOnEffort(body)
        ? { path: ["reasoning", "effort"], message: "it differs from its alias 'reasoning_effort'" }
        : undefined,
    { jsonSchema: {} }
  ),
  Schema.annotations({
    identifier: "ChatCompletionRequest",
    description: "Unknown fields are ignored; known fields with invalid values are rejected."
  })
)
export type ChatCompletionRequest = typeof ChatCompletionRequest.Type

export const disagreesOnEffort = (body: {
  readonly reasoning_effort?: unknown
  readonly reasoning?: { readonly effort?: unknown } | null | undefined
}): boolean => {
  const effort = body.reasoning_effort ?? null
  const nested = body.reasoning?.effort ?? null
  return effort !== null && nested !== null && effort !== nested
}
