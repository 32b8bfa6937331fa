import * as Schema from "effect/Schema"
import { endpoints } from "../../domain/Call.ts"

const orNull = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.NullOr(schema).annotations({ description })

/** The record of `GET /api/projects/{id}/refusals`. */
export const RefusalOut = Schema.Struct({
  id: Schema.UUID.annotations({ description: "The request's id, as in `x-request-id`." }),
  key_id: Schema.UUID.annotations({ description: "The project key that it was sent with." }),
  key_name: orNull(Schema.String, "Name of this key; null for a key that is no longer stored."),
  endpoint: Schema.Literal(...endpoints).annotations({
    description: "The endpoint, or the library (`embedded`)."
  }),
  requested_model: Schema.String.annotations({ description: "`model` of the request." }),
  status: Schema.Literal(402, 404, 429).annotations({ description: "HTTP status of the response." }),
  code: Schema.String.annotations({ description: "Code of the error." }),
  message: Schema.String.annotations({ description: "Message of the error." }),
  scope: orNull(
    Schema.Literal("account", "project", "key"),
    "Scope whose balance, spend limit or rate limit refused it; null for a 404."
  ),
  reason: orNull(
    Schema.Literal("exhausted", "held", "too_large"),
    "For a 402. exhausted: nothing is left. held: running calls hold what is left. too_large: the call could cost more than is left."
  ),
  needed_microusd: orNull(Schema.NonNegativeInt, "For a 402: minimum amount to be held for the call, in micro-USD."),
  remaining_microusd: orNull(
    Schema.NonNegativeInt,
    "For a 402: remaining amount of the scope after spent and held, in micro-USD."
  ),
  held_microusd: orNull(Schema.NonNegativeInt, "For a 402: amount of the scope held by running calls, in micro-USD."),
  remaining_requests: orNull(Schema.NonNegativeInt, "For a 429: remaining requests of the limit per minute."),
  remaining_tokens: orNull(Schema.NonNegativeInt, "For a 429: remaining prompt tokens of the limit per minute."),
  retry_after_ms: orNull(Schema.NonNegativeInt, "For a 429: time until the limit would allow it, in milliseconds."),
  refused_at: Schema.String.annotations({ description: "RFC 3339 in UTC, with milliseconds.", format: "date-time" })
}).annotations({
  identifier: "RefusalOut",
  description: "A request that was refused with 402, 404 or 429 and never became a call."
})
export type RefusalOut = typeof RefusalOut.Type
