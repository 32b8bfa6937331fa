import type { JsonObject } from "../../domain/Chat.ts"
import type { FinishReason } from "../../domain/ChatEvent.ts"
import { type Answer, blocksOf } from "../../domain/Completion.ts"
import { writeExactly } from "../../domain/ExactJson.ts"
import type { ResponseStart } from "../../domain/ResponseStart.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import { completionTokens, promptTokens, type Usage } from "../../domain/Usage.ts"
import {
  annotation,
  callId,
  callItem,
  callItemId,
  callTarget,
  type MessageItem,
  messageId,
  messageItem,
  type OutputItem,
  reasoningId,
  reasoningItem,
  responseId,
  textContent
} from "./ResponsesItems.ts"
import { clientMetadata, type DecodedResponses, type ResponsesEcho } from "./ResponsesRequest.ts"

/** The body of a non-streaming response. */
export const responseObject = (
  head: ResponseStart,
  decoded: DecodedResponses,
  answer: Answer,
  metadata: RouterMetadata
): string =>
  writeExactly(
    finishedResponse(head, decoded.echo, {
      output: outputOf(head, decoded, answer),
      finish: answer.finish,
      usage: answer.usage,
      serviceTier: answer.serviceTier,
      metadata: clientMetadata(metadata, decoded)
    })
  )

/** The result of a finished response. */
export interface ResponseResult {
  readonly output: ReadonlyArray<OutputItem>
  readonly finish: FinishReason
  readonly usage: Usage | null
  readonly serviceTier: string | null
  readonly metadata: RouterMetadata
}

export const finishedResponse = (head: ResponseStart, echo: ResponsesEcho, ending: ResponseResult): JsonObject => {
  const reason = incompleteReason(ending.finish)
  const isDropped = ending.metadata.dropped_parameters.includes("service_tier")
  return response(head, echo, {
    status: reason === undefined ? "completed" : "incomplete",
    completed_at:
      reason === undefined ? Math.floor(head.createdSeconds + Math.max(0, ending.metadata.latency_ms) / 1_000) : null,
    incomplete_details: reason === undefined ? null : { reason },
    error: null,
    output: ending.output,
    usage: ending.usage === null ? null : usageOf(ending.usage),
    service_tier: ending.serviceTier ?? (isDropped ? "default" : echo.service_tier),
    router_metadata: ending.metadata
  })
}

export const startedResponse = (head: ResponseStart, echo: ResponsesEcho): JsonObject =>
  response(head, echo, {
    ...unfinished,
    status: "in_progress",
    error: null,
    output: [],
    service_tier: echo.service_tier
  })

export const failedResponse = (
  head: ResponseStart,
  echo: ResponsesEcho,
  output: ReadonlyArray<OutputItem>,
  error: { readonly code: string; readonly message: string }
): JsonObject =>
  response(head, echo, { ...unfinished, status: "failed", error, output, service_tier: echo.service_tier })

/** Why a response is incomplete; `undefined` when it is complete. */
export const incompleteReason = (finish: FinishReason): "max_output_tokens" | "content_filter" | undefined => {
  switch (finish) {
    case "length":
      return "max_output_tokens"
    case "content_filter":
      return "content_filter"
    case "stop":
    case "tool_calls":
      return undefined
  }
}

interface Progress {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed"
  readonly completed_at: number | null
  readonly incomplete_details: { readonly reason: string } | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly output: ReadonlyArray<OutputItem>
  readonly usage: JsonObject | null
  readonly service_tier: string
  readonly router_metadata: RouterMetadata | null
}

const unfinished = { completed_at: null, incomplete_details: null, usage: null, router_metadata: null }

const response = (head: ResponseStart, echo: ResponsesEcho, progress: Progress): JsonObject => ({
  id: responseId(head.requestId),
  object: "response",
  created_at: head.createdSeconds,
  model: head.model,
  background: false,
  previous_response_id: null,
  store: false,
  ...echo,
  ...progress
})

/** Token counts as Responses nests them: cached tokens are part of the input, reasoning tokens of the output. */
const usageOf = (usage: Usage): JsonObject => ({
  input_tokens: promptTokens(usage),
  input_tokens_details: { cached_tokens: usage.cacheReadTokens, cache_write_tokens: usage.cacheWriteTokens },
  output_tokens: completionTokens(usage),
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: promptTokens(usage) + completionTokens(usage)
})

const outputOf = (head: ResponseStart, decoded: DecodedResponses, answer: Answer): ReadonlyArray<OutputItem> => {
  const output: Array<OutputItem> = []
  const seen = new Set<string>()
  let [reasoningItems, messages] = [0, 0]
  for (const block of blocksOf(answer)) {
    switch (block.kind) {
      case "reasoning": {
        const { signature, text } = block.block
        if (!decoded.request.reasoning.exclude && (text !== "" || signature !== null))
          output.push(reasoningItem(reasoningId(head.requestId, reasoningItems++), block.block, head.model))
        break
      }
      case "text": {
        const content = messageContent(answer, block.text)
        if (content.length > 0) output.push(messageItem(messageId(head.requestId, messages++), "completed", content))
        break
      }
      case "call": {
        const { call, index } = block
        const target = callTarget(call.kind, call.name, decoded.toolMap)
        const id = call.id === "" || seen.has(call.id) ? callId(head.requestId, index) : call.id
        seen.add(id)
        const itemId = callItemId(head.requestId, target.type, index)
        output.push(callItem(itemId, "completed", id, target, call.arguments, call.extraContent))
      }
    }
  }
  return incompleteReason(answer.finish) === undefined ? output : lastIncomplete(output)
}

const messageContent = (answer: Answer, text: string): MessageItem["content"] => {
  const annotations = answer.annotations.map(annotation).filter((one) => one !== undefined)
  const logprobs = answer.logprobs ?? []
  const content: Array<MessageItem["content"][number]> = []
  if (text !== "" || annotations.length > 0 || logprobs.length > 0)
    content.push(textContent(text, annotations, logprobs))
  if (answer.refusal !== "") content.push({ type: "refusal", refusal: answer.refusal })
  return content
}

/** The last item of an incomplete response is incomplete. */
const lastIncomplete = (output: ReadonlyArray<OutputItem>): ReadonlyArray<OutputItem> =>
  output.map((item, index) =>
    index === output.length - 1 && item.type !== "reasoning" ? { ...item, status: "incomplete" } : item
  )
