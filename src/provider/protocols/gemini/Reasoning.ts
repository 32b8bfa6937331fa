import type { Effort, JsonObject } from "../../../domain/Chat.ts"
import type { ProviderCall } from "../../Provider.ts"
import { reasoningBudget } from "../shared/ReasoningBudget.ts"
import { unnamedEfforts } from "../shared/UnnamedEfforts.ts"

/** `includeThoughts` is accepted only when the model reasons. */
export const lowerReasoning = (call: ProviderCall): JsonObject | undefined => {
  const { effort, model, request } = call
  if (model.reasoning === null) return undefined
  const reasons =
    effort === "none"
      ? model.reasoning.mandatory
      : effort !== undefined || request.reasoning.maxTokens !== undefined || model.reasonsByDefault
  const includeThoughts = reasons && !request.reasoning.exclude ? { includeThoughts: true } : {}
  const config = { ...requestedReasoning(call), ...includeThoughts }
  return Object.keys(config).length === 0 ? undefined : config
}

const requestedReasoning = ({ effort, maxOutputTokens, model, request }: ProviderCall): JsonObject => {
  const reasoning = model.reasoning
  if (reasoning === null || reasoning.style === "fixed") return {}
  const range = reasoning.budget
  if (typeof effort === "number") {
    const tokens = (maxOutputTokens * effort) / maxReasoningDepth
    return { thinkingBudget: reasoningBudget({ effort: undefined, tokens, maxOutputTokens, range }) }
  }
  if (reasoning.style === "effort") return effort === undefined ? {} : { thinkingLevel: levels[effort] }
  if (effort === "none") return { thinkingBudget: reasoning.mandatory ? (range?.min ?? 1) : 0 }
  if (reasoning.style === "toggle") return effort === undefined ? {} : { thinkingBudget: automaticBudget }
  const tokens = request.reasoning.maxTokens
  if (effort === undefined && tokens === undefined) return {}
  return { thinkingBudget: reasoningBudget({ effort, tokens, maxOutputTokens, range }) }
}

/** A reasoning depth is the share of the output cap that may be used for reasoning. */
const maxReasoningDepth = 100

/** The model decides the budget. */
const automaticBudget = -1

const levels: Readonly<Record<Effort, string>> = {
  none: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
  max: "HIGH"
}

export const unsentEfforts: ReadonlyArray<Effort> = unnamedEfforts(levels)
