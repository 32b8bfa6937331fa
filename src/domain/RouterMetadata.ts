import * as Schema from "effect/Schema"
import { Attempt, CandidatePool, Cost, routingReasons } from "./Call.ts"
import { promptClasses } from "./PromptClass.ts"

/** A candidate that was skipped without an attempt. */
export const SkippedCandidate = Schema.Struct({
  model: Schema.String.annotations({ description: "Concrete model id." }),
  reason: Schema.Literal("resting", "unaffordable").annotations({
    description:
      "resting: most of its recent attempts failed, or its circuit breaker is open. unaffordable: the money for it could not be held."
  })
}).annotations({ identifier: "SkippedCandidate", description: "A candidate that was skipped without an attempt." })
export type SkippedCandidate = typeof SkippedCandidate.Type

const Predicted = {
  quality: Schema.Number.annotations({
    description: "Expected quality for this prompt, reduced by the probability of failure, 0 to 1."
  }),
  expected_cost_microusd: Schema.Int.annotations({ description: "Expected cost, in micro-USD." })
}

const Prediction = Schema.Struct({
  class: Schema.Literal(...promptClasses).annotations({ description: "What the prompt most likely asks for." }),
  ...Predicted,
  runner_up: Schema.NullOr(
    Schema.Struct({ model: Schema.String.annotations({ description: "Id of the model." }), ...Predicted })
  ).annotations({ description: "The best of the other candidates; null without others." })
}).annotations({ description: "The router's expectations of the model that answered." })
export type Prediction = typeof Prediction.Type

/** Every response has it as `router_metadata`. */
export const RouterMetadata = Schema.Struct({
  request_id: Schema.String.annotations({ description: "The gateway's id of the request, also in `x-request-id`." }),
  requested_model: Schema.String.annotations({ description: "The `model` of the request." }),
  provider: Schema.String.annotations({ description: "Provider of the response." }),
  model: Schema.String.annotations({ description: "Concrete id of the model of the response." }),
  upstream_model: Schema.String.annotations({ description: "The model name that the provider reports." }),
  reason: Schema.Literal(...routingReasons).annotations({
    description:
      "Why this model was chosen. exploration: at random among the models close to the best, as the project allows. first_affordable: the available funds did not cover the candidates before it."
  }),
  routing_config: Schema.NullOr(Schema.String).annotations({
    description: "Slug of the routing configuration that was used."
  }),
  alpha: Schema.NullOr(Schema.Number).annotations({
    description: "Quality-versus-cost weight that was applied, 0 to 1; null for a pinned model."
  }),
  latency_ms: Schema.Number.annotations({
    description: "From the request's admission to this point, in milliseconds."
  }),
  first_content_ms: Schema.NullOr(Schema.Number).annotations({
    description: "From admission to the first content, in milliseconds; null for a non-streaming response."
  }),
  fallback: Schema.Struct({
    enabled: Schema.Boolean.annotations({ description: "Whether another candidate could have been tried." }),
    used: Schema.Boolean.annotations({ description: "Whether the response is from another candidate than the first." })
  }).annotations({ description: "Whether fallback was allowed and used." }),
  attempts: Schema.Array(Attempt).annotations({
    description: "Every attempt, in order; the last one returned the response."
  }),
  cost: Cost,
  candidate_pool: CandidatePool,
  skipped: Schema.optionalWith(Schema.Array(SkippedCandidate), { exact: true }).annotations({
    description: "Candidates that ranked before the model of the response; absent if there are none."
  }),
  prediction: Schema.optionalWith(Prediction, { exact: true }).annotations({
    description: "The router's expectations of the model that answered; absent for a pinned model."
  }),
  excluded: Schema.Record({ key: Schema.String, value: Schema.Int }).annotations({
    description: "Number of models that were not eligible, by reason."
  }),
  dropped_parameters: Schema.Array(Schema.String).annotations({
    description:
      "Request parameters that were omitted, or sent partially or with another value, because the chosen model does not support them as they are or their price is unknown."
  }),
  notes: Schema.optionalWith(Schema.Array(Schema.Literal("output_capped_by_funds", "user_turn_added")), {
    exact: true
  }).annotations({
    description:
      "Notes on the response. output_capped_by_funds: the output was capped because of insufficient funds. user_turn_added: the provider accepts no conversation that ends with the assistant, so a user turn was added."
  }),
  policy_version: Schema.Int.annotations({ description: "Version of the project's policy that applied." })
}).annotations({ identifier: "RouterMetadata", description: "Routing metadata of the response." })
export type RouterMetadata = typeof RouterMetadata.Type
