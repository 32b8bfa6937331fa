import type { Effort, JsonObject } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { ProviderCall } from "../../Provider.ts"
import * as Claude from "../anthropic-messages/Reasoning.ts"
import { unnamedEfforts } from "../shared/UnnamedEfforts.ts"
import { type Family, familyOf } from "./Family.ts"
import type { LoweredMessages } from "./Messages.ts"

/** The reasoning fields of a request; without them the model uses its default. */
export interface LoweredReasoning {
  /** For `outputConfig`. */
  readonly effort: string | undefined
  /** For `additionalModelRequestFields`. */
  readonly fields: JsonObject | undefined
  /** The model reasons, by request or by default. */
  readonly isReasoning: boolean
}

/** The response continues an assistant turn that called tools and has no reasoning at its beginning. */
export const isMidTools = ({ messages }: LoweredMessages): boolean =>
  messages.at(-1)?.content[0]?.["toolResult"] !== undefined &&
  messages.at(-2)?.content[0]?.["reasoningContent"] === undefined

export const lowerReasoning = (
  call: ProviderCall,
  family: Family,
  isForced: boolean,
  isMidTools: boolean
): LoweredReasoning | ProviderFailure => {
  if (family.isClaude) {
    const reasoning = Claude.lowerReasoning(call, isForced, isMidTools)
    if ("_tag" in reasoning) return reasoning
    return {
      effort: reasoning.effort,
      fields: reasoning.thinking === undefined ? undefined : { thinking: reasoning.thinking },
      isReasoning: Claude.isReasoning(reasoning)
    }
  }
  const { effort, model } = call
  const isSent = effort !== undefined && !call.dropped.includes("reasoning_effort")
  if (isSent && typeof effort === "number") {
    return {
      _tag: "RequestRejected",
      message: "The provider does not support a numeric effort.",
      param: "reasoning_effort"
    }
  }
  const unsent = { effort: undefined, fields: undefined, isReasoning: model.reasonsByDefault }
  if (!isSent || typeof effort === "number" || model.reasoning?.style !== "effort") return unsent
  return { ...unsent, isReasoning: effort !== "none", ...effortFields(effort, family) }
}

const effortFields = (effort: Effort, family: Family): Partial<LoweredReasoning> => {
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
      // these fields have no value for `none`
      return effort === "none" ? {} : { effort: effort === "minimal" ? "low" : effort }
  }
}

export const unsentEffortsOf = (upstreamModel: string): ReadonlyArray<Effort> => {
  const family = familyOf(upstreamModel)
  if (family.isClaude) return Claude.unsentEfforts
  switch (family.effort) {
    case "reasoning":
    case "reasoning_effort":
      return []
    case "reasoningConfig":
      return unnamedEfforts(novaEfforts)
    case "thinking":
    case "outputConfig":
      return ["none", "minimal"]
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
