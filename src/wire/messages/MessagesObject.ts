import {
  type Answer,
  type AnswerToolCall,
  blocksOf,
  type ReasoningBlock,
  type WholeBlock
} from "../../domain/Completion.ts"
import type { ResponseStart } from "../../domain/ResponseStart.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import { completionTokens, type Usage } from "../../domain/Usage.ts"
import { hexOf } from "../RequestIdHex.ts"
import { isObject } from "../validation/Guard.ts"
import { parse } from "../validation/JsonBounds.ts"
import type { AnswerBlock, Message, MessagesUsage } from "./MessagesObjectSchema.ts"
import { signatureOf } from "./MessagesReasoning.ts"

interface Ending {
  readonly reason: Answer["finish"]
  readonly native: string
  readonly stopSequence: string | null
  /** What the model has said in place of an answer. */
  readonly refusal: string
}

/** The body of a non-streaming response. */
export const messageObject = (
  head: ResponseStart,
  answer: Answer,
  metadata: RouterMetadata,
  options: { readonly omitReasoning: boolean }
): string => {
  const { finish: reason, nativeFinish: native, refusal, stopSequence } = answer
  const message: Message = {
    ...emptyMessage(head, answer.usage, answer.serviceTier),
    ...stopOf({ reason, native, refusal, stopSequence }),
    router_metadata: metadata
  }
  const blocks = contentOf(head, answer, options.omitReasoning)
  return JSON.stringify(message).replace('"content":[]', () => `"content":[${blocks.join(",")}]`)
}

/** The message of `message_start`: all fields that are known before the content. */
export const emptyMessage = (head: ResponseStart, usage: Usage | null, serviceTier: string | null): Message => ({
  id: messageId(head),
  type: "message",
  role: "assistant",
  model: head.model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  container: null,
  diagnostics: null,
  usage: {
    ...usageOf(usage),
    cache_creation: null,
    service_tier: tiers.get(serviceTier ?? "") ?? null,
    inference_geo: null,
    speed: null
  }
})

const messageId = ({ requestId }: ResponseStart): string => `msg_${hexOf(requestId)}`

const tiers: ReadonlyMap<string, "standard" | "priority" | "batch"> = new Map([
  ["standard", "standard"],
  ["default", "standard"],
  ["priority", "priority"],
  ["batch", "batch"]
])

/** The four counts are disjoint, as they are charged. */
export const usageOf = (usage: Usage | null): MessagesUsage => ({
  input_tokens: usage?.inputTokens ?? 0,
  cache_creation_input_tokens: usage?.cacheWriteTokens ?? 0,
  cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
  output_tokens: usage === null ? 0 : completionTokens(usage),
  output_tokens_details: { thinking_tokens: usage?.reasoningTokens ?? 0 },
  server_tool_use: null
})

export const stopOf = ({ native, reason, refusal, stopSequence }: Ending) => ({
  stop_reason: refusal === "" ? stopReasonOf(reason, native) : "refusal",
  stop_sequence: stopSequence,
  stop_details:
    reason === "content_filter" || refusal !== ""
      ? { type: "refusal" as const, category: null, explanation: refusal === "" ? null : refusal }
      : null,
  container: null
})

const stopReasonOf = (reason: Answer["finish"], native: string): NonNullable<Message["stop_reason"]> => {
  switch (reason) {
    case "stop":
      return native === "stop_sequence" ? native : "end_turn"
    case "length":
      return native === "model_context_window_exceeded" ? native : "max_tokens"
    case "tool_calls":
      return "tool_use"
    case "content_filter":
      return "refusal"
  }
}

/** As JSON texts: the arguments of calls are not written anew. */
const contentOf = (head: ResponseStart, answer: Answer, omitReasoning: boolean): ReadonlyArray<string> => {
  const ids = new CallIds(head)
  const written = (block: WholeBlock): string | undefined => {
    switch (block.kind) {
      case "reasoning": {
        const reasoning = reasoningBlock(block.block, head.model, omitReasoning)
        return reasoning && JSON.stringify(reasoning)
      }
      case "text": {
        const text = block.text + answer.refusal
        return text === "" ? undefined : JSON.stringify(textBlock(text))
      }
      case "call": {
        const { call, index } = block
        const input = inputOf(call)
        if (input === undefined) return undefined
        const toolUse = toolUseBlock(ids.of(call.id, index), call.name, call.extraContent)
        return JSON.stringify(toolUse).replace('"input":{}', () => `"input":${input}`)
      }
    }
  }
  return blocksOf(answer)
    .map(written)
    .filter((block) => block !== undefined)
}

export const textBlock = (text: string): AnswerBlock => ({ type: "text", text })

/** `undefined`: of a block without its text only the signature is left, and there is none. */
export const reasoningBlock = (
  block: ReasoningBlock,
  model: string,
  omitReasoning: boolean
): AnswerBlock | undefined => {
  if (block.kind === "encrypted") {
    return block.text === "" ? undefined : { type: "redacted_thinking", data: signatureOf(block, model) }
  }
  if (block.signature === null && (omitReasoning || block.text === "")) return undefined
  return {
    type: "thinking",
    thinking: omitReasoning ? "" : block.text,
    signature: signatureOf(block, model, omitReasoning)
  }
}

export const toolUseBlock = (id: string, name: string, extra: AnswerToolCall["extraContent"]): AnswerBlock => ({
  type: "tool_use",
  id,
  // before the name, which is the model's own text
  input: {},
  name,
  caller: { type: "direct" },
  ...(extra !== null && { extra_content: extra })
})

/** `undefined`: the output cap or a filter has cut it short, which the stop reason says. */
const inputOf = ({ arguments: text }: AnswerToolCall): string | undefined => {
  if (!/\S/.test(text)) return "{}"
  return isObject(parse(text)) ? text.trim() : undefined
}

/** Ids of calls are unique in a message, whatever the provider has sent. */
export class CallIds {
  private readonly taken = new Set<string>()
  private readonly head: ResponseStart

  constructor(head: ResponseStart) {
    this.head = head
  }

  of(given: string, index: number): string {
    const id =
      given === "" || this.taken.has(given) ? `toolu_${hexOf(this.head.requestId)}${index.toString(36)}` : given
    this.taken.add(id)
    return id
  }
}
