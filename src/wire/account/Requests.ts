import * as Schema from "effect/Schema"
import { Attempt, CallError, CallStatus, CandidatePool, Cost, endpoints } from "../../domain/Call.ts"
import { ChatUsage } from "../chat/ChatUsage.ts"

/** The records of the request log: `GET /api/projects/{id}/requests`, `/api/requests/{id}` and `/v1/generation`. */

const orNull = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.NullOr(schema).annotations({ description })
const timeOf = (description: string) =>
  Schema.String.annotations({ description: `${description} RFC 3339 in UTC, with milliseconds.`, format: "date-time" })

export const RequestOut = Schema.Struct({
  id: Schema.UUID.annotations({ description: "The request's id, as in `x-request-id`." }),
  project_id: Schema.UUID.annotations({ description: "The project of its key." }),
  key_id: Schema.UUID.annotations({ description: "The project key that it was sent with." }),
  endpoint: orNull(
    Schema.Literal(...endpoints),
    "The endpoint, or the library (`embedded`). Null where the gateway stopped before the call ended."
  ),
  stream: orNull(Schema.Boolean, "Whether the response was streamed. Null where the gateway stopped before."),
  status: CallStatus,
  error: orNull(CallError, "Null for a call that succeeded."),
  requested_model: Schema.String.annotations({ description: "`model` of the request." }),
  model: orNull(Schema.String, "Id of the model that answered, or that was tried last. Null when none was called."),
  provider: orNull(Schema.String, "Its provider's id."),
  reason: orNull(Schema.String, "Why the first candidate was chosen."),
  routing_config: orNull(Schema.String, "Slug of the routing configuration that was used."),
  policy_version: orNull(Schema.Int, "Version of the project's policy that applied."),
  candidate_pool: CandidatePool,
  alpha: orNull(
    Schema.Number,
    "The balance of quality and cost that was applied, 0 (cheapest) to 1 (best). Null for a call that names its model."
  ),
  excluded: orNull(
    Schema.Record({ key: Schema.String, value: Schema.Int }),
    "How many models were not eligible, by reason. Null where it is not known."
  ),
  baseline: orNull(
    Schema.Struct({
      model: Schema.String.annotations({ description: "The model of the highest predicted quality among the pool." }),
      amount_microusd: Schema.NonNegativeInt.annotations({
        description: "What the same tokens would have cost there, in micro-USD."
      })
    }).annotations({ identifier: "BaselineOut" }),
    "What the call would have cost at the best model that it could have gone to. Null for a call that names its model, or has used nothing."
  ),
  held_microusd: orNull(
    Schema.NonNegativeInt,
    "What was held for the call, at the most, in micro-USD. Null where its hold is no longer kept."
  ),
  cost: Cost.annotations({ description: "What the call was charged." }),
  usage: orNull(ChatUsage, "Token counts; null when nothing is known of them."),
  latency_ms: orNull(Schema.Number, "From the request to the end of the response, in milliseconds."),
  first_content_ms: orNull(
    Schema.Number,
    "From the request to its first content, in milliseconds; null when not streamed."
  ),
  client_request_id: orNull(Schema.String, "The client's own `x-request-id`."),
  attempts: Schema.Array(Attempt).annotations({ description: "The calls to providers, in order." }),
  started_at: timeOf("When the request began."),
  ended_at: timeOf("When its charge was written; lists and activity go by this time.")
}).annotations({ identifier: "RequestOut", description: "One call with all its attempts." })
export type RequestOut = typeof RequestOut.Type
