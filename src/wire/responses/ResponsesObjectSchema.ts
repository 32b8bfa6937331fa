import * as Schema from "effect/Schema"
import { RouterMetadata } from "../../domain/RouterMetadata.ts"
import { freeForm } from "../validation/SchemaParts.ts"

const count = (description: string) => Schema.Int.pipe(Schema.nonNegative()).annotations({ description })
const exactly = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optionalWith(schema, { exact: true }).annotations({ description })
const nullable = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.NullOr(schema).annotations({ description })

const itemId = Schema.NonEmptyString.annotations({ description: "Id of the item, formed from the request's id." })
const itemStatus = Schema.Literal("in_progress", "completed", "incomplete").annotations({
  description: "Status of the item."
})

const OutputText = Schema.Struct({
  type: Schema.Literal("output_text").annotations({ description: "Text." }),
  text: Schema.String.annotations({ description: "The text." }),
  annotations: Schema.Array(freeForm).annotations({
    description: "Citations: type url_citation, url, title and range."
  }),
  logprobs: Schema.Array(Schema.Unknown).annotations({
    description: "Per token: token, logprob, bytes and top_logprobs, if requested."
  })
}).annotations({ identifier: "ResponsesOutputText" })

const OutputRefusal = Schema.Struct({
  type: Schema.Literal("refusal").annotations({ description: "A refusal." }),
  refusal: Schema.String.annotations({ description: "Text of the model's refusal." })
}).annotations({ identifier: "ResponsesOutputRefusal" })

export const OutputContent = Schema.Union(OutputText, OutputRefusal).annotations({
  identifier: "ResponsesOutputContent"
})

const Message = Schema.Struct({
  id: itemId,
  type: Schema.Literal("message").annotations({ description: "An assistant message." }),
  status: itemStatus,
  role: Schema.Literal("assistant").annotations({ description: "Always assistant." }),
  content: Schema.Array(OutputContent).annotations({ description: "Text and refusal parts." })
}).annotations({ identifier: "ResponsesOutputMessage" })

export const SummaryText = Schema.Struct({
  type: Schema.Literal("summary_text").annotations({ description: "Readable reasoning." }),
  text: Schema.String.annotations({ description: "The reasoning, or the provider's summary of it." })
}).annotations({ identifier: "ResponsesSummaryText" })

const ReasoningText = Schema.Struct({
  type: Schema.Literal("reasoning_text").annotations({ description: "Reasoning." }),
  text: Schema.String.annotations({ description: "The reasoning." })
}).annotations({ identifier: "ResponsesReasoningText" })

const Reasoning = Schema.Struct({
  id: itemId,
  type: Schema.Literal("reasoning").annotations({ description: "One block of the model's reasoning." }),
  summary: Schema.Array(SummaryText).annotations({
    description: "The reasoning; empty if only the model can read it."
  }),
  content: exactly(
    Schema.Array(ReasoningText),
    "The reasoning itself, the same text as in `summary`; absent if the provider returns only a summary."
  ),
  encrypted_content: exactly(
    Schema.String,
    "Opaque: origin and signature of the block. Send the item back unchanged to continue the reasoning; only in complete items."
  )
}).annotations({ identifier: "ResponsesOutputReasoning" })

const callFacts = {
  id: itemId,
  status: itemStatus,
  call_id: Schema.NonEmptyString.annotations({ description: "Pairs the call with its output." }),
  name: Schema.String.annotations({ description: "Name of the tool." }),
  namespace: exactly(Schema.String, "Namespace of the tool, if it has one."),
  extra_content: exactly(freeForm, "Opaque provider data of the call; send it back unchanged.")
} as const

const FunctionCall = Schema.Struct({
  ...callFacts,
  type: Schema.Literal("function_call").annotations({ description: "A function call." }),
  arguments: Schema.String.annotations({ description: "The arguments, as JSON text." })
}).annotations({ identifier: "ResponsesFunctionCall" })

const CustomToolCall = Schema.Struct({
  ...callFacts,
  type: Schema.Literal("custom_tool_call").annotations({ description: "A custom tool call." }),
  input: Schema.String.annotations({ description: "The input, as plain text." })
}).annotations({ identifier: "ResponsesCustomToolCall" })

export const OutputItem = Schema.Union(Message, Reasoning, FunctionCall, CustomToolCall).annotations({
  identifier: "ResponsesOutputItem",
  description: "One output item, in the order in which the model produced the items."
})

const ResponsesUsage = Schema.Struct({
  input_tokens: count("Input tokens, including cached tokens."),
  input_tokens_details: Schema.Struct({
    cached_tokens: count("Input tokens read from a cache."),
    cache_write_tokens: count("Input tokens written to a cache.")
  }).annotations({ description: "Breakdown of the input tokens." }),
  output_tokens: count("Output tokens, including reasoning tokens."),
  output_tokens_details: Schema.Struct({
    reasoning_tokens: count("Reasoning tokens in the output.")
  }).annotations({ description: "Breakdown of the output tokens." }),
  total_tokens: count("Sum of input and output tokens.")
}).annotations({ identifier: "ResponsesUsage" })

const seconds = (description: string) =>
  Schema.Int.annotations({ description: `${description}, in seconds since the epoch.` })

export const ResponsesObject = Schema.Struct({
  id: Schema.String.annotations({ description: "Id of the response: `resp_` and the request id in hex." }),
  object: Schema.Literal("response").annotations({ description: "Always response." }),
  created_at: seconds("When the response started"),
  completed_at: nullable(
    seconds("When it was completed"),
    "When it was completed; null until then, and with any other status."
  ),
  status: Schema.Literal("in_progress", "completed", "incomplete", "failed").annotations({
    description: "Status of the response."
  }),
  error: nullable(
    Schema.Struct({
      code: Schema.Literal("server_error", "rate_limit_exceeded").annotations({ description: "Code of the failure." }),
      message: Schema.String.annotations({ description: "Human-readable error message." })
    }),
    "Why the response failed; otherwise null."
  ),
  incomplete_details: nullable(
    Schema.Struct({
      reason: Schema.Literal("max_output_tokens", "content_filter").annotations({
        description: "Why the response was truncated."
      })
    }),
    "Why the response is incomplete; otherwise null."
  ),
  model: Schema.String.annotations({ description: "Concrete id of the model that answered." }),
  output: Schema.Array(OutputItem).annotations({ description: "The output items." }),
  usage: nullable(ResponsesUsage, "Token counts of the call; null until it is complete."),
  instructions: nullable(Schema.String, "As in the request."),
  tools: Schema.Array(freeForm).annotations({
    description: "The tools of the request, except those that were removed."
  }),
  tool_choice: Schema.Unknown.annotations({ description: "The tool choice that was applied." }),
  parallel_tool_calls: Schema.Boolean.annotations({ description: "As in the request; true by default." }),
  text: freeForm.annotations({ description: "Format and verbosity of the text: `format` and `verbosity`." }),
  reasoning: freeForm.annotations({ description: "As in the request: `effort` and `summary`." }),
  temperature: Schema.Number.annotations({ description: "As in the request; 1 by default." }),
  top_p: Schema.Number.annotations({ description: "As in the request; 1 by default." }),
  presence_penalty: Schema.Number.annotations({ description: "As in the request; 0 by default." }),
  frequency_penalty: Schema.Number.annotations({ description: "As in the request; 0 by default." }),
  top_logprobs: count("As in the request; 0 by default."),
  max_output_tokens: nullable(Schema.Int, "As in the request."),
  max_tool_calls: nullable(Schema.Int, "As in the request."),
  truncation: Schema.Literal("auto", "disabled").annotations({
    description: "As in the request; nothing is truncated."
  }),
  metadata: Schema.Record({ key: Schema.String, value: Schema.String }).annotations({
    description: "As in the request."
  }),
  service_tier: Schema.String.annotations({ description: "The service tier that was used or requested." }),
  safety_identifier: nullable(Schema.String, "As in the request."),
  prompt_cache_key: nullable(Schema.String, "As in the request."),
  prompt_cache_retention: exactly(Schema.String, "As in the request."),
  user: exactly(Schema.String, "As in the request."),
  previous_response_id: Schema.Null.annotations({ description: "Always null." }),
  store: Schema.Literal(false).annotations({ description: "Always false: no response is stored." }),
  background: Schema.Literal(false).annotations({ description: "Always false." }),
  router_metadata: nullable(RouterMetadata, "Routing metadata of the response; null until it is complete.")
}).annotations({ identifier: "Response", description: "Beta. A response of the stateless subset." })
