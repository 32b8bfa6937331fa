import type { JsonObject } from "../../domain/Chat.ts"
import type { AnswerToolCall, ReasoningBlock } from "../../domain/Completion.ts"
import type { RequestId } from "../../domain/Ids.ts"
import { encodeReasoning } from "../ReasoningContinuity.ts"
import { hexOf } from "../RequestIdHex.ts"
import type { ToolMap } from "./ResponsesTools.ts"

export type ItemStatus = "in_progress" | "completed" | "incomplete"

export type TextContent = {
  readonly type: "output_text"
  readonly text: string
  readonly annotations: ReadonlyArray<JsonObject>
  readonly logprobs: ReadonlyArray<unknown>
}
type RefusalContent = { readonly type: "refusal"; readonly refusal: string }

export type MessageItem = {
  readonly id: string
  readonly type: "message"
  readonly status: ItemStatus
  readonly role: "assistant"
  readonly content: ReadonlyArray<TextContent | RefusalContent>
}

export type ReasoningItem = {
  readonly id: string
  readonly type: "reasoning"
  readonly summary: ReadonlyArray<SummaryText>
  readonly content?: ReadonlyArray<ReasoningText>
  readonly encrypted_content?: string
}
type ReasoningText = { readonly type: "reasoning_text"; readonly text: string }
type SummaryText = { readonly type: "summary_text"; readonly text: string }

export type FunctionCallItem = CallFacts & { readonly type: "function_call"; readonly arguments: string }
export type CustomToolCallItem = CallFacts & { readonly type: "custom_tool_call"; readonly input: string }

type CallFacts = {
  readonly id: string
  readonly status: ItemStatus
  readonly call_id: string
  readonly name: string
  readonly namespace?: string
  /** Opaque provider data of the call, such as reasoning signatures. */
  readonly extra_content?: JsonObject
}

export type OutputItem = MessageItem | ReasoningItem | FunctionCallItem | CustomToolCallItem

/** Ids derive from the request id alone, so that they can be found from a log and a replay creates the same ids. */
export const responseId = (requestId: RequestId): string => `resp_${hexOf(requestId)}`
export const messageId = (requestId: RequestId, nth: number): string => `msg_${hexOf(requestId)}_${nth}`
export const reasoningId = (requestId: RequestId, nth: number): string => `rs_${hexOf(requestId)}_${nth}`
export const callItemId = (requestId: RequestId, type: CallTarget["type"], index: number): string =>
  `${type === "function_call" ? "fc" : "ctc"}_${hexOf(requestId)}_${index}`
/** Replaces a missing or duplicate id of a call: clients distinguish calls by this id alone. */
export const callId = (requestId: RequestId, index: number): string => `call_${hexOf(requestId)}_${index}`

export const textContent = (
  text: string,
  annotations: ReadonlyArray<JsonObject>,
  logprobs: ReadonlyArray<unknown>
): TextContent => ({ type: "output_text", text, annotations, logprobs })

export const messageItem = (id: string, status: ItemStatus, content: MessageItem["content"]): MessageItem => ({
  id,
  type: "message",
  status,
  role: "assistant",
  content
})

/**
 * An encrypted block has an empty summary. Reasoning itself, unlike a provider's summary of it, is the item's content too: some
 * clients read only the one, some only the other.
 */
export const reasoningItem = (id: string, block: ReasoningBlock, origin: string): ReasoningItem => ({
  id,
  type: "reasoning",
  summary: block.kind === "encrypted" || block.text === "" ? [] : [{ type: "summary_text", text: block.text }],
  ...(block.kind === "text" && block.text !== ""
    ? { content: [{ type: "reasoning_text" as const, text: block.text }] }
    : {}),
  encrypted_content: encodeReasoning(block, origin)
})

/** The client's name and namespace of a called tool. */
export interface CallTarget {
  readonly type: "function_call" | "custom_tool_call"
  readonly name: string
  readonly namespace: string | undefined
}

export const callTarget = (kind: AnswerToolCall["kind"], name: string, tools: ToolMap): CallTarget => {
  const origin = tools.get(name)
  return {
    type: kind === "custom" ? "custom_tool_call" : "function_call",
    name: origin?.name ?? name,
    namespace: origin?.namespace
  }
}

export const callItem = (
  id: string,
  status: ItemStatus,
  callId: string,
  target: CallTarget,
  written: string,
  extraContent: JsonObject | null
): FunctionCallItem | CustomToolCallItem => {
  const facts = {
    id,
    status,
    call_id: callId,
    name: target.name,
    ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
    ...(extraContent === null ? {} : { extra_content: extraContent })
  }
  return target.type === "function_call"
    ? { ...facts, type: "function_call", arguments: written }
    : { ...facts, type: "custom_tool_call", input: written }
}

/** Chat completions nests a citation under its type, Responses does not; other kinds of annotations have no counterpart. */
export const annotation = (chat: JsonObject): JsonObject | undefined => {
  const citation = chat["url_citation"]
  if (chat["type"] !== "url_citation" || typeof citation !== "object" || citation === null) return undefined
  return {
    type: "url_citation",
    url: "url" in citation && typeof citation.url === "string" ? citation.url : "",
    title: "title" in citation && typeof citation.title === "string" ? citation.title : "",
    start_index: "start_index" in citation && typeof citation.start_index === "number" ? citation.start_index : 0,
    end_index: "end_index" in citation && typeof citation.end_index === "number" ? citation.end_index : 0
  }
}
