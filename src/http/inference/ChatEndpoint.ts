import * as Either from "effect/Either"
import type { ChatRequest } from "../../domain/Chat.ts"
import { chatCompletion } from "../../wire/chat/ChatAnswer.ts"
import { decode } from "../../wire/chat/ChatRequest.ts"
import { ChatStream } from "../../wire/chat/ChatStream.ts"
import { heartbeat } from "../../wire/framing/Sse.ts"
import { inferencePaths } from "../Paths.ts"
import type { InferenceEndpoint } from "./InferenceHandler.ts"

interface DecodedChat {
  readonly request: ChatRequest
}

const noHeaders: Readonly<Record<string, string>> = {}

/** POST /v1/chat/completions. */
export const chatEndpoint: InferenceEndpoint<DecodedChat> = {
  name: "chat",
  path: inferencePaths.createChatCompletion,
  decode: (json) => Either.map(decode(json), (request) => ({ request })),
  headers: () => noHeaders,
  nonStreaming: (completion, { request }) =>
    chatCompletion(completion, completion.answer, completion.metadata, { excludeReasoning: request.reasoning.exclude }),
  stream: (start, { request }, write) =>
    new ChatStream(start, { includeUsage: request.includeUsage, excludeReasoning: request.reasoning.exclude }, write),
  heartbeat
}
