import * as Schema from "effect/Schema"
import { efforts } from "../domain/Chat.ts"
import { mostTools, routingFields } from "./ChatRequestSchema.ts"
import { InputItem, mostItems } from "./ResponsesInputSchema.ts"
import { ResponsesTool, ToolChoice } from "./ResponsesToolSchema.ts"
import { allowed, freeForm, listOf, optional } from "./SchemaParts.ts"

const penalty = Schema.Number.pipe(allowed({ type: "number", minimum: -2, maximum: 2 }))
const finite = Schema.Number.pipe(allowed({ type: "number" }))
const positive = Schema.Number.pipe(allowed({ type: "integer", minimum: 1 }))
const notSupported = (why: string) =>
  Schema.optional(Schema.Null).annotations({ description: `Not supported: ${why} Anything but null is refused.` })

const Reasoning = Schema.Struct({
  effort: optional(
    Schema.Union(
      Schema.Literal(...efforts),
      Schema.Number.pipe(allowed({ type: "integer", minimum: 1, maximum: 100 }))
    ),
    "How hard to think. Integers from 1 to 100 are a depth (not tokens), for the models that list one."
  ),
  summary: optional(Schema.String, "How to summarise the thoughts, where the provider can."),
  generate_summary: optional(Schema.String, "Deprecated: another name for `summary`."),
  max_tokens: optional(positive, "Budget for thoughts, in tokens, where the model takes one."),
  exclude: optional(Schema.Boolean, "Let the model think, but do not return its thoughts.")
}).annotations({ identifier: "ResponsesReasoning" })

const TextFormat = Schema.Union(
  Schema.Struct({ type: Schema.Literal("text").annotations({ description: "Plain text." }) }),
  Schema.Struct({ type: Schema.Literal("json_object").annotations({ description: "Any JSON object." }) }),
  Schema.Struct({
    type: Schema.Literal("json_schema").annotations({ description: "JSON that follows a schema." }),
    name: Schema.NonEmptyString.annotations({ description: "Name of the schema." }),
    schema: freeForm.annotations({ description: "The JSON Schema." }),
    description: optional(Schema.String, "What the answer is for."),
    strict: optional(Schema.Boolean, "Whether the schema must be followed exactly.")
  })
).annotations({ identifier: "ResponsesTextFormat" })

const TextConfig = Schema.Struct({
  format: optional(TextFormat, "The form of the answer's text."),
  verbosity: optional(Schema.Literal("low", "medium", "high"), "How long the answer should be.")
}).annotations({ identifier: "ResponsesText" })

const StreamOptions = Schema.Struct({
  include_obfuscation: optional(Schema.Boolean, "Accepted for compatibility; the gateway adds no padding.")
}).annotations({ identifier: "ResponsesStreamOptions" })

/** The fields of one value each; items, tools and the tool choice have rules of their own. */
const plainFields = {
  model: Schema.String.annotations({ description: "`auto`, `auto:<slug>`, or a concrete id from the models list." }),
  instructions: optional(Schema.String, "Becomes the developer message that comes first."),
  stream: Schema.optional(Schema.Boolean).annotations({
    description: "Answer as a stream of typed events. Default false.",
    default: false
  }),
  token_doctor: Schema.optional(Schema.Boolean).annotations({
    description: "Opts the request into an active data-collection window of the project. Default false.",
    default: false
  }),
  stream_options: optional(StreamOptions, "Options of a streamed answer."),
  parallel_tool_calls: optional(Schema.Boolean, "Whether several tools may be called at once."),
  text: optional(TextConfig, "Form and length of the answer's text."),
  reasoning: optional(Reasoning, "Reasoning controls."),
  temperature: optional(finite, "Sampling temperature; ranges differ by provider."),
  top_p: optional(finite, "Nucleus sampling; ranges differ by provider."),
  frequency_penalty: optional(penalty, "Makes repeated tokens less likely, -2 to 2."),
  presence_penalty: optional(penalty, "Makes tokens that have occurred less likely, -2 to 2."),
  max_output_tokens: optional(positive, "Cap on output tokens, thoughts included; at least 1."),
  max_tool_calls: optional(positive, "Accepted and repeated; it bounds hosted tools, of which there are none."),
  top_logprobs: optional(
    Schema.Number.pipe(allowed({ type: "integer", minimum: 0, maximum: 20 })),
    "How many alternatives per token to return, 0 to 20; more than 0 asks for log probabilities."
  ),
  include: optional(
    Schema.Array(Schema.String),
    "`message.output_text.logprobs` asks for log probabilities. `reasoning.encrypted_content` is always included; anything else has no effect."
  ),
  truncation: optional(Schema.Literal("auto", "disabled"), "Accepted and repeated; the gateway never cuts the input."),
  metadata: optional(
    Schema.Record({ key: Schema.String, value: Schema.String }),
    "Pairs of strings, repeated in the response and stored nowhere."
  ),
  store: optional(Schema.Boolean, "Accepted for compatibility; no response is stored, and the response says false."),
  background: optional(Schema.Literal(false), "Only false: every response is run while the client waits."),
  service_tier: optional(Schema.String, "The provider's service tier."),
  safety_identifier: optional(Schema.String, "Opaque id of the end user for abuse detection."),
  prompt_cache_key: optional(Schema.String, "Groups requests that share a prompt prefix."),
  prompt_cache_options: optional(freeForm, "Options of the provider's prompt cache."),
  prompt_cache_retention: optional(Schema.String, "How long the provider keeps the cached prompt."),
  moderation: optional(freeForm, "Options of the provider's moderation."),
  user: optional(Schema.String, "Opaque end-user id, passed to providers that support it."),
  ...routingFields
} as const

export const PlainFields = Schema.Struct({
  ...plainFields,
  input: Schema.Union(Schema.String, Schema.Array(Schema.Unknown))
})
export type PlainFields = typeof PlainFields.Type

export const ResponsesRequest = Schema.Struct({
  ...plainFields,
  input: Schema.Union(Schema.String, listOf(InputItem, { most: mostItems })).annotations({
    description: "The conversation: a text of the user, or items, oldest first."
  }),
  tools: optional(
    listOf(ResponsesTool, { most: mostTools }),
    "Tools the model may call. Hosted web search is removed and named in the header `X-Service-Dropped-Tools`."
  ),
  tool_choice: optional(ToolChoice, "Whether and which tool to call."),
  previous_response_id: notSupported("no response is stored; send the whole conversation in `input`."),
  conversation: notSupported("no conversation is stored."),
  prompt: notSupported("no prompt templates are stored."),
  context_management: notSupported("the gateway does not rewrite the conversation.")
}).annotations({
  identifier: "ResponseRequest",
  description: "Beta. Unknown fields are ignored; known fields with invalid values are refused."
})
