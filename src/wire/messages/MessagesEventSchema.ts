import * as Schema from "effect/Schema"
import { AnthropicErrorResponse } from "../ErrorBody.ts"
import { AnswerBlock, Message, MessagesUsage, routerMetadata, stopFields } from "./MessagesObjectSchema.ts"

const type = <Name extends string>(name: Name, description: string) => Schema.Literal(name).annotations({ description })

const index = Schema.NonNegativeInt.annotations({ description: "Position of the block in the message, from 0." })

const Delta = Schema.Union(
  Schema.Struct({
    type: type("text_delta", "A fragment of text."),
    text: Schema.String.annotations({ description: "The fragment." })
  }),
  Schema.Struct({
    type: type("thinking_delta", "A fragment of reasoning."),
    thinking: Schema.String.annotations({ description: "The fragment." })
  }),
  Schema.Struct({
    type: type("signature_delta", "The signature of a thinking block; sent once."),
    signature: Schema.String.annotations({ description: "The signature." })
  }),
  Schema.Struct({
    type: type("input_json_delta", "A fragment of a call's arguments."),
    partial_json: Schema.String.annotations({ description: "A fragment of their JSON text." })
  })
).annotations({ identifier: "MessagesDelta" })

/** The data of one event of a streamed message. */
export const MessagesEvent = Schema.Union(
  Schema.Struct({
    type: type("message_start", "Start of the message."),
    message: Message.annotations({ description: "The message so far: no content, and the usage known so far." })
  }),
  Schema.Struct({
    type: type("content_block_start", "Start of a content block."),
    index,
    content_block: AnswerBlock
  }),
  Schema.Struct({
    type: type("content_block_delta", "Continuation of a content block."),
    index,
    delta: Delta.annotations({ description: "The added content." })
  }),
  Schema.Struct({ type: type("content_block_stop", "End of a content block."), index }),
  Schema.Struct({
    type: type("message_delta", "How the message ended."),
    delta: Schema.Struct(stopFields).annotations({ description: "Why it ended." }),
    usage: MessagesUsage,
    router_metadata: routerMetadata
  }),
  Schema.Struct({ type: type("message_stop", "The message is complete; the last event, sent only after success.") }),
  Schema.Struct({ type: type("ping", "Keeps the connection alive.") }),
  AnthropicErrorResponse
).annotations({
  identifier: "MessagesEvent",
  description: "The data of one event. The stream ends in `message_stop` after success, or in `error`."
})
export type MessagesEvent = typeof MessagesEvent.Type
