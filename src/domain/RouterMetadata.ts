import * as Schema from "effect/Schema"
import { Attempt, CandidatePool, Cost, routingReasons } from "./Call.ts"
import { promptClasses } from "./PromptClass.ts"

const Skipped = Schema.Struct({
  model: Schema.String.annotations({ description: "Concrete model id." }),
  reason: Schema.Literal("resting", "unaffordable").annotations({
    description:
      "resting: most of its recent attempts have failed, or it is not tried for a time. unaffordable: the money for it could not be held."
  })
}).annotations({ identifier: "SkippedCandidate", description: "A candidate that was passed over without an attempt." })
export type SkippedCandidate = typeof Skipped.Type

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
  ).annotations({ description: "The best of the other candidates; null without one." })
}).annotations({ description: "What the router expected of the model that answered." })
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
      "Why this model was chosen. exploration: by chance among those near the best, as the project allows. first_affordable: the candidates before it could not be paid for."
  }),
  routing_config: Schema.NullOr(Schema.String).annotations({
    description: "Slug of the routing configuration in force."
  }),
  alpha: Schema.NullOr(Schema.Number).annotations({
    description: "Quality-versus-cost weight in force, 0 to 1; null for a pinned model."
  }),
  latency_ms: Schema.Number.annotations({
    description: "From the request's admission to this point, in milliseconds."
  }),
  first_content_ms: Schema.NullOr(Schema.Number).annotations({
    description: "From admission to the first content, in milliseconds; null for a non-streaming response."
  }),
  fallback: Schema.Struct({
    enabled: Schema.Boolean.annotations({ description: "Another candidate could have been tried." }),
    used: Schema.Boolean.annotations({ description: "The response is not from the first candidate." })
  }).annotations({ description: "Whether fallback was allowed and used." }),
  attempts: Schema.Array(Attempt).annotations({
    description: "Every attempt, in order; the last one returned the response."
  }),
  cost: Cost,
  candidate_pool: CandidatePool,
  skipped: Schema.optionalWith(Schema.Array(Skipped), { exact: true }).annotations({
    description: "Candidates that would have come before the model of the response; absent when there are none."
  }),
  prediction: Schema.optionalWith(Prediction, { exact: true }).annotations({
    description: "What the router expected of the model that answered; absent where the request names its model."
  }),
  excluded: Schema.Record({ key: Schema.String, value: Schema.Int }).annotations({
    description: "How many models were not eligible, by reason."
  }),
  dropped_parameters: Schema.Array(Schema.String).annotations({
    description:
      "Request parameters that were left out, or sent in part or with another value: the chosen model does not support them as they are, or what they cost there is not known."
  }),
  notes: Schema.optionalWith(Schema.Array(Schema.Literal("output_capped_by_funds", "user_turn_added")), {
    exact: true
  }).annotations({
    description:
      "What else the response is explained by. output_capped_by_funds: a longer one could not be paid for. user_turn_added: the provider accepts no conversation that ends with the assistant, so a turn of the user was added."
  }),
  policy_version: Schema.Int.annotations({ description: "Version of the project's policy that was applied." })
}).annotations({ identifier: "RouterMetadata", description: "Routing metadata of the response." })
export type RouterMetadata = typeof RouterMetadata.Type
