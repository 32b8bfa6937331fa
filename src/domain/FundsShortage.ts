import { inDollars } from "./Money.ts"

/** Money that does not suffice for a call. */
export interface FundsShortage {
  /** Whose money does not suffice: the account's balance, or the limit of project or key. */
  readonly scope: "account" | "project" | "key"
  /** exhausted: no balance is left. held: running calls hold it. too_large: this call alone needs more than is left. */
  readonly reason: "exhausted" | "held" | "too_large"
  /** What the smallest candidate needs. */
  readonly neededMicroUsd: number
  /** What the scope has left beside what running calls hold of it. */
  readonly availableMicroUsd: number
  /** What running calls hold of the scope. */
  readonly heldMicroUsd: number
  /** The largest output cap with which the call would have been let in; absent where there is none. */
  readonly fittingOutputTokens?: number | undefined
}

/** The error message for insufficient funds: the amounts, and what would allow the call. */
export const describe = ({
  availableMicroUsd,
  fittingOutputTokens,
  heldMicroUsd,
  neededMicroUsd,
  reason,
  scope
}: FundsShortage): string => {
  const what = scope === "account" ? "balance" : `spend limit of the ${scope}`
  const remedy = scope === "account" ? "add credit" : "raise the limit"
  const needs = `this call needs at least ${inDollars(neededMicroUsd)}`
  const left = `${inDollars(Math.max(0, availableMicroUsd))} of it is left`
  switch (reason) {
    case "exhausted":
      return `The ${what} is exhausted: ${needs}, and ${left}; ${remedy}.`
    case "held":
      return `The rest of the ${what} is reserved by running calls: ${needs}, ${left}, and running calls hold ${inDollars(heldMicroUsd)}, most of which returns when they end.`
    case "too_large": {
      const held = heldMicroUsd > 0 ? `, while running calls hold ${inDollars(heldMicroUsd)}` : ""
      const fitting =
        fittingOutputTokens === undefined
          ? `Shorten the prompt, allow a cheaper model, or ${remedy}.`
          : `With an output cap (max_tokens, max_output_tokens) of at most ${fittingOutputTokens} it fits; or ${remedy}.`
      return `This call could cost more than the rest of the ${what}: ${needs}, and ${left}${held}. ${fitting}`
    }
  }
}
