import * as Schema from "effect/Schema"
import { CallError, CallStatus } from "../../domain/Call.ts"
import { ChatArtifactEventOut, ChatMessageOut, ConversationDetailOut, ConversationOut } from "./Chat.ts"

/** The data of the events of `GET /api/chat/conversations/{id}/events`. */

const message_id = Schema.UUID.annotations({ description: "The answer that is being generated." })
const offset = Schema.Int.annotations({ description: "Position of the text, in UTF-16 units from the beginning." })
const text = Schema.String.annotations({ description: "The text." })

const ChatDelta = Schema.Struct({ message_id, offset, text }).annotations({ identifier: "ChatDelta" })

const ChatAttempt = Schema.Struct({
  message_id,
  request_id: Schema.UUID.annotations({ description: "The call." }),
  index: Schema.Int.annotations({ description: "Position of the attempt in the call, from 0." }),
  provider: Schema.String.annotations({ description: "Provider id." }),
  model: Schema.String.annotations({ description: "Concrete model id." }),
  status: Schema.Union(Schema.Literal("running"), CallStatus).annotations({
    description: "running, or how the attempt ended."
  }),
  error: Schema.NullOr(CallError).annotations({ description: "Why it failed; otherwise null." })
}).annotations({ identifier: "ChatAttempt" })

const ChatArtifactDelta = Schema.Struct({
  message_id,
  name: Schema.String.annotations({ description: "Name of the artifact." }),
  offset,
  text
}).annotations({ identifier: "ChatArtifactDelta" })

/** By the name of the event. */
export const chatEvents = {
  snapshot: ConversationDetailOut,
  delta: ChatDelta,
  reasoning: ChatDelta,
  attempt: ChatAttempt,
  artifact: ChatArtifactEventOut,
  artifact_delta: ChatArtifactDelta,
  message: ChatMessageOut,
  conversation: ConversationOut
} as const
