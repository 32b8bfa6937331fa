import * as Schema from "effect/Schema"
import { endpoints } from "../../domain/Call.ts"

const orNull = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.NullOr(schema).annotations({ description })

/** The record of `GET /api/projects/{id}/refusals`. */
export const RefusalOut = Schema.Struct({
  id: Schema.UUID.annotations({ description: "The request's id, as in `x-request-id`." }),
  key_id: Schema.UUID.annotations({ description: "The project key that it was sent with." }),
  endpoint: Schema.Literal(...endpoints).annotations({
    description: "The endpoint, or the library (`embedded`)."
  }),
  requested_model: Schema.String.annotations({ description: "`model` of the request." }),
  status: Schema.Literal(402, 404, 429).annotations({ description: "The status of the response." }),
  code: Schema.String.annotations({ description: "The code of the error." }),
  message: Schema.String.annotations({ description: "The message of the error." }),
  scope: orNull(
    Schema.Literal("account", "project", "key"),
    "Whose balance, spend limit or rate limit refused it; null for a 404."
  ),
  reason: orNull(
    Schema.Literal("exhausted", "held", "too_large"),
    "Of a 402. exhausted: nothing is left. held: running calls hold what is left. too_large: the call may cost more than is left."
  ),
  needed_microusd: orNull(Schema.NonNegativeInt, "Of a 402, in micro-USD: what has to be held for the call at least."),
  remaining_microusd: orNull(
    Schema.NonNegativeInt,
    "Of a 402, in micro-USD: what was left of the scope beside what running calls held."
  ),
  held_microusd: orNull(Schema.NonNegativeInt, "Of a 402, in micro-USD: what running calls held of the scope."),
  remaining_requests: orNull(Schema.NonNegativeInt, "Of a 429: requests that its limit per minute still had left."),
  remaining_tokens: orNull(Schema.NonNegativeInt, "Of a 429: prompt tokens that its limit per minute still had left."),
  retry_after_ms: orNull(Schema.NonNegativeInt, "Of a 429: when the limit would let it through, in milliseconds."),
  refused_at: Schema.String.annotations({ description: "RFC 3339 in UTC, with milliseconds.", format: "date-time" })
}).annotations({
  identifier: "RefusalOut",
  description: "A request that was refused with 402, 404 or 429 and never became a call."
})
export type RefusalOut = typeof RefusalOut.Type
