import { asksToReason, type Effort, type JsonObject } from "../../../domain/Chat.ts"
import { alwaysReasons } from "../../../domain/Model.ts"
import { minClaudeBudgetTokens } from "../../../domain/ProtocolLimits.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { ProviderCall } from "../../Provider.ts"
import type { Conversation } from "../shared/Conversation.ts"
import { reasoningBudget } from "../shared/ReasoningBudget.ts"
import { unnamedEfforts } from "../shared/UnnamedEfforts.ts"
import type { LoweredMessages } from "./Messages.ts"

/** The reasoning fields of a request; without them the model uses its default. */
export interface LoweredReasoning {
  readonly thinking: JsonObject | undefined
  readonly effort: string | undefined
  /** The model reasons although no field is sent. */
  readonly byDefault: boolean
}

export const isReasoning = ({ thinking, byDefault: unasked }: LoweredReasoning): boolean =>
  thinking === undefined ? unasked : thinking["type"] !== "disabled"

/**
 * `isForced`: a tool must be called, which the API rejects while the model reasons. `isMidTools`: the assistant turn that the
 * response continues has no reasoning of this model; the API then rejects a reasoning budget.
 */
export const lowerReasoning = (
  call: ProviderCall,
  isForced: boolean,
  isMidTools: boolean
): LoweredReasoning | ProviderFailure => {
  const { effort, maxOutputTokens, model, request } = call
  const { reasoning } = model
  const wanted = call.dropped.includes("reasoning_effort") ? undefined : effort
  if (typeof wanted === "number") {
    return {
      _tag: "RequestRejected",
      message: "The provider does not support a numeric effort.",
      param: "reasoning_effort"
    }
  }
  if (reasoning === null) return unsent(model.reasonsByDefault)
  if (isForced) {
    return alwaysReasons(model)
      ? {
          _tag: "RequestRejected",
          message: "The model always reasons and then does not support a forced tool call.",
          param: "tool_choice"
        }
      : disabled(model.reasonsByDefault)
  }
  const { mode } = request.reasoning
  if (wanted === "none" || (wanted === undefined && mode === "disabled")) return disabled(model.reasonsByDefault)
  const isAsked = wanted !== undefined || asksToReason(request.reasoning)
  switch (reasoning.style) {
    case "fixed":
      return unsent(model.reasonsByDefault)
    case "effort":
      if (wanted !== undefined) return { ...adaptive(call), effort: efforts[wanted] }
      return mode === undefined ? unsent(model.reasonsByDefault) : adaptive(call)
    case "toggle":
      return wanted === undefined && mode === undefined ? unsent(model.reasonsByDefault) : adaptive(call)
    case "budget": {
      const tokens = request.reasoning.maxTokens
      if (!isAsked || isMidTools || maxOutputTokens <= minClaudeBudgetTokens) return unsent(model.reasonsByDefault)
      const range = {
        min: Math.max(minClaudeBudgetTokens, reasoning.budget?.min ?? 0),
        max: reasoning.budget?.max ?? null
      }
      const budget = reasoningBudget({ effort: wanted, tokens, maxOutputTokens, range })
      return { thinking: { type: "enabled", budget_tokens: budget }, effort: undefined, byDefault: false }
    }
  }
}

/** The response continues an assistant turn that called tools and has no reasoning at its beginning. */
export const isMidTools = ({ turns }: Conversation, { messages }: LoweredMessages): boolean => {
  if (turns.at(-1)?.blocks[0]?._tag !== "ToolResult") return false
  const first = messages.findLast(({ role }) => role === "assistant")?.content[0]?.["type"]
  return first !== "thinking" && first !== "redacted_thinking"
}

const unsent = (unasked: boolean): LoweredReasoning => ({ thinking: undefined, effort: undefined, byDefault: unasked })

/** Some models that reason only on request reject `disabled`. */
const disabled = (isOnByDefault: boolean): LoweredReasoning =>
  isOnByDefault ? { thinking: { type: "disabled" }, effort: undefined, byDefault: false } : unsent(false)

const adaptive = ({ request }: ProviderCall): LoweredReasoning => ({
  thinking: { type: "adaptive", display: request.reasoning.exclude ? "omitted" : "summarized" },
  effort: undefined,
  byDefault: false
})

const efforts: Readonly<Record<Exclude<Effort, "none">, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max"
}

export const unsentEfforts: ReadonlyArray<Effort> = unnamedEfforts(efforts)
