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
  key_name: orNull(Schema.String, "Name of this key; null for a key that is no longer stored."),
  endpoint: orNull(
    Schema.Literal(...endpoints),
    "The endpoint, or the library (`embedded`). Null if the gateway stopped before the call ended."
  ),
  stream: orNull(
    Schema.Boolean,
    "Whether the response was streamed. Null if the gateway stopped before the call ended."
  ),
  status: CallStatus,
  error: orNull(CallError, "Null for a call that succeeded."),
  requested_model: Schema.String.annotations({ description: "`model` of the request." }),
  model: orNull(Schema.String, "Id of the model that answered, or was tried last. Null if none was called."),
  provider: orNull(Schema.String, "Id of the provider of this model."),
  reason: orNull(Schema.String, "Why the first candidate was chosen."),
  routing_config: orNull(Schema.String, "Slug of the routing configuration that was used."),
  policy_version: orNull(Schema.Int, "Version of the project's policy that applied."),
  candidate_pool: CandidatePool,
  alpha: orNull(
    Schema.Number,
    "Quality-versus-cost weight that was applied, 0 (cheapest) to 1 (highest quality). Null for a pinned model."
  ),
  excluded: orNull(
    Schema.Record({ key: Schema.String, value: Schema.Int }),
    "Number of models that were not eligible, by reason. Null if unknown."
  ),
  baseline: orNull(
    Schema.Struct({
      model: Schema.String.annotations({ description: "The model with the highest predicted quality in the pool." }),
      amount_microusd: Schema.NonNegativeInt.annotations({
        description: "Cost of the same tokens with this model, in micro-USD."
      })
    }).annotations({ identifier: "BaselineOut" }),
    "What the call would have cost with the best model in its pool. Null for a pinned model, or without usage."
  ),
  held_microusd: orNull(
    Schema.NonNegativeInt,
    "Largest amount held for the call, in micro-USD. Null if its hold is no longer stored."
  ),
  cost: Cost.annotations({ description: "Amount charged for the call." }),
  usage: orNull(ChatUsage, "Token counts; null if unknown."),
  latency_ms: orNull(Schema.Number, "From the request to the end of the response, in milliseconds."),
  first_content_ms: orNull(
    Schema.Number,
    "From the request to its first content, in milliseconds; null when not streamed."
  ),
  client_request_id: orNull(Schema.String, "The client's own `x-request-id`."),
  attempts: Schema.Array(Attempt).annotations({ description: "The attempts at providers, in order." }),
  started_at: timeOf("When the request started."),
  ended_at: timeOf("When its charge was written; lists and activity use this time.")
}).annotations({ identifier: "RequestOut", description: "One call with all its attempts." })
export type RequestOut = typeof RequestOut.Type
