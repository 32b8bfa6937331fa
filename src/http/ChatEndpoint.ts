import * as Either from "effect/Either"
import type { ChatRequest } from "../domain/Chat.ts"
import { chatCompletion } from "../wire/ChatAnswer.ts"
import { decode } from "../wire/ChatRequest.ts"
import { ChatStream } from "../wire/ChatStream.ts"
import type { Endpoint } from "./CallHttp.ts"

interface DecodedChat {
  readonly request: ChatRequest
}

const noHeaders: Readonly<Record<string, string>> = {}

/** POST /v1/chat/completions. */
export const chatEndpoint: Endpoint<DecodedChat> = {
  name: "chat",
  path: "/v1/chat/completions",
  decode: (json) => Either.map(decode(json), (request) => ({ request })),
  headers: () => noHeaders,
  plain: (completion, { request }) =>
    chatCompletion(completion, completion.answer, completion.metadata, { excludeReasoning: request.reasoning.exclude }),
  stream: (start, { request }, write) =>
    new ChatStream(start, { includeUsage: request.includeUsage, excludeReasoning: request.reasoning.exclude }, write)
}
