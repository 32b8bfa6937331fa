import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { InvalidRequest } from "../../domain/GatewayError.ts"
import type { RateLimit } from "../../policy/RateLimits.ts"
import { explainer } from "../../wire/validation/Explanation.ts"
import * as RateLimitRecords from "../limits/RateLimitRecords.ts"

/**
 * Refuses what the account API would refuse, so that a program that an application calls has the error of a request for it. Bodies of
 * requests were decoded by the same schemas before.
 */
export const checkedInput = <A, I>(
  schema: Schema.Schema<A, I>
): ((input: I) => Effect.Effect<void, InvalidRequest>) => {
  const explain = explainer(schema)
  return (input) =>
    Effect.suspend(() => {
      const issue = explain(input, [])
      return issue === undefined ? Effect.void : new InvalidRequest(issue)
    })
}

/** What keys and projects have in common, by its names in the account API. */
export const inputOf = ({
  limitMicroUsd,
  limitReset,
  name,
  rateLimits
}: {
  readonly name?: string
  readonly limitMicroUsd?: number | null
  readonly limitReset?: "day" | "week" | "month" | null
  readonly rateLimits?: RateLimit | null
}) => ({
  ...(name !== undefined && { name }),
  ...(limitMicroUsd !== undefined && { spend_limit_microusd: limitMicroUsd }),
  ...(limitReset !== undefined && { limit_reset: limitReset }),
  ...(rateLimits !== undefined && { rate_limits: RateLimitRecords.out(rateLimits) })
})
