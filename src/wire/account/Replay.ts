import * as Schema from "effect/Schema"
import { sentCount } from "./SentCount.ts"
import { timestamp } from "./Times.ts"

/** The records of past calls that are ranked once more: `GET …/alpha-curve` and the `replay` of a policy's simulation. */

/** So many take less than a second. */
export const maxCalls = 2_000

export const Calls = sentCount(maxCalls)

const count = (description: string) => Schema.NonNegativeInt.annotations({ description })

const outcome = {
  expected_cost_microusd: count("Expected cost of the calls together, in micro-USD."),
  expected_quality: Schema.NullOr(Schema.Number).annotations({
    description: "Mean predicted quality, 0 to 1; null where no model could take any of the calls."
  }),
  without_model: count("Calls that no model could take; they are in neither cost nor quality."),
  models: Schema.Array(
    Schema.Struct({
      model: Schema.String.annotations({ description: "Id of the model." }),
      count: count("Calls that it would be tried first for.")
    })
  ).annotations({ description: "Where the calls would go, the most calls first." })
}

const OutcomeOut = Schema.Struct(outcome).annotations({
  identifier: "ReplayOutcomeOut",
  description: "Where calls would go, and what the router expects of it."
})
export type OutcomeOut = typeof OutcomeOut.Type

const time = (description: string) => Schema.NullOr(timestamp(description)).annotations({ description })

const replayed = {
  calls: count("Calls that were ranked again."),
  skipped: count("Calls that could not be: an earlier version recorded them, or their routing configuration is gone."),
  from: time("When the first of these calls ended; null without any."),
  to: time("When the last of them ended; null without any."),
  charged_microusd: count("What these calls have cost, in micro-USD.")
}

const alpha = Schema.Number.annotations({ description: "Quality against cost: 0 is cheapest, 1 is best." })

export const AlphaCurveOut = Schema.Struct({
  ...replayed,
  default_alpha: Schema.Number.annotations({
    description: "In force for calls whose request and routing configuration name none, 0 to 1."
  }),
  current: OutcomeOut.annotations({ description: "Each call at the alpha that is in force for it." }),
  points: Schema.Array(Schema.Struct({ alpha, ...outcome })).annotations({
    description: "All calls at one alpha, also those that asked for another; from 0 to 1."
  })
}).annotations({ identifier: "AlphaCurveOut", description: "Past calls at each alpha, under the policy in force." })
export type AlphaCurveOut = typeof AlphaCurveOut.Type

export const PolicyReplayOut = Schema.Struct({
  ...replayed,
  before: OutcomeOut.annotations({ description: "Under the policy in force." }),
  after: OutcomeOut.annotations({ description: "Under the policy of the request." }),
  changed: count("Calls that another model would be tried first for, or none."),
  by_alpha: Schema.Array(Schema.Struct({ alpha, before: OutcomeOut, after: OutcomeOut })).annotations({
    description: "Both with all calls at one alpha, from 0 to 1."
  })
}).annotations({
  identifier: "PolicyReplayOut",
  description: "The newest calls of the project that named no model, ranked once more under two policies."
})
export type PolicyReplayOut = typeof PolicyReplayOut.Type
