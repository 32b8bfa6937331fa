import { expect, it } from "vitest"
import { InsufficientFunds } from "../../src/domain/GatewayError.ts"

const amounts = { neededMicroUsd: 12_300, availableMicroUsd: 4_000, heldMicroUsd: 0 }

it.each([
  [
    { scope: "account", reason: "exhausted", ...amounts, availableMicroUsd: -5 },
    "The balance is exhausted: this call needs at least $0.0123, and $0.00 of it is left; add credit."
  ],
  [
    { scope: "key", reason: "held", ...amounts, heldMicroUsd: 2_000_001 },
    "The rest of the spend limit of the key is reserved by running calls: this call needs at least $0.0123, $0.004 of it is left, and running calls hold $2.000001, most of which returns when they end."
  ],
  [
    { scope: "project", reason: "too_large", ...amounts, fittingOutputTokens: 128 },
    "This call could cost more than the rest of the spend limit of the project: this call needs at least $0.0123, and $0.004 of it is left. With an output cap (max_tokens, max_output_tokens) of at most 128 it fits; or raise the limit."
  ],
  [
    { scope: "account", reason: "too_large", ...amounts, heldMicroUsd: 10_000 },
    "This call could cost more than the rest of the balance: this call needs at least $0.0123, and $0.004 of it is left, while running calls hold $0.01. Shorten the prompt, allow a cheaper model, or add credit."
  ]
] as const)("the message of a 402 says the amounts and what would let the call in: %j", (facts, expected) => {
  expect(new InsufficientFunds(facts).message).toBe(expected)
})
