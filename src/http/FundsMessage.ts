import type { InsufficientFunds } from "../domain/GatewayError.ts"
import { inDollars } from "../domain/Money.ts"

/** What a client is told of money that does not suffice: the amounts, and what would let the call in. */
export const of = ({
  availableMicroUsd,
  fittingOutputTokens,
  heldMicroUsd,
  neededMicroUsd,
  reason,
  scope
}: InsufficientFunds): string => {
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
