import * as Schema from "effect/Schema"
import { timestamp } from "./Times.ts"

const limit = (what: string) =>
  Schema.NullOr(Schema.NonNegativeInt).annotations({ description: `${what} of this key; null: no limit.` })

/** The record of `GET /v1/key`. */
export const KeyStatusOut = Schema.Struct({
  id: Schema.UUID.annotations({ description: "Id of the project key that the request was sent with." }),
  name: Schema.String.annotations({ description: "Its name." }),
  key_prefix: Schema.String.annotations({ description: "The first characters of the key." }),
  project_id: Schema.UUID.annotations({ description: "The project that it belongs to." }),
  expires_at: Schema.NullOr(timestamp("When it stops to work.")).annotations({
    description: "When it stops to work; null: never."
  }),
  spend_limit_microusd: Schema.NullOr(Schema.NonNegativeInt).annotations({
    description: "What it may spend, in micro-USD; null: no limit of its own."
  }),
  spent_microusd: Schema.NonNegativeInt.annotations({ description: "What counts against the limit, in micro-USD." }),
  held_microusd: Schema.NonNegativeInt.annotations({ description: "What its running calls hold, in micro-USD." }),
  remaining_microusd: Schema.NullOr(Schema.NonNegativeInt).annotations({
    description: "What is left of the limit beside that, in micro-USD; null: no limit of its own."
  }),
  balance_state: Schema.Literal("available", "exhausted", "not_used").annotations({
    description:
      "Of the account that pays. exhausted: nothing is left, calls are refused with 402. not_used: the project pays its providers itself."
  }),
  rate_limits: Schema.Struct({
    requests_per_minute: limit("Requests a minute"),
    tokens_per_minute: limit("Prompt tokens a minute"),
    concurrent_requests: limit("Requests at the same time")
  }).annotations({ description: "How often it may call." })
}).annotations({ identifier: "KeyStatusOut", description: "What a project key may still do." })
export type KeyStatusOut = typeof KeyStatusOut.Type
