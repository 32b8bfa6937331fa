import * as Schema from "effect/Schema"

const Limit = Schema.NullOr(Schema.Number)

/** The column `rate_limits` of keys and projects, a JSON object. */
export const RateLimitColumn = Schema.Struct({
  requestsPerMinute: Limit,
  tokensPerMinute: Limit,
  concurrentRequests: Limit
})
