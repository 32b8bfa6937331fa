import { budgetShares, type ChatRequest, type Effort, type ReasoningOptions } from "../domain/Chat.ts"
import type { Model } from "../domain/Model.ts"
import { minClaudeBudgetTokens } from "../domain/ProtocolLimits.ts"

/** A model of Anthropic's own API, or of Bedrock, whose model ids name the maker. */
export const isClaude = (model: Model): boolean =>
  model.protocol === "anthropic-messages" ||
  (model.protocol === "bedrock-converse" && /(?:^|[./])anthropic\./.test(model.upstreamModel))

/** What a request says about reasoning, besides an effort. */
export type ReasoningWish = Pick<ReasoningOptions, "maxTokens" | "mode">

export interface ReasoningRequest {
  readonly maxOutputTokens: number | undefined
  readonly reasoning?: ReasoningWish | undefined
}

const none: ReasoningWish = { maxTokens: undefined }

/** The effort at which a model reasons as much as the request says without naming an effort; `undefined` sends none. */
export const effortOfMode = (model: Model, { maxOutputTokens, reasoning }: ReasoningRequest): Effort | undefined => {
  const { maxTokens, mode } = reasoning ?? none
  if (mode === undefined || model.reasoning === null) return undefined
  const { defaultEffort, efforts, style } = model.reasoning
  if (mode === "disabled") return efforts.includes("none") ? "none" : undefined
  // a budget is sent as it is, and Claude decides for itself
  if ((style === "budget" && maxTokens !== undefined) || (isClaude(model) && maxTokens === undefined)) return undefined
  const offered = efforts.filter((effort) => effort !== "none")
  if (maxTokens === undefined) return nearestEffort(offered, shareOf(defaultEffort))
  return nearestEffort(offered, maxTokens / (maxOutputTokens ?? model.outputTokens ?? maxTokens))
}

/** Whether a model has to list the effort that is asked of it. One that decides how much it reasons takes the effort for a wish. */
export const requiresEffort = ({ mode }: ReasoningWish): boolean => mode !== "adaptive"

/** The effort that a model lists nearest to the one that is asked of it. */
export const listedEffort = ({ reasoning }: Model, asked: Effort | number): Effort | number | undefined => {
  if (typeof asked === "number" || reasoning?.efforts.includes(asked)) return asked
  return nearestEffort(reasoning?.efforts.filter((effort) => effort !== "none") ?? [], shareOf(asked))
}

/** Rejects tools while it reasons, also at the effort of its own that it applies when none is sent, and can be told not to reason. */
export const reasonsUnlessTold = ({ reasoning, reasonsByDefault, toolsForbidEffort }: Model): boolean =>
  toolsForbidEffort && reasonsByDefault && reasoning?.efforts.includes("none") === true

/** Claude takes no reasoning beside a forced tool call, and no budget where the cap leaves none of the least size. */
export const isUnasked = (model: Model, { maxOutputTokens }: ReasoningRequest, isForced: boolean): boolean => {
  if (!isClaude(model) || model.reasoning === null) return false
  const cap = maxOutputTokens ?? model.outputTokens ?? Number.POSITIVE_INFINITY
  return isForced || (model.reasoning.style === "budget" && cap <= minClaudeBudgetTokens)
}

/** The request says whether to reason, and the model does otherwise; `effort` is what is sent. */
export const isModeLost = (
  model: Model,
  request: ChatRequest,
  effort: Effort | number | undefined,
  isForced: boolean
): boolean => {
  const { reasoning } = request
  if (reasoning.mode === undefined) return false
  if (reasoning.mode !== "disabled" && isUnasked(model, request, isForced)) return isForced || !model.reasonsByDefault
  const reasons = effort === undefined ? model.reasonsByDefault : effort !== "none"
  // Claude is told by a field of its own
  const isTold = isClaude(model) && model.reasoning !== null && model.reasoning.style !== "fixed"
  return !isTold && reasons !== (reasoning.mode !== "disabled")
}

const shareOf = (effort: Effort | null): number =>
  budgetShares[effort === null || effort === "none" ? "medium" : effort]

const nearestEffort = (offered: ReadonlyArray<Effort>, share: number): Effort | undefined => {
  let nearest: Effort | undefined
  for (const effort of offered) {
    const isNearer =
      nearest === undefined || Math.abs(budgetShares[effort] - share) < Math.abs(budgetShares[nearest] - share)
    if (isNearer) nearest = effort
  }
  return nearest
}
