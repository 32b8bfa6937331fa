import { webSearchIn } from "../../wire/HostedTools.ts"
import { clientMetadata, paramOf } from "../../wire/messages/MessagesNames.ts"
import { messageObject } from "../../wire/messages/MessagesObject.ts"
import { type DecodedMessages, decode } from "../../wire/messages/MessagesRequest.ts"
import { MessagesStream, ping } from "../../wire/messages/MessagesStream.ts"
import { inferencePaths } from "../Paths.ts"
import { droppedToolsHeader } from "./DroppedTools.ts"
import type { InferenceEndpoint } from "./InferenceEndpoint.ts"

/** POST /v1/messages: Anthropic's format of the same call. */
export const messagesEndpoint: InferenceEndpoint<DecodedMessages> = {
  name: "messages",
  path: inferencePaths.createMessage,
  decode,
  headers: ({ droppedTools }) => droppedToolsHeader(droppedTools),
  headersOfRejected: (json) => droppedToolsHeader(webSearchIn(json)),
  nonStreaming: (completion, decoded) =>
    messageObject(
      completion,
      completion.answer,
      clientMetadata(completion.metadata, decoded.request),
      optionsOf(decoded)
    ),
  stream: (start, decoded, write) => new MessagesStream(start, optionsOf(decoded), write),
  heartbeat: ping,
  paramOf
}

const optionsOf = ({ request }: DecodedMessages) => ({
  omitReasoning: request.reasoning.exclude,
  ignored: request.ignored
})
