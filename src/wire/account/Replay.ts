import * as Schema from "effect/Schema"
import { sentCount } from "./SentCount.ts"
import { timestamp } from "./Times.ts"

/** The records of past calls that are re-ranked: `GET …/alpha-curve` and the `replay` of a policy's simulation. */

/** So many take less than a second. */
export const maxCalls = 2_000

export const Calls = sentCount(maxCalls)

const count = (description: string) => Schema.NonNegativeInt.annotations({ description })

const outcome = {
  expected_cost_microusd: count("Total expected cost of the calls, in micro-USD."),
  expected_quality: Schema.NullOr(Schema.Number).annotations({
    description: "Mean predicted quality, 0 to 1; null where no model is eligible for any of the calls."
  }),
  without_model: count("Calls without an eligible model; not included in cost and quality."),
  models: Schema.Array(
    Schema.Struct({
      model: Schema.String.annotations({ description: "Id of the model." }),
      count: count("Calls for which it would be the first candidate.")
    })
  ).annotations({ description: "Models that the calls would be routed to, by descending number of calls." })
}

const OutcomeOut = Schema.Struct(outcome).annotations({
  identifier: "ReplayOutcomeOut",
  description: "Where calls would be routed to, with the router's expectations."
})
export type OutcomeOut = typeof OutcomeOut.Type

const time = (description: string) => Schema.NullOr(timestamp(description)).annotations({ description })

const replayed = {
  calls: count("Calls that were re-ranked."),
  skipped: count(
    "Calls that could not be re-ranked: an earlier version recorded them, or their routing configuration was deleted."
  ),
  from: time("When the first of these calls ended; null without calls."),
  to: time("When the last of these calls ended; null without calls."),
  charged_microusd: count("Actual cost of these calls, in micro-USD.")
}

const alpha = Schema.Number.annotations({
  description: "Quality-versus-cost weight: 0 is cheapest, 1 is highest quality."
})

export const AlphaCurveOut = Schema.Struct({
  ...replayed,
  default_alpha: Schema.Number.annotations({
    description: "Applies to calls whose request and routing configuration set none, 0 to 1."
  }),
  current: OutcomeOut.annotations({ description: "Each call at the alpha that applies to it." }),
  points: Schema.Array(Schema.Struct({ alpha, ...outcome })).annotations({
    description: "All calls at one alpha, including those that requested another; from 0 to 1."
  })
}).annotations({ identifier: "AlphaCurveOut", description: "Past calls at each alpha, under the current policy." })
export type AlphaCurveOut = typeof AlphaCurveOut.Type

export const PolicyReplayOut = Schema.Struct({
  ...replayed,
  before: OutcomeOut.annotations({ description: "Under the current policy." }),
  after: OutcomeOut.annotations({ description: "Under the requested policy." }),
  changed: count("Calls whose first candidate would be another model, or none."),
  by_alpha: Schema.Array(Schema.Struct({ alpha, before: OutcomeOut, after: OutcomeOut })).annotations({
    description: "Both outcomes with all calls at one alpha, from 0 to 1."
  })
}).annotations({
  identifier: "PolicyReplayOut",
  description: "The newest `auto` calls of the project, re-ranked under two policies."
})
export type PolicyReplayOut = typeof PolicyReplayOut.Type
