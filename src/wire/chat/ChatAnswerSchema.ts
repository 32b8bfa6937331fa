import * as Schema from "effect/Schema"
import { finishReasons } from "../../domain/ChatEvent.ts"
import { RouterMetadata } from "../../domain/RouterMetadata.ts"
import { freeForm } from "../validation/SchemaParts.ts"
import { ReasoningDetail, ToolCall } from "./ChatMessageSchema.ts"
import { ChatUsage } from "./ChatUsage.ts"

const envelope = {
  id: Schema.String.annotations({ description: "Id of the completion: `chatcmpl-` and the request id in hex." }),
  created: Schema.Int.annotations({ description: "When the response began, in seconds since the epoch." }),
  model: Schema.String.annotations({ description: "Concrete id of the model that answered." })
} as const

const index = Schema.Literal(0).annotations({ description: "Always 0: there is one choice." })

const finishReason = Schema.Literal(...finishReasons).annotations({ description: "Why the model stopped." })

const LogProbs = Schema.Struct({
  content: Schema.NullOr(Schema.Array(Schema.Unknown)).annotations({
    description: "Per token of the content: token, logprob, bytes and top_logprobs."
  }),
  refusal: Schema.NullOr(Schema.Array(Schema.Unknown)).annotations({ description: "The same for a refusal." })
}).annotations({ identifier: "ChoiceLogprobs" })
const logprobs = Schema.NullOr(LogProbs).annotations({ description: "Log probabilities, if requested." })

const refusal = "Text of the model's refusal."
const reasoningText = "The model's reasoning, or a summary of it."
const reasoningBlocks = "The reasoning block by block, with signatures; send the blocks back unchanged."
const annotations = "Annotations of the content, such as citations."
const audio = "Audio output."

const exactly = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optionalWith(schema, { exact: true }).annotations({ description })

const AnswerMessage = Schema.Struct({
  role: Schema.Literal("assistant").annotations({ description: "Role of the message." }),
  content: Schema.NullOr(Schema.String).annotations({ description: "Text of the message." }),
  refusal: Schema.NullOr(Schema.String).annotations({ description: refusal }),
  reasoning_content: exactly(Schema.String, reasoningText),
  reasoning: exactly(Schema.String, reasoningText),
  reasoning_details: exactly(Schema.Array(ReasoningDetail), reasoningBlocks),
  tool_calls: exactly(Schema.Array(ToolCall), "The tools to call; absent when there are none."),
  annotations: exactly(Schema.Array(freeForm), annotations),
  audio: exactly(freeForm, audio)
}).annotations({ identifier: "ChatCompletionMessage", description: "The message of the model." })

export const ChatCompletion = Schema.Struct({
  id: envelope.id,
  object: Schema.Literal("chat.completion").annotations({ description: "Always chat.completion." }),
  created: envelope.created,
  model: envelope.model,
  choices: Schema.Tuple(
    Schema.Struct({ index, message: AnswerMessage, logprobs, finish_reason: finishReason })
  ).annotations({ description: "The one choice." }),
  usage: exactly(ChatUsage, "Token counts of the call."),
  service_tier: exactly(Schema.String, "The service tier that was used; absent where it is not known."),
  system_fingerprint: Schema.String.annotations({
    description: "Fingerprint of the provider's configuration; the gateway's own where the provider reports none."
  }),
  router_metadata: RouterMetadata
}).annotations({ identifier: "ChatCompletion" })
export type ChatCompletion = typeof ChatCompletion.Type

const toolCallIndex = Schema.Int.pipe(Schema.nonNegative()).annotations({
  description: "Position of the call in the response, from 0."
})
const extraContent = exactly(freeForm, "Opaque provider data (reasoning signatures); send it back unchanged.")
const callId = exactly(Schema.String, "Id of the call; only in its first fragment.")

export const ToolCallDelta = Schema.Struct({
  index: toolCallIndex,
  id: callId,
  type: exactly(Schema.Literal("function", "custom"), "Kind of tool; only in the first fragment."),
  function: exactly(
    Schema.Struct({
      name: exactly(Schema.String, "Name of the function; only in the first fragment."),
      arguments: Schema.String.annotations({ description: "A piece of the arguments' JSON text." })
    }),
    "A fragment of a function call."
  ),
  custom: exactly(
    Schema.Struct({
      name: exactly(Schema.String, "Name of the tool; only in the first fragment."),
      input: Schema.String.annotations({ description: "A piece of the input." })
    }),
    "A fragment of a custom tool call."
  ),
  extra_content: extraContent
}).annotations({ identifier: "ToolCallDelta", description: "A fragment of one tool call." })
export type ToolCallDelta = typeof ToolCallDelta.Type

export const ChatDelta = Schema.Struct({
  role: exactly(Schema.Literal("assistant"), "Role of the message; only in the first chunk."),
  content: exactly(Schema.NullOr(Schema.String), "A piece of the text."),
  refusal: exactly(Schema.String, refusal),
  reasoning_content: exactly(Schema.String, reasoningText),
  reasoning: exactly(Schema.String, reasoningText),
  reasoning_details: exactly(Schema.Array(ReasoningDetail), reasoningBlocks),
  tool_calls: exactly(Schema.Array(ToolCallDelta), "Fragments of tool calls."),
  annotations: exactly(Schema.Array(freeForm), annotations),
  audio: exactly(freeForm, audio)
}).annotations({ identifier: "ChatCompletionDelta", description: "The new part of the message." })
export type ChatDelta = typeof ChatDelta.Type

export const ChatCompletionChunk = Schema.Struct({
  id: envelope.id,
  object: Schema.Literal("chat.completion.chunk").annotations({ description: "Always chat.completion.chunk." }),
  created: envelope.created,
  model: envelope.model,
  service_tier: exactly(Schema.String, "The service tier that is used, once known."),
  system_fingerprint: exactly(Schema.String, "Fingerprint of the provider's configuration, once known."),
  choices: Schema.Array(
    Schema.Struct({
      index,
      delta: ChatDelta,
      logprobs,
      finish_reason: Schema.NullOr(finishReason).annotations({ description: "Why the model stopped; null before." })
    })
  ).annotations({ description: "The one choice; empty in the usage chunk." }),
  usage: exactly(
    Schema.NullOr(ChatUsage),
    "Only with `stream_options.include_usage`: null until the last chunk, which has no choices."
  ),
  router_metadata: exactly(RouterMetadata, "Routing metadata of the response; on the finish chunk and the usage chunk.")
}).annotations({
  identifier: "ChatCompletionChunk",
  description: "The data of one event. The stream ends in `[DONE]` after success, or in an event with `error`."
})
export type ChatCompletionChunk = typeof ChatCompletionChunk.Type
