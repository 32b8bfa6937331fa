import * as AiError from "@effect/ai/AiError"
import type * as Response from "@effect/ai/Response"
import * as Tool from "@effect/ai/Tool"
import * as Either from "effect/Either"
import type { FinishReason } from "../domain/ChatEvent.ts"
import type { Answer, AnswerToolCall } from "../domain/Completion.ts"
import { dateAt } from "../domain/Dates.ts"
import type { ResponseStart } from "../domain/ResponseStart.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"
import type { Usage } from "../domain/Usage.ts"
import type { Completion } from "../gateway/CallProgram.ts"
import { reasoningDetail } from "../wire/chat/ChatAnswer.ts"
import { metadataName } from "./MetadataName.ts"

/** A complete response as parts, its reasoning first. */
export const partsOf = (
  completion: Completion
): Either.Either<Array<Response.PartEncoded>, AiError.MalformedOutput> => {
  const { answer, metadata, usage } = completion
  return Either.map(Either.all(answer.toolCalls.map(toolCallPart)), (calls) => [
    startPart(completion),
    ...answer.reasoning.map(
      (block, index): Response.ReasoningPartEncoded => ({
        type: "reasoning",
        text: block.kind === "encrypted" ? "" : block.text,
        metadata: { [metadataName]: { ...reasoningDetail({ ...block, index, model: completion.model }) } }
      })
    ),
    ...textParts(answer),
    ...answer.annotations.flatMap((annotation) => sourcePart(annotation, completion.requestId) ?? []),
    ...calls,
    finishPart(answer.finish, usage, metadata)
  ])
}

export const startPart = ({
  createdSeconds,
  model,
  requestId
}: ResponseStart): Response.ResponseMetadataPartEncoded => ({
  type: "response-metadata",
  id: requestId,
  modelId: model,
  timestamp: dateAt(createdSeconds * 1_000).toISOString()
})

/** There is no part for a refusal. */
const textParts = ({ refusal, text }: Answer): ReadonlyArray<Response.TextPartEncoded> =>
  [text, refusal].flatMap((one) => (one === "" ? [] : [{ type: "text", text: one }]))

export const toolCallPart = ({
  arguments: text,
  id,
  name
}: Pick<AnswerToolCall, "arguments" | "id" | "name">): Either.Either<
  Response.ToolCallPartEncoded,
  AiError.MalformedOutput
> =>
  Either.try({
    try: () => ({ type: "tool-call", id, name, params: Tool.unsafeSecureJsonParse(text === "" ? "{}" : text) }),
    catch: (cause) =>
      new AiError.MalformedOutput({
        module: "GatewayLanguageModel",
        method: "toolCallPart",
        description: `The arguments of the call of '${name}' are not JSON.`,
        cause
      })
  })

/** Of a citation in the shape of chat completions. */
export const sourcePart = (
  { type, url_citation }: { readonly [key: string]: unknown },
  id: string
): Response.UrlSourcePartEncoded | undefined => {
  if (type !== "url_citation" || typeof url_citation !== "object" || url_citation === null) return undefined
  const { title, url } = url_citation as { readonly title?: unknown; readonly url?: unknown }
  return typeof url === "string"
    ? { type: "source", sourceType: "url", id, url, title: typeof title === "string" ? title : url }
    : undefined
}

/** With `router_metadata` as its metadata. */
export const finishPart = (
  reason: FinishReason,
  { cacheReadTokens, cacheWriteTokens, inputTokens, outputTokens, reasoningTokens }: Usage,
  metadata: RouterMetadata
): Response.FinishPartEncoded => {
  const [input, output] = [inputTokens + cacheReadTokens + cacheWriteTokens, outputTokens + reasoningTokens]
  return {
    type: "finish",
    reason: reasons[reason],
    usage: {
      inputTokens: input,
      outputTokens: output,
      totalTokens: input + output,
      reasoningTokens,
      cachedInputTokens: cacheReadTokens
    },
    metadata: { [metadataName]: { ...metadata } }
  }
}

const reasons = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  content_filter: "content-filter"
} as const satisfies Record<FinishReason, Response.FinishReason>
