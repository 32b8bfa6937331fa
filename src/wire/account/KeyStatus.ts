import * as Schema from "effect/Schema"
import { LimitReset } from "./Limits.ts"
import { timestamp } from "./Times.ts"

const limit = (what: string) =>
  Schema.NullOr(Schema.NonNegativeInt).annotations({ description: `${what} of this key; null: unlimited.` })

/** The record of `GET /v1/key`. */
export const KeyStatusOut = Schema.Struct({
  id: Schema.UUID.annotations({ description: "Id of the project key that the request was sent with." }),
  name: Schema.String.annotations({ description: "Name of the key." }),
  key_prefix: Schema.String.annotations({ description: "The first characters of the key." }),
  project_id: Schema.UUID.annotations({ description: "The project that it belongs to." }),
  expires_at: Schema.NullOr(timestamp("When it expires.")).annotations({
    description: "When it expires; null: never."
  }),
  spend_limit_microusd: Schema.NullOr(Schema.NonNegativeInt).annotations({
    description: "Spend limit, in micro-USD; null: no limit of its own."
  }),
  limit_reset: LimitReset,
  spent_microusd: Schema.NonNegativeInt.annotations({
    description: "Spend that counts against the limit, in micro-USD."
  }),
  held_microusd: Schema.NonNegativeInt.annotations({ description: "Held by its running calls, in micro-USD." }),
  remaining_microusd: Schema.NullOr(Schema.NonNegativeInt).annotations({
    description: "Remaining amount of the limit after spent and held, in micro-USD; null: no limit of its own."
  }),
  balance_state: Schema.Literal("available", "exhausted", "not_used").annotations({
    description:
      "State of the paying account's balance. exhausted: nothing is left, calls are refused with 402. not_used: the project pays its providers itself."
  }),
  rate_limits: Schema.Struct({
    requests_per_minute: limit("Maximum requests per minute"),
    tokens_per_minute: limit("Maximum prompt tokens per minute"),
    concurrent_requests: limit("Maximum concurrent requests")
  }).annotations({ description: "Rate limits of the key." })
}).annotations({ identifier: "KeyStatusOut", description: "Limits and spend of a project key." })
export type KeyStatusOut = typeof KeyStatusOut.Type
