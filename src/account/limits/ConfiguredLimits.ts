import * as Effect from "effect/Effect"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { InvalidRequest } from "../../domain/GatewayError.ts"
import type { RateLimit } from "../../policy/RateLimits.ts"

const fields = [
  ["requestsPerMinute", "requests_per_minute"],
  ["tokensPerMinute", "tokens_per_minute"],
  ["concurrentRequests", "concurrent_requests"]
] as const

/** What the configuration limits for all, only an operator raises for one. */
export const requireWithin = (
  configured: RateLimit,
  asked: RateLimit | null
): Effect.Effect<void, InvalidRequest, CurrentUser> =>
  Effect.flatMap(CurrentUser, ({ isOperator }) => {
    if (isOperator || asked === null) return Effect.void
    const exceeded = fields.find(([field]) => (configured[field] ?? Infinity) < (asked[field] ?? Infinity))
    return exceeded === undefined
      ? Effect.void
      : new InvalidRequest({
          code: "invalid_value",
          message: `Only an operator may set ${exceeded[1]} above the configured limit of ${configured[exceeded[0]]}.`,
          param: `rate_limits.${exceeded[1]}`
        })
  })
