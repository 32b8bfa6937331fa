import * as Schema from "effect/Schema"
import { routingReasons } from "../../domain/Call.ts"
import { efforts } from "../../domain/Chat.ts"
import { WireError } from "../ErrorBody.ts"

export const HealthOut = Schema.Struct({
  failure: Schema.Number.annotations({ description: "Probability that the next attempt fails, 0 to 1." }),
  open_for_ms: Schema.Number.annotations({
    description: "Time until it may be tried again, in milliseconds; 0 if it may be tried now."
  }),
  latency_ms: Schema.NullOr(Schema.Number).annotations({
    description: "Moving average of the time to first content, in milliseconds; null without calls."
  })
}).annotations({ identifier: "RouteHealth", description: "Health of the route, from this node's recent calls." })

const RouteCandidate = Schema.Struct({
  model: Schema.String.annotations({ description: "Id of the model." }),
  provider: Schema.String.annotations({ description: "Id of its provider." }),
  quality: Schema.Number.annotations({
    description: "Expected quality, reduced by the probability of failure, 0 to 1."
  }),
  score: Schema.Number.annotations({ description: "Score for the ranking; higher is better." }),
  expected_cost_microusd: Schema.Int.annotations({ description: "Expected cost, in micro-USD." }),
  max_cost_microusd: Schema.Int.annotations({
    description: "Maximum cost of the call with this model, in micro-USD."
  }),
  effort: Schema.NullOr(Schema.Union(Schema.Literal(...efforts), Schema.Number)).annotations({
    description: "Reasoning effort, or depth, that is sent; null: none."
  }),
  dropped_parameters: Schema.Array(Schema.String).annotations({
    description: "Parameters of the request that it does not support."
  }),
  health: HealthOut
})

export const RouteOut = Schema.Struct({
  requested_model: Schema.String.annotations({ description: "`model` of the request." }),
  candidates: Schema.Array(RouteCandidate).annotations({
    description: "The candidates, in the order in which they would be tried; empty with an `error`."
  }),
  classes: Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({
    description: "Probability of each class of prompt; empty with an `error`, or for a pinned model."
  }),
  skipped: Schema.Array(Schema.String).annotations({
    description: "Models that would rank before the first candidate if most of their recent attempts had not failed."
  }),
  reason: Schema.NullOr(Schema.Literal(...routingReasons)).annotations({
    description: "Why the first candidate was chosen; null with an `error`."
  }),
  routing_config: Schema.NullOr(Schema.String).annotations({ description: "Slug of the routing configuration." }),
  alpha: Schema.NullOr(Schema.Number).annotations({
    description: "Quality-versus-cost weight that applies; null with an `error`, or for a pinned model."
  }),
  fallback_enabled: Schema.Boolean.annotations({
    description: "Whether more than the first candidate would be tried."
  }),
  excluded: Schema.Record({ key: Schema.String, value: Schema.Int }).annotations({
    description: "Number of models that are not eligible, by reason."
  }),
  prompt_tokens: Schema.NullOr(Schema.Int).annotations({
    description: "Estimated prompt tokens; null with an `error`."
  }),
  policy_version: Schema.NullOr(Schema.Int).annotations({
    description: "Version of the project's policy; null with an `error`."
  }),
  error: Schema.NullOr(WireError).annotations({
    description: "The error that routing would return; null where a candidate would be tried."
  })
}).annotations({ identifier: "RouteOut", description: "Where a request would be routed to now." })
export type RouteOut = typeof RouteOut.Type
