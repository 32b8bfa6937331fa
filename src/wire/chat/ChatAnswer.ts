import type { JsonObject, ReasoningDetail, ToolCall } from "../../domain/Chat.ts"
import type { Answer, AnswerToolCall } from "../../domain/Completion.ts"
import type { ResponseStart } from "../../domain/ResponseStart.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import { hexOf } from "../RequestIdHex.ts"
import { withMetadata } from "../ResponseMetadata.ts"
import type { ChatCompletion } from "./ChatAnswerSchema.ts"
import { chatUsage } from "./ChatUsage.ts"

/** The body of a non-streaming response. */
export const chatCompletion = (
  head: ResponseStart,
  answer: Answer,
  metadata: RouterMetadata,
  options: { readonly excludeReasoning: boolean }
): string => {
  const completion: Omit<ChatCompletion, "router_metadata"> = {
    id: completionId(head),
    object: "chat.completion",
    created: head.createdSeconds,
    model: head.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: contentOf(answer),
          refusal: answer.refusal === "" ? null : answer.refusal,
          ...(options.excludeReasoning ? {} : reasoningOf(answer, head.model)),
          ...(answer.toolCalls.length === 0 ? {} : { tool_calls: answer.toolCalls.map(toolCall) }),
          ...(answer.annotations.length === 0 ? {} : { annotations: answer.annotations }),
          ...(answer.audio === null ? {} : { audio: answer.audio })
        },
        logprobs: answer.logprobs === null ? null : { content: answer.logprobs, refusal: null },
        finish_reason: answer.finish
      }
    ],
    system_fingerprint: answer.systemFingerprint ?? ownFingerprint,
    ...(answer.usage === null ? {} : { usage: chatUsage(answer.usage) }),
    ...(answer.serviceTier === null ? {} : { service_tier: answer.serviceTier })
  }
  return withMetadata(completion, metadata)
}

/** Where the provider reports none: several clients need a text. It changes with the translation, which is part of the backend. */
const ownFingerprint = "fp_gateway_1"

export const completionId = (head: ResponseStart): string => `chatcmpl-${hexOf(head.requestId)}`

/** `null` instead of empty content where the message has tool calls, a refusal or audio. */
const contentOf = ({ audio, refusal, text, toolCalls }: Answer): string | null =>
  text === "" && (toolCalls.length > 0 || refusal !== "" || audio !== null) ? null : text

/** The reasoning text under both field names that clients read, and the blocks for sending the reasoning back. */
const reasoningOf = ({ reasoning }: Answer, model: string) => {
  if (reasoning.length === 0) return {}
  const text = reasoning.map((block) => (block.kind === "encrypted" ? "" : block.text)).join("")
  return {
    ...(text === "" ? {} : { reasoning_content: text, reasoning: text }),
    reasoning_details: reasoning.map((block, index) => reasoningDetail({ ...block, index, model }))
  }
}

interface ReasoningFragment {
  readonly kind: "text" | "summary" | "encrypted"
  readonly text: string
  readonly signature?: string | null
  readonly id?: string | null
  readonly providerFormat?: string
  readonly index: number
  /** The model that produced the block, the only one that can read its data or check its signature. */
  readonly model: string
  /** A fragment of a block whose text has come before: it has none of its own. */
  readonly isTextBefore?: boolean
}

export const reasoningDetail = ({
  id,
  index,
  isTextBefore = false,
  kind,
  model,
  providerFormat,
  signature,
  text
}: ReasoningFragment): ReasoningDetail => ({
  type: `reasoning.${kind}`,
  ...(isTextBefore && text === "" ? {} : { [textField[kind]]: text }),
  ...((signature ?? null) === null ? {} : { signature }),
  format: model,
  ...(providerFormat === undefined ? {} : { provider_format: providerFormat }),
  ...((id ?? null) === null ? {} : { id }),
  index
})
const textField = { text: "text", summary: "summary", encrypted: "data" } as const

const toolCall = (call: AnswerToolCall): ToolCall => {
  const extra: { readonly extra_content?: JsonObject } =
    call.extraContent === null ? {} : { extra_content: call.extraContent }
  const { arguments: text, id, name } = call
  return call.kind === "function"
    ? { id, type: "function", function: { name, arguments: text }, ...extra }
    : { id, type: "custom", custom: { name, input: text }, ...extra }
}
