import { budgetShares, type Effort } from "../../../domain/Chat.ts"

/** The client's reasoning options, for providers that take a reasoning budget in tokens. */
export interface BudgetRequest {
  readonly effort: Effort | undefined
  /** Set by the client. */
  readonly tokens: number | undefined
  readonly maxOutputTokens: number
  readonly range: { readonly min: number | null; readonly max: number | null } | null
}

/** Within the model's range, and below the output cap, so that tokens remain for the visible output. */
export const reasoningBudget = ({ effort, maxOutputTokens, range, tokens }: BudgetRequest): number => {
  const wanted = tokens ?? budgetShares[effort ?? "medium"] * maxOutputTokens
  const max = Math.min(range?.max ?? Number.MAX_SAFE_INTEGER, Math.max(1, maxOutputTokens - 1))
  return Math.max(range?.min ?? 1, Math.min(Math.floor(wanted), max))
}
