import * as Schema from "effect/Schema"
import { AnthropicErrorResponse } from "../ErrorBody.ts"
import { AnswerBlock, Message, MessagesUsage, routerMetadata, stopFields } from "./MessagesObjectSchema.ts"

const type = <Name extends string>(name: Name, description: string) => Schema.Literal(name).annotations({ description })

const index = Schema.NonNegativeInt.annotations({ description: "Position of the block in the message, from 0." })

const Delta = Schema.Union(
  Schema.Struct({
    type: type("text_delta", "A piece of a text."),
    text: Schema.String.annotations({ description: "The piece." })
  }),
  Schema.Struct({
    type: type("thinking_delta", "A piece of reasoning."),
    thinking: Schema.String.annotations({ description: "The piece." })
  }),
  Schema.Struct({
    type: type("signature_delta", "The signature of a thinking block, once."),
    signature: Schema.String.annotations({ description: "The signature." })
  }),
  Schema.Struct({
    type: type("input_json_delta", "A piece of a call's arguments."),
    partial_json: Schema.String.annotations({ description: "A piece of their JSON text." })
  })
).annotations({ identifier: "MessagesDelta" })

/** The data of one event of a streamed message. */
export const MessagesEvent = Schema.Union(
  Schema.Struct({
    type: type("message_start", "Begins the message."),
    message: Message.annotations({ description: "The message so far: no content, and the usage that is known." })
  }),
  Schema.Struct({
    type: type("content_block_start", "Begins a block."),
    index,
    content_block: AnswerBlock
  }),
  Schema.Struct({
    type: type("content_block_delta", "Continues a block."),
    index,
    delta: Delta.annotations({ description: "What is added." })
  }),
  Schema.Struct({ type: type("content_block_stop", "Ends a block."), index }),
  Schema.Struct({
    type: type("message_delta", "How the message has ended."),
    delta: Schema.Struct(stopFields).annotations({ description: "Why it has ended." }),
    usage: MessagesUsage,
    router_metadata: routerMetadata
  }),
  Schema.Struct({ type: type("message_stop", "The message is whole; the last event, and only after success.") }),
  Schema.Struct({ type: type("ping", "Keeps the connection alive.") }),
  AnthropicErrorResponse
).annotations({
  identifier: "MessagesEvent",
  description: "The data of one event. The stream ends in `message_stop` after success, or in `error`."
})
export type MessagesEvent = typeof MessagesEvent.Type
