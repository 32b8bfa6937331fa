import * as Schema from "effect/Schema"
import { maxMessages, maxStops, maxTools, routingFields } from "../chat/ChatRequestSchema.ts"
import { WebSearchType } from "../HostedTools.ts"
import { allowed, bound, freeForm, listOf, nonEmptyText, optional } from "../validation/SchemaParts.ts"
import { cacheControl, InputMessage, systemContent } from "./MessagesContentSchema.ts"

const finite = Schema.Number.pipe(allowed({ type: "number" }))
const positive = bound(1)

/** Providers have narrower rules; this bound rejects only names that no provider supports. */
export const maxToolNameCharacters = 256

const Tool = Schema.Union(
  Schema.Struct({
    type: optional(Schema.Literal("custom"), "Optional."),
    name: nonEmptyText(maxToolNameCharacters).annotations({ description: "Name of the tool, unique." }),
    description: optional(Schema.String, "Describes the tool to the model."),
    input_schema: freeForm.annotations({ description: "JSON schema of the arguments." }),
    strict: optional(Schema.Boolean, "Enforce the schema on the arguments, where the provider supports it."),
    cache_control: cacheControl
  }),
  Schema.Struct({ type: WebSearchType })
).annotations({ identifier: "MessagesTool" })

const isParallelDisabled = optional(Schema.Boolean, "Whether at most one tool may be called.")

const ToolChoice = Schema.Union(
  Schema.Struct({
    type: Schema.Literal("auto", "any").annotations({
      description: "auto: the model decides. any: it must call a tool."
    }),
    disable_parallel_tool_use: isParallelDisabled
  }),
  Schema.Struct({
    type: Schema.Literal("tool").annotations({ description: "The model must call this tool." }),
    name: Schema.NonEmptyString.annotations({ description: "Name of one of the tools." }),
    disable_parallel_tool_use: isParallelDisabled
  }),
  Schema.Struct({ type: Schema.Literal("none").annotations({ description: "The model may not call a tool." }) })
).annotations({ identifier: "MessagesToolChoice" })

const display = optional(Schema.Literal("summarized", "omitted"), "omitted: thinking blocks have no text.")

const ReasoningMode = Schema.Union(
  Schema.Struct({
    type: Schema.Literal("enabled").annotations({ description: "The model should reason." }),
    budget_tokens: Schema.propertySignature(positive).annotations({
      description: "Tokens for reasoning, within `max_tokens`; translated to an effort where a model takes no budget."
    }),
    display
  }),
  Schema.Struct({
    type: Schema.Literal("adaptive").annotations({ description: "The model decides how much it reasons." }),
    display
  }),
  Schema.Struct({ type: Schema.Literal("disabled").annotations({ description: "The model should not reason." }) })
).annotations({ identifier: "MessagesThinking" })

const Format = Schema.Struct({
  type: Schema.Literal("json_schema").annotations({ description: "JSON that follows a schema." }),
  schema: freeForm.annotations({ description: "The JSON schema." })
}).annotations({ identifier: "MessagesOutputFormat" })

const OutputConfig = Schema.Struct({
  effort: optional(
    Schema.Literal("low", "medium", "high", "xhigh", "max"),
    "Reasoning effort, for a concrete model that lists it; with `thinking` of type `adaptive` the nearest that it lists, if any. `auto` ignores it."
  ),
  format: optional(Format, "Format of the response's text.")
}).annotations({ identifier: "MessagesOutputConfig" })

/** The fields that are decoded by their schema alone. */
const simpleFields = {
  model: Schema.String.annotations({
    description:
      "`auto`, `auto:<slug>`, a concrete id from the models list, or a bare model name such as `claude-sonnet-4-5`."
  }),
  max_tokens: Schema.propertySignature(positive).annotations({
    description: "Maximum output tokens, including reasoning tokens."
  }),
  stop_sequences: optional(listOf(Schema.String, { max: maxStops }), "Stop sequences."),
  stream: Schema.optional(Schema.Boolean).annotations({
    description: "Stream the response as server-sent events. Default false."
  }),
  token_doctor: Schema.optional(Schema.Boolean).annotations({
    description: "Opts the request into an active data-collection window of the project. Default false."
  }),
  temperature: optional(finite, "Sampling temperature; ranges differ by provider."),
  top_p: optional(finite, "Nucleus sampling; ranges differ by provider."),
  top_k: optional(
    Schema.Number.pipe(allowed({ type: "integer", minimum: 0 })),
    "Sample only from this number of most likely tokens, where the provider supports it."
  ),
  metadata: optional(
    Schema.Struct({ user_id: optional(Schema.String, "Opaque end-user id, passed to providers that support it.") }),
    "Metadata of the request."
  ),
  service_tier: optional(Schema.Literal("auto", "standard_only"), "Whether priority capacity may be used."),
  thinking: optional(ReasoningMode, "Whether the model should reason, as far as it supports that."),
  output_config: optional(OutputConfig, "Effort and format of the output."),
  output_format: optional(Format, "Former name of `output_config.format`."),
  cache_control: optional(cacheControl.from, "Caches the complete prompt, at providers that support it."),
  ...routingFields
}

export const SimpleFields = Schema.Struct(simpleFields)
export type SimpleFields = typeof SimpleFields.Type

const { max_tokens: _, ...withoutCap } = simpleFields
export const CountFields = Schema.Struct(withoutCap)

const conversation = {
  messages: listOf(InputMessage, { min: 1, max: maxMessages }).annotations({
    description: "The conversation, oldest message first."
  }),
  system: optional(systemContent, "Instructions: a string, or text blocks."),
  tools: optional(listOf(Tool, { max: maxTools }), "Tools the model may call; other hosted tools are rejected."),
  tool_choice: optional(ToolChoice, "Whether and which tool to call.")
}

/** The documentation of the body of `POST /v1/messages`. */
export const MessagesRequest = Schema.Struct({ ...simpleFields, ...conversation }).annotations({
  identifier: "MessagesRequest",
  description: "Unknown fields are ignored; known fields with invalid values are rejected."
})

/** The documentation of the body of `POST /v1/messages/count_tokens`. */
export const CountTokensRequest = Schema.Struct({ ...withoutCap, ...conversation }).annotations({
  identifier: "MessagesCountTokensRequest",
  description: "A request for a message, whose prompt tokens are estimated."
})

export const TokenCount = Schema.Struct({
  input_tokens: Schema.NonNegativeInt.annotations({
    description: "The gateway's estimate of the prompt's tokens: system, messages, tools, images and documents."
  })
}).annotations({ identifier: "MessagesTokenCount" })
