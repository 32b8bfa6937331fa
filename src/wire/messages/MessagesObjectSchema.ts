import * as Schema from "effect/Schema"
import { RouterMetadata } from "../../domain/RouterMetadata.ts"
import { freeForm } from "../validation/SchemaParts.ts"

const nothing = (description: string) => Schema.Null.annotations({ description })

const TextBlock = Schema.Struct({
  type: Schema.Literal("text").annotations({ description: "Text." }),
  text: Schema.String.annotations({ description: "The text, without citations." })
}).annotations({ identifier: "MessagesAnswerText" })

const ReasoningBlock = Schema.Struct({
  type: Schema.Literal("thinking").annotations({ description: "Reasoning of the model; send it back unchanged." }),
  thinking: Schema.String.annotations({ description: "The reasoning, or a summary of it." }),
  signature: Schema.String.annotations({
    description: "Identifies the model, and includes the provider's own signature."
  })
}).annotations({ identifier: "MessagesAnswerThinking" })

const RedactedBlock = Schema.Struct({
  type: Schema.Literal("redacted_thinking").annotations({ description: "Reasoning that only its model can read." }),
  data: Schema.String.annotations({ description: "Opaque; send it back unchanged." })
}).annotations({ identifier: "MessagesAnswerRedactedThinking" })

const ToolUseBlock = Schema.Struct({
  type: Schema.Literal("tool_use").annotations({ description: "A tool call." }),
  id: Schema.String.annotations({ description: "Id of the call; its result refers to this id." }),
  name: Schema.String.annotations({ description: "Name of the tool." }),
  input: freeForm.annotations({ description: "The arguments; in a stream `{}`, followed by deltas." }),
  caller: Schema.Struct({
    type: Schema.Literal("direct").annotations({ description: "The model itself called the tool." })
  }).annotations({ description: "Who called the tool." }),
  extra_content: Schema.optionalWith(freeForm, { exact: true }).annotations({
    description: "Opaque provider data (reasoning signatures); send it back unchanged."
  })
}).annotations({ identifier: "MessagesAnswerToolUse" })

export const AnswerBlock = Schema.Union(TextBlock, ReasoningBlock, RedactedBlock, ToolUseBlock).annotations({
  identifier: "MessagesAnswerBlock",
  description: "One content block of the response."
})
export type AnswerBlock = typeof AnswerBlock.Type

const stopReasons = [
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "refusal",
  "model_context_window_exceeded"
] as const

const StopDetails = Schema.Struct({
  type: Schema.Literal("refusal").annotations({ description: "Always refusal." }),
  category: nothing("Always null: categories differ by provider."),
  explanation: Schema.NullOr(Schema.String).annotations({ description: "The model's explanation, if any." })
}).annotations({ identifier: "MessagesStopDetails" })

/** How a response has ended. */
export const stopFields = {
  stop_reason: Schema.NullOr(Schema.Literal(...stopReasons)).annotations({
    description: "Why the model stopped; null in `message_start`."
  }),
  stop_sequence: Schema.NullOr(Schema.String).annotations({
    description: "The stop sequence that was reached, if the provider reports it."
  }),
  stop_details: Schema.NullOr(StopDetails).annotations({ description: "Details of a refusal; otherwise null." }),
  container: nothing("Always null: containers are not supported.")
} as const

const count = (description: string) => Schema.NonNegativeInt.annotations({ description })

const OutputDetails = Schema.Struct({
  thinking_tokens: count("Reasoning tokens among `output_tokens`.")
}).annotations({ identifier: "MessagesOutputTokensDetails" })

/** Token counts as they are charged. */
export const MessagesUsage = Schema.Struct({
  input_tokens: count(
    "Prompt tokens neither read from nor written to a cache. In message_start an estimate where the provider tells them at the end."
  ),
  cache_creation_input_tokens: count("Prompt tokens written to a cache."),
  cache_read_input_tokens: count("Prompt tokens read from a cache."),
  output_tokens: count("Completion tokens, including reasoning tokens."),
  output_tokens_details: OutputDetails.annotations({ description: "Breakdown of the output tokens." }),
  server_tool_use: nothing("Always null: hosted tools are not supported.")
}).annotations({ identifier: "MessagesUsage", description: "Token counts of the call. In `message_start`: so far." })
export type MessagesUsage = typeof MessagesUsage.Type

const WholeUsage = Schema.Struct({
  ...MessagesUsage.fields,
  cache_creation: nothing("Always null: providers do not report tokens by cache lifetime."),
  service_tier: Schema.NullOr(Schema.Literal("standard", "priority", "batch")).annotations({
    description: "The service tier that was used, if known."
  }),
  inference_geo: nothing("Always null: not known."),
  speed: nothing("Always null: not known.")
}).annotations({ identifier: "MessagesWholeUsage", description: "Token counts of the call." })

export const routerMetadata = Schema.optionalWith(RouterMetadata, { exact: true }).annotations({
  description: "Routing metadata of the response; in a stream on `message_delta`."
})

export const Message = Schema.Struct({
  id: Schema.String.annotations({ description: "Id of the message: `msg_` and the request id in hex." }),
  type: Schema.Literal("message").annotations({ description: "Always message." }),
  role: Schema.Literal("assistant").annotations({ description: "Always assistant." }),
  model: Schema.String.annotations({ description: "Concrete id of the model that answered." }),
  content: Schema.Array(AnswerBlock).annotations({ description: "The content blocks, in order." }),
  ...stopFields,
  diagnostics: nothing("Always null: not supported."),
  usage: WholeUsage,
  router_metadata: routerMetadata
}).annotations({ identifier: "MessagesMessage" })
export type Message = typeof Message.Type
