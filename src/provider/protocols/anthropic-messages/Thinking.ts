import type { Effort, JsonObject } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { ProviderCall } from "../../Provider.ts"
import { thinkingBudget } from "../../ThinkingBudget.ts"

/** How a call is told to think; without either field the model does as it always does. */
export interface Thinking {
  readonly thinking: JsonObject | undefined
  readonly effort: string | undefined
  /** The model thinks although nothing is sent. */
  readonly unasked: boolean
}

export const isThinking = ({ thinking, unasked }: Thinking): boolean =>
  thinking === undefined ? unasked : thinking["type"] !== "disabled"

/**
 * `isForced`: a tool has to be called, which a thinking model refuses. `isMidTools`: the turn that the answer goes on with has
 * no thoughts of this model, without which a budget is refused.
 */
export const thinkingOf = (call: ProviderCall, isForced: boolean, isMidTools: boolean): Thinking | ProviderFailure => {
  const { effort, maxOutputTokens, model, request } = call
  const { reasoning } = model
  const wanted = call.dropped.includes("reasoning_effort") ? undefined : effort
  if (typeof wanted === "number") {
    return { _tag: "RequestRejected", message: "The provider takes no numeric effort.", param: "reasoning_effort" }
  }
  if (reasoning === null) return silent(model.reasonsByDefault)
  if (isForced) {
    return reasoning.mandatory && model.reasonsByDefault
      ? {
          _tag: "RequestRejected",
          message: "The model always thinks and then cannot be made to call a tool.",
          param: "tool_choice"
        }
      : off(model.reasonsByDefault)
  }
  if (wanted === "none") return off(model.reasonsByDefault)
  switch (reasoning.style) {
    case "fixed":
      return silent(model.reasonsByDefault)
    case "effort":
      return wanted === undefined
        ? silent(model.reasonsByDefault)
        : { ...adaptive(call), effort: efforts[wanted], unasked: false }
    case "toggle":
      return wanted === undefined ? silent(model.reasonsByDefault) : adaptive(call)
    case "budget": {
      const tokens = request.reasoning.maxTokens
      const isAsked = wanted !== undefined || tokens !== undefined
      if (!isAsked || isMidTools || maxOutputTokens <= leastBudget) return silent(model.reasonsByDefault)
      const range = { min: Math.max(leastBudget, reasoning.budget?.min ?? 0), max: reasoning.budget?.max ?? null }
      const budget = thinkingBudget({ effort: wanted, tokens, maxOutputTokens, range })
      return { thinking: { type: "enabled", budget_tokens: budget }, effort: undefined, unasked: false }
    }
  }
}

/** Smaller budgets are refused, and so is one that leaves nothing of the cap. */
const leastBudget = 1024

const silent = (unasked: boolean): Thinking => ({ thinking: undefined, effort: undefined, unasked })

/** Some of the models that think only when asked to refuse to be told not to. */
const off = (isOnByDefault: boolean): Thinking =>
  isOnByDefault ? { thinking: { type: "disabled" }, effort: undefined, unasked: false } : silent(false)

const adaptive = ({ request }: ProviderCall): Thinking => ({
  thinking: { type: "adaptive", display: request.reasoning.exclude ? "omitted" : "summarized" },
  effort: undefined,
  unasked: false
})

const efforts: Readonly<Record<Exclude<Effort, "none">, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max"
}
