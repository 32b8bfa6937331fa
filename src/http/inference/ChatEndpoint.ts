import * as Either from "effect/Either"
import type { ChatRequest } from "../../domain/Chat.ts"
import { chatCompletion } from "../../wire/chat/ChatAnswer.ts"
import { decode } from "../../wire/chat/ChatRequest.ts"
import { ChatStream } from "../../wire/chat/ChatStream.ts"
import { heartbeat } from "../../wire/framing/Sse.ts"
import { inferencePaths } from "../Paths.ts"
import type { InferenceEndpoint } from "./InferenceEndpoint.ts"

interface DecodedChat {
  readonly request: ChatRequest
  /** The effort was sent as `reasoning.effort`. */
  readonly hasNestedEffort: boolean
}

const noHeaders: Readonly<Record<string, string>> = {}

const hasNestedEffort = (json: unknown, { effort }: ChatRequest): boolean =>
  effort !== undefined &&
  typeof json === "object" &&
  json !== null &&
  (!("reasoning_effort" in json) || json.reasoning_effort === null)

/** POST /v1/chat/completions. */
export const chatEndpoint: InferenceEndpoint<DecodedChat> = {
  name: "chat",
  path: inferencePaths.createChatCompletion,
  decode: (json, literals) =>
    Either.map(decode(json, literals), (request) => ({ request, hasNestedEffort: hasNestedEffort(json, request) })),
  paramOf: (param, { hasNestedEffort }) =>
    param === "reasoning_effort" && hasNestedEffort ? "reasoning.effort" : param,
  headers: () => noHeaders,
  nonStreaming: (completion, { request }) =>
    chatCompletion(completion, completion.answer, completion.metadata, { excludeReasoning: request.reasoning.exclude }),
  stream: (start, { request }, write) =>
    new ChatStream(start, { includeUsage: request.includeUsage, excludeReasoning: request.reasoning.exclude }, write),
  heartbeat
}
