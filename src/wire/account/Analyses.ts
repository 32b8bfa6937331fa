import * as Schema from "effect/Schema"
import { Cost } from "../../domain/Call.ts"
import { AnalysisAction, TakenAction } from "./AnalysisActions.ts"
import { AnalysisSegment } from "./AnalysisEvidence.ts"
import { pageOf } from "./Page.ts"
import { PastReceipts } from "./Receipt.ts"
import { strict } from "./Strict.ts"
import { sentTimestampOrNull, timestamp, timestampOrNull } from "./Times.ts"

/** The records of analyses. */

const money = (description: string) =>
  Schema.NonNegativeInt.annotations({ description: `${description}, in micro-USD.` })
const count = (description: string) => Schema.NonNegativeInt.annotations({ description })
const share = (description: string) => Schema.Number.annotations({ description: `${description}, 0 to 1.` })
const text = (description: string) => Schema.String.annotations({ description })
const moneyOrNull = (description: string) =>
  Schema.NullOr(Schema.NonNegativeInt).annotations({ description: `${description}, in micro-USD.` })

const maxRequestedCount = 1_000

export const CreateAnalysis = strict({
  requested_count: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, maxRequestedCount)), {
    default: () => maxRequestedCount,
    exact: true
  }).annotations({
    description: `At most so many conversations, 1 to ${maxRequestedCount}; by default ${maxRequestedCount}.`
  }),
  start: Schema.optionalWith(sentTimestampOrNull("Only calls from then on, RFC 3339; null: 30 days before `end`."), {
    default: () => null,
    exact: true
  }),
  end: Schema.optionalWith(sentTimestampOrNull("Only calls before, RFC 3339; null: now."), {
    default: () => null,
    exact: true
  })
}).annotations({ identifier: "CreateAnalysis" })
export type CreateAnalysis = typeof CreateAnalysis.Type

export const analysisStatuses = ["queued", "running", "succeeded", "failed", "cancelled", "insufficient_data"] as const
export const analysisPhases = ["select", "load", "static", "plan", "replay", "report"] as const

const summary = {
  id: Schema.UUID.annotations({ description: "Id of the analysis." }),
  project_id: Schema.UUID.annotations({ description: "Id of its project." }),
  status: text(
    "queued, running, succeeded, failed, cancelled (with a report where only its replay was), or insufficient_data: fewer than 30 calls or 20 effective conversations, and nothing that is sure without."
  ),
  range_start: timestamp("Only calls from then on are read."),
  range_end: timestamp("Only calls before are read."),
  requested_count: count("At most so many conversations."),
  sample_count: count("Calls that were read."),
  created_at: timestamp("When it was asked for."),
  finished_at: timestampOrNull("When it ended; null before."),
  error: Schema.NullOr(Schema.String).annotations({ description: "Why it failed; null if it did not." })
}

export const AnalysisSummary = Schema.Struct(summary).annotations({ identifier: "AnalysisSummary" })
export type AnalysisSummary = typeof AnalysisSummary.Type
export const AnalysesPage = pageOf("AnalysesPage", AnalysisSummary)

const Scope = Schema.Struct({
  from: text("Start of the range, RFC 3339."),
  to: text("End of the range, RFC 3339."),
  config_versions: Schema.Array(Schema.Int).annotations({
    description: "Versions of the data collection that took the calls."
  }),
  source: Schema.Literal("captured", "call_log").annotations({
    description: "captured: calls with their prompts. call_log: none are captured; what the log of calls says."
  }),
  conversations: count("Conversations that were read."),
  effective_conversations: Schema.Number.annotations({
    description: "How many equally costly conversations say as much."
  }),
  samples: count("Calls that were read."),
  calls_covered: count("Of these, calls whose bill was computed again."),
  traffic: Schema.Struct({
    calls: count("Calls of the project in the range."),
    spent_microusd: money("What they cost"),
    opted_in: Schema.optionalWith(
      Schema.Struct({
        calls: count("Calls of requests with `token_doctor: true`."),
        spent_microusd: money("What they cost")
      }),
      { exact: true }
    ).annotations({ description: "Those that may be collected; left out by earlier versions." })
  }).annotations({ description: "All calls of the project in the range, without conversations of the dashboard." }),
  covered_microusd: money("What the calls that were read cost"),
  excluded: Schema.Array(
    Schema.Struct({ reason: text("truncated, no_usage or no_prices."), count: count("Calls.") })
  ).annotations({ description: "Calls that were read and could not be billed again." }),
  model_error: Schema.Array(
    Schema.Struct({
      route: text("Id of the model."),
      share: share("Difference between computed and charged amount, as a part of what was charged"),
      reads_explained: share("Calls whose cached tokens are predicted within 3 % of the prompt")
    })
  ).annotations({ description: "How well the computed bills agree with what was charged." })
})

const Headline = Schema.Struct({
  observed: Schema.Struct({
    spent_microusd: money("What the calls that were read cost"),
    avoidable_microusd: money("What of it was avoidable: the sum of the shares of the causes")
  }).annotations({ description: "Of the calls that were read: without an error of sampling." }),
  projected: Schema.NullOr(
    Schema.Struct({
      monthly_microusd: money("Avoidable in 30 days"),
      at_least_microusd: money("Avoidable in 30 days at least, with the confidence below"),
      confidence: share("Confidence of the lower bound"),
      likely: Schema.NullOr(Schema.Tuple(Schema.NonNegativeInt, Schema.NonNegativeInt)).annotations({
        description: "Range of 90 %, in micro-USD; null below 50 effective conversations."
      }),
      method: text("How it was computed.")
    })
  ).annotations({
    description:
      "Of all calls that opt in to the collection, at the pace of the range; null below 20 effective conversations."
  }),
  hypotheses_microusd_up_to: money(
    "What hypotheses would save together at most, never more than was spent: in no other sum"
  )
})

const CauseOut = Schema.Struct({
  id: text("Such as prefix_volatile; src/analysis/README.md lists them."),
  number: count("In the documentation."),
  tier: Schema.Literal("exact", "rebilled", "hypothesis", "info").annotations({
    description: "exact: amounts of the ledger. rebilled: from bills computed again. hypothesis, info: in no sum."
  }),
  owner: Schema.Literal("client", "gateway", "provider").annotations({ description: "Who can change it." }),
  title: text("For people."),
  share_microusd: money("Its part of what was avoidable; 0 for hypotheses"),
  alone_microusd: money("What it would save by itself; does not add up"),
  at_least_microusd: moneyOrNull("Saved in 30 days at least; null below 20 effective conversations"),
  calls: count("Calls that show it."),
  conversations: count("Conversations that show it."),
  confidence: share("How sure it is that this is waste"),
  evidence: Schema.Array(
    Schema.Struct({
      sample_id: Schema.UUID.annotations({ description: "A call that shows it." }),
      at: Schema.Struct({
        message: Schema.NullOr(Schema.Int).annotations({
          description: "Position in the prompt, tools first, then messages; null: the whole call."
        })
      }).annotations({ description: "Where in its prompt." })
    })
  ).annotations({ description: "At most five examples, without text." }),
  figures: Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({
    description: "Other figures, each with its unit in its name."
  }),
  false_positive_if: text("When the same signs are no waste."),
  action_id: Schema.NullOr(Schema.String).annotations({ description: "What to do about it; null: nothing." })
})

const AlphaPoint = Schema.Struct({
  alpha: share("Quality against cost"),
  cost_microusd: money("Expected cost of the calls that were ranked again"),
  quality: Schema.NullOr(Schema.Number).annotations({
    description: "Mean predicted quality, 0 to 1; null where no model could take any of the calls."
  }),
  basis: Schema.Literal("measured", "prior").annotations({
    description: "measured: grades of the project are among the qualities. prior: all of them are assumed."
  }),
  models: Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({
    description: "The part of the calls that each model would be tried first for, 0 to 1, by id."
  })
})

export const AnalysisReport = Schema.Struct({
  version: Schema.Literal(1).annotations({ description: "Of this shape." }),
  scope: Scope.annotations({ description: "What was read." }),
  headline: Headline.annotations({ description: "The result in a few figures." }),
  causes: Schema.Array(CauseOut).annotations({
    description: "Shares of exact and rebilled causes add up to what was avoidable."
  }),
  segments: Schema.optionalWith(Schema.Array(AnalysisSegment), { default: () => [], exact: true }).annotations({
    description:
      "What the captured calls that named no model ask for, and which models have answered; the dearest first."
  }),
  alpha_curve: Schema.optionalWith(Schema.Array(AlphaPoint), { default: () => [], exact: true }).annotations({
    description:
      "The calls of the range that named no model, ranked once more at each alpha; at most 2,000, the newest. Empty without any."
  }),
  actions: Schema.Array(AnalysisAction).annotations({ description: "What to do." }),
  reliability: Schema.Struct({
    attempts_wasted_ms: Schema.Number.annotations({
      description: "Time of attempts that failed before an answer, in milliseconds."
    }),
    cancelled_microusd: money("Paid for answers that were given up and not asked for again"),
    held_idle_microusd_hours: Schema.Number.annotations({
      description: "Money held for output that no answer needs, micro-USD times hours."
    })
  }).annotations({ description: "What costs time or room, not money." }),
  method: Schema.Struct({
    cost: Cost,
    judge: Schema.optionalWith(Schema.NullOr(Schema.String), { default: () => null, exact: true }).annotations({
      description: "Id of the model that has compared answers, each pair in both orders; null without a replay."
    }),
    seed: Schema.Int.annotations({ description: "Of everything random in it: the same calls give the same report." })
  }).annotations({ description: "How it was made." }),
  honesty: Schema.Struct({
    not_looked_at: Schema.Array(Schema.String).annotations({ description: "What was left out." }),
    assumptions: Schema.Array(Schema.String).annotations({ description: "What figures rest on." }),
    insufficient: Schema.Array(
      Schema.Struct({
        what: text("What there is too little of."),
        have: Schema.Number.annotations({ description: "So many." }),
        need: Schema.Number.annotations({ description: "At least." })
      })
    ).annotations({ description: "Why something is not said." }),
    past_receipts: Schema.optionalWith(PastReceipts, {
      default: () => ({ n: 0, realised_over_estimated: null }),
      exact: true
    })
  }).annotations({ description: "What the figures do not say." })
}).annotations({
  identifier: "AnalysisReport",
  description: "All amounts are whole micro-USD; it has no text of calls."
})
export type AnalysisReport = typeof AnalysisReport.Type

export const AnalysisDetail = Schema.Struct({
  ...summary,
  report: Schema.NullOr(AnalysisReport).annotations({
    description: "null before the analysis has ended, and where an earlier version wrote it in another form."
  }),
  progress: Schema.NullOr(
    Schema.Struct({
      phase: Schema.Literal(...analysisPhases).annotations({ description: "What it is doing." }),
      done: count("Conversations that are read, or questions that are answered."),
      total: count("Of so many.")
    })
  ).annotations({ description: "null when it does not run." }),
  actions_taken: Schema.Array(TakenAction).annotations({
    description: "Actions of the report that were applied or followed."
  })
}).annotations({ identifier: "AnalysisDetail" })
export type AnalysisDetail = typeof AnalysisDetail.Type

export const AnalysisEstimate = Schema.Struct({
  conversations: count("Conversations that the analysis would read."),
  calls: count("Captured calls of them; 0: the log of calls would be read."),
  traffic: Schema.Struct({
    calls: count("Calls of the project in the range."),
    spent_microusd: money("What they cost")
  }).annotations({
    description: "All calls of the project in the range, without conversations of the dashboard."
  }),
  cost: Cost.annotations({ description: "An analysis without replay calls no model: 0." })
}).annotations({ identifier: "AnalysisEstimate" })
export type AnalysisEstimate = typeof AnalysisEstimate.Type
