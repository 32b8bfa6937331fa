import * as Schema from "effect/Schema"
import { countBounds } from "../../domain/OptionIssues.ts"
import { within } from "../validation/SchemaParts.ts"
import { strict } from "./Strict.ts"

/** Whole micro-USD, not negative. */
export const LimitMicroUsd = Schema.NullOr(within({ type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

export const LimitReset = Schema.NullOr(Schema.Literal("day", "week", "month")).annotations({
  description: "How often the limit resets, at 00:00 UTC (week: on Monday); null: never."
})

const Rate = Schema.NullOr(within({ type: "integer", minimum: countBounds.min, maximum: countBounds.max }))
const rate = (what: string) =>
  Schema.optionalWith(Rate, { default: () => null }).annotations({
    description: `${what}; null and default: unlimited.`
  })

export const RateLimits = strict({
  requests_per_minute: rate("Maximum requests per minute"),
  tokens_per_minute: rate("Maximum prompt tokens per minute"),
  concurrent_requests: rate("Maximum concurrent requests")
}).annotations({ identifier: "RateLimits" })
export type RateLimits = typeof RateLimits.Type

/** As the owner of a key or project sets them. */
export const OwnRateLimits = Schema.NullOr(RateLimits).annotations({
  description:
    "Rate limits that replace the configured ones; null: the configured ones apply. Only an operator may set higher limits than configured."
})
