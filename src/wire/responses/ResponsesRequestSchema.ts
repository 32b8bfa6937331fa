import * as Schema from "effect/Schema"
import { efforts } from "../../domain/Chat.ts"
import { maxTools, routingFields } from "../chat/ChatRequestSchema.ts"
import { allowed, bound, closed, freeForm, listOf, optional } from "../validation/SchemaParts.ts"
import { InputItem, maxItems } from "./ResponsesInputSchema.ts"
import { ResponsesTool, ToolChoice } from "./ResponsesToolSchema.ts"

const penalty = Schema.Number.pipe(allowed({ type: "number", minimum: -2, maximum: 2 }))
const finite = Schema.Number.pipe(allowed({ type: "number" }))
const positive = bound(1)
const notSupported = (why: string) =>
  Schema.optional(Schema.Null).annotations({
    description: `Not supported: ${why} Any value other than null is rejected.`
  })

const Reasoning = closed({
  effort: optional(
    Schema.Union(
      Schema.Literal(...efforts),
      Schema.Number.pipe(allowed({ type: "integer", minimum: 1, maximum: 100 }))
    ),
    "Reasoning effort. Integers 1–100 are a relative level, not a token budget, for models that list a depth range."
  ),
  summary: optional(Schema.String, "How to summarize the reasoning, where the provider supports it."),
  generate_summary: optional(Schema.String, "Deprecated: alias of `summary`."),
  max_tokens: optional(positive, "Reasoning budget in tokens, for models that take one."),
  exclude: optional(Schema.Boolean, "Do not return the reasoning; the model may still reason.")
}).annotations({ identifier: "ResponsesReasoning" })

const TextFormat = Schema.Union(
  Schema.Struct({ type: Schema.Literal("text").annotations({ description: "Plain text." }) }),
  Schema.Struct({ type: Schema.Literal("json_object").annotations({ description: "Any JSON object." }) }),
  Schema.Struct({
    type: Schema.Literal("json_schema").annotations({ description: "JSON that follows a schema." }),
    name: Schema.NonEmptyString.annotations({ description: "Name of the schema." }),
    schema: freeForm.annotations({ description: "The JSON Schema." }),
    description: optional(Schema.String, "Purpose of the output."),
    strict: optional(Schema.Boolean, "Whether the schema must be followed exactly.")
  })
).annotations({ identifier: "ResponsesTextFormat" })

const TextConfig = Schema.Struct({
  format: optional(TextFormat, "Format of the response text."),
  verbosity: optional(Schema.Literal("low", "medium", "high"), "Verbosity of the response.")
}).annotations({ identifier: "ResponsesText" })

const StreamOptions = closed({
  include_usage: optional(Schema.Boolean, "Accepted for compatibility; the usage is always sent."),
  include_obfuscation: optional(Schema.Boolean, "Accepted for compatibility; the gateway adds no padding.")
}).annotations({ identifier: "ResponsesStreamOptions" })

/** The fields without nested rules; items, tools and the tool choice are decoded separately. */
const simpleFields = {
  model: Schema.String.annotations({ description: "`auto`, `auto:<slug>`, or a concrete id from the models list." }),
  instructions: optional(Schema.String, "Becomes the first message, with the developer role."),
  stream: Schema.optional(Schema.Boolean).annotations({
    description: "Stream the response as typed events. Default false."
  }),
  token_doctor: Schema.optional(Schema.Boolean).annotations({
    description: "Opts the request into an active data-collection window of the project. Default false."
  }),
  stream_options: optional(StreamOptions, "Options of a streamed response."),
  parallel_tool_calls: optional(Schema.Boolean, "Whether several tools may be called in parallel."),
  text: optional(TextConfig, "Format and verbosity of the response text."),
  reasoning: optional(Reasoning, "Reasoning controls."),
  temperature: optional(finite, "Sampling temperature; ranges differ by provider."),
  top_p: optional(finite, "Nucleus sampling; ranges differ by provider."),
  frequency_penalty: optional(penalty, "Makes repeated tokens less likely, -2 to 2."),
  presence_penalty: optional(penalty, "Makes tokens that have already occurred less likely, -2 to 2."),
  max_output_tokens: optional(positive, "Maximum output tokens, including reasoning tokens; at least 1."),
  max_tool_calls: optional(
    positive,
    "Accepted and returned in the response; limits hosted tools, of which there are none."
  ),
  top_logprobs: optional(
    Schema.Number.pipe(allowed({ type: "integer", minimum: 0, maximum: 20 })),
    "Number of alternatives per token to return, 0 to 20; more than 0 requests log probabilities."
  ),
  include: optional(
    Schema.Array(Schema.String),
    "`message.output_text.logprobs` requests log probabilities. `reasoning.encrypted_content` is always included; anything else has no effect."
  ),
  truncation: optional(
    Schema.Literal("auto", "disabled"),
    "Accepted and returned in the response; the gateway never truncates the input."
  ),
  metadata: optional(
    Schema.Record({ key: Schema.String, value: Schema.String }),
    "String pairs, returned in the response and not stored."
  ),
  store: optional(
    Schema.Boolean,
    "Accepted for compatibility; no response is stored, and the response has `store: false`."
  ),
  background: optional(Schema.Literal(false), "Only false: responses are generated while the client waits."),
  service_tier: optional(Schema.String, "The provider's service tier."),
  safety_identifier: optional(Schema.String, "Opaque end-user id for abuse detection."),
  prompt_cache_key: optional(Schema.String, "Groups requests that share a prompt prefix."),
  prompt_cache_options: optional(freeForm, "Options of the provider's prompt cache."),
  prompt_cache_retention: optional(Schema.String, "How long the provider keeps the cached prompt."),
  moderation: optional(freeForm, "Options of the provider's moderation."),
  user: optional(Schema.String, "Opaque end-user id, passed to providers that support it."),
  ...routingFields
} as const

export const SimpleFields = Schema.Struct({
  ...simpleFields,
  input: Schema.Union(Schema.String, Schema.Array(Schema.Unknown))
})
export type SimpleFields = typeof SimpleFields.Type

export const ResponsesRequest = Schema.Struct({
  ...simpleFields,
  input: Schema.Union(Schema.String, listOf(InputItem, { max: maxItems })).annotations({
    description: "The conversation: a user message as a string, or items, oldest first."
  }),
  tools: optional(
    listOf(ResponsesTool, { max: maxTools }),
    "Tools the model may call. Hosted web search is removed and named in the header `X-Service-Dropped-Tools`."
  ),
  tool_choice: optional(ToolChoice, "Whether and which tool to call."),
  previous_response_id: notSupported("no response is stored; send the complete conversation in `input`."),
  conversation: notSupported("no conversation is stored."),
  prompt: notSupported("no prompt templates are stored."),
  context_management: notSupported("the gateway does not rewrite the conversation.")
}).annotations({
  identifier: "ResponseRequest",
  description: "Beta. Unknown fields are ignored; known fields with invalid values are rejected."
})
