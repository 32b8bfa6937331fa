import type { Effort, JsonObject } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { ProviderCall } from "../../Provider.ts"
import * as Claude from "../anthropic-messages/Thinking.ts"
import type { Offer } from "../turns/Tools.ts"
import type { Family } from "./Family.ts"
import type { Messages } from "./Messages.ts"

/** How a call is told to think; without either the model does as it always does. */
export interface Thinking {
  /** For `outputConfig`. */
  readonly effort: string | undefined
  /** For `additionalModelRequestFields`. */
  readonly fields: JsonObject | undefined
  /** The model thinks, asked or not. */
  readonly isThinking: boolean
}

export const isForced = ({ choice }: Offer): boolean => choice?._tag === "Required" || choice?._tag === "Tool"

/** The answer goes on with a turn of the model's that called tools and did not think first. */
export const isMidTools = ({ messages }: Messages): boolean =>
  messages.at(-1)?.content[0]?.["toolResult"] !== undefined &&
  messages.at(-2)?.content[0]?.["reasoningContent"] === undefined

export const thinkingOf = (
  call: ProviderCall,
  family: Family,
  isForced: boolean,
  isMidTools: boolean
): Thinking | ProviderFailure => {
  if (family.isClaude) {
    const thinking = Claude.thinkingOf(call, isForced, isMidTools)
    if ("_tag" in thinking) return thinking
    return {
      effort: thinking.effort,
      fields: thinking.thinking === undefined ? undefined : { thinking: thinking.thinking },
      isThinking: Claude.isThinking(thinking)
    }
  }
  const { effort, model } = call
  const isSent = effort !== undefined && !call.dropped.includes("reasoning_effort")
  if (isSent && typeof effort === "number") {
    return { _tag: "RequestRejected", message: "The provider takes no numeric effort.", param: "reasoning_effort" }
  }
  const silent = { effort: undefined, fields: undefined, isThinking: model.reasonsByDefault }
  if (!isSent || typeof effort === "number" || model.reasoning?.style !== "effort") return silent
  return { ...silent, isThinking: effort !== "none", ...asked(effort, family) }
}

const asked = (effort: Effort, family: Family): Partial<Thinking> => {
  switch (family.effort) {
    case "reasoning":
      return { fields: { reasoning: { effort } } }
    case "reasoning_effort":
      return { fields: { reasoning_effort: effort } }
    case "reasoningConfig":
      return {
        fields: {
          reasoningConfig:
            effort === "none" ? { type: "disabled" } : { type: "enabled", maxReasoningEffort: novaEfforts[effort] }
        }
      }
    case "thinking":
    case "outputConfig":
      // there is no word for none
      return effort === "none" ? {} : { effort: effort === "minimal" ? "low" : effort }
  }
}

const novaEfforts: Readonly<Record<Exclude<Effort, "none">, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high"
}
