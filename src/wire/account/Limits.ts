import * as Schema from "effect/Schema"
import { strict } from "./Strict.ts"

/** Whole micro-USD, not negative. */
export const LimitMicroUsd = Schema.NullOr(
  Schema.Number.pipe(Schema.int(), Schema.between(0, Number.MAX_SAFE_INTEGER), Schema.annotations({ title: "a limit" }))
)

export const LimitReset = Schema.NullOr(Schema.Literal("day", "week", "month")).annotations({
  description: "How often the limit begins anew, at 00:00 UTC (week: on Monday); null: never."
})

const maxRate = 1_000_000_000
const Rate = Schema.NullOr(Schema.Number.pipe(Schema.int(), Schema.between(1, maxRate)))
const rate = (what: string) =>
  Schema.optionalWith(Rate, { default: () => null }).annotations({
    description: `${what}; null and default: any number.`
  })

export const RateLimits = strict({
  requests_per_minute: rate("Requests a minute"),
  tokens_per_minute: rate("Prompt tokens a minute"),
  concurrent_requests: rate("Requests at the same time")
}).annotations({ identifier: "RateLimits" })
export type RateLimits = typeof RateLimits.Type

/** As the owner of a key or project sets them. */
export const OwnRateLimits = Schema.NullOr(RateLimits).annotations({
  description:
    "How often it may call, in place of what the configuration has for all; null: as configured. Only an operator may exceed the configuration."
})
