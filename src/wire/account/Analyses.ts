import * as Schema from "effect/Schema"
import { Cost } from "../../domain/Call.ts"
import { within } from "../validation/SchemaParts.ts"
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
  requested_count: Schema.optionalWith(within({ type: "integer", minimum: 1, maximum: maxRequestedCount }), {
    default: () => maxRequestedCount,
    exact: true
  }).annotations({
    description: `Maximum number of conversations, 1 to ${maxRequestedCount}; ${maxRequestedCount} by default.`
  }),
  start: Schema.optionalWith(
    sentTimestampOrNull("Only calls from this time on, RFC 3339; null: 30 days before `end`."),
    {
      default: () => null,
      exact: true
    }
  ),
  end: Schema.optionalWith(sentTimestampOrNull("Only calls before this time, RFC 3339; null: now."), {
    default: () => null,
    exact: true
  })
}).annotations({ identifier: "CreateAnalysis" })
export type CreateAnalysis = typeof CreateAnalysis.Type

export const analysisStatuses = ["queued", "running", "succeeded", "failed", "cancelled", "insufficient_data"] as const
export const analysisPhases = ["select", "load", "static", "plan", "replay", "report"] as const

const summary = {
  id: Schema.UUID.annotations({ description: "Id of the analysis." }),
  project_id: Schema.UUID.annotations({ description: "Id of the project." }),
  status: text(
    "queued, running, succeeded, failed, cancelled (with a report if only its replay was cancelled), or insufficient_data: fewer than 30 calls or 20 effective conversations, and no exact cause."
  ),
  range_start: timestamp("Start of the range: only calls from this time on are analysed."),
  range_end: timestamp("End of the range: only calls before this time are analysed."),
  requested_count: count("Maximum number of conversations."),
  sample_count: count("Calls that were analysed."),
  created_at: timestamp("When it was requested."),
  finished_at: timestampOrNull("When it ended; null until then."),
  error: Schema.NullOr(Schema.String).annotations({ description: "Why it failed; otherwise null." })
}

export const AnalysisSummary = Schema.Struct(summary).annotations({ identifier: "AnalysisSummary" })
export type AnalysisSummary = typeof AnalysisSummary.Type
export const AnalysesPage = pageOf("AnalysesPage", AnalysisSummary)

const Scope = Schema.Struct({
  from: text("Start of the range, RFC 3339."),
  to: text("End of the range, RFC 3339."),
  config_versions: Schema.Array(Schema.Int).annotations({
    description: "Versions of the collection settings under which the calls were captured."
  }),
  source: Schema.Literal("captured", "call_log").annotations({
    description:
      "captured: captured calls with their prompts. call_log: no calls were captured; only the request log was analysed."
  }),
  conversations: count("Conversations that were analysed."),
  effective_conversations: Schema.Number.annotations({
    description: "Effective sample size: the number of equally costly conversations with the same statistical weight."
  }),
  samples: count("Calls that were analysed."),
  calls_covered: count("Of these, calls whose bill was recomputed."),
  traffic: Schema.Struct({
    calls: count("Calls of the project in the range."),
    spent_microusd: money("Cost of these calls"),
    opted_in: Schema.optionalWith(
      Schema.Struct({
        calls: count("Calls with `token_doctor: true`."),
        spent_microusd: money("Cost of these calls")
      }),
      { exact: true }
    ).annotations({ description: "Calls that opt in to data collection; absent in reports of earlier versions." })
  }).annotations({ description: "All calls of the project in the range, except conversations in the dashboard." }),
  covered_microusd: money("Cost of the analysed calls"),
  excluded: Schema.Array(
    Schema.Struct({ reason: text("truncated, not_captured, no_usage or no_prices."), count: count("Calls.") })
  ).annotations({ description: "Analysed calls whose bill could not be recomputed." }),
  model_error: Schema.Array(
    Schema.Struct({
      route: text("Id of the model."),
      share: Schema.Number.annotations({
        description:
          "Difference between the recomputed and the charged amount, divided by the charged amount: 0 or more, above 1 where they differ by more than was charged."
      }),
      reads_explained: share("Share of calls whose cached tokens are predicted within 3 % of the prompt")
    })
  ).annotations({ description: "How well the recomputed bills agree with the charged amounts." })
})

const Headline = Schema.Struct({
  observed: Schema.Struct({
    spent_microusd: money("Cost of the analysed calls"),
    avoidable_microusd: money("Avoidable part of it: the sum of the shares of the causes")
  }).annotations({ description: "Of the analysed calls, without sampling error." }),
  projected: Schema.NullOr(
    Schema.Struct({
      monthly_microusd: money("Avoidable amount in 30 days"),
      at_least_microusd: money("Lower bound of the avoidable amount in 30 days, at the given confidence"),
      confidence: share("Confidence of the lower bound"),
      likely: Schema.NullOr(Schema.Tuple(Schema.NonNegativeInt, Schema.NonNegativeInt)).annotations({
        description: "90 % interval, in micro-USD; null below 50 effective conversations."
      }),
      method: text("How it was computed.")
    })
  ).annotations({
    description:
      "Projection to all calls that opt in to data collection, at the rate of the range; null below 20 effective conversations, and for a range of less than a day."
  }),
  hypotheses_microusd_up_to: money(
    "Maximum combined saving of all hypotheses, at most the amount spent; not included in any other sum"
  )
})

const CauseOut = Schema.Struct({
  id: text("Id of the cause, such as prefix_volatile; src/analysis/README.md lists them."),
  number: count("Number of the cause in the documentation."),
  tier: Schema.Literal("exact", "rebilled", "hypothesis", "info").annotations({
    description:
      "exact: from amounts of the ledger. rebilled: from recomputed bills. hypothesis, info: not included in any sum."
  }),
  owner: Schema.Literal("client", "gateway", "provider").annotations({ description: "Who can fix it." }),
  title: text("Human-readable title."),
  share_microusd: money("Share of the avoidable amount; 0 for hypotheses"),
  alone_microusd: money("Saving if only this cause were fixed; not additive"),
  at_least_microusd: moneyOrNull("Lower bound of the saving in 30 days; null where there is no projection"),
  calls: count("Affected calls."),
  conversations: count("Affected conversations."),
  confidence: share("Confidence that this is waste"),
  evidence: Schema.Array(
    Schema.Struct({
      sample_id: Schema.UUID.annotations({ description: "An affected call." }),
      at: Schema.Struct({
        message: Schema.NullOr(Schema.Int).annotations({
          description: "Position in the prompt, tools first, then messages; null: the whole call."
        })
      }).annotations({ description: "Location in its prompt." })
    })
  ).annotations({ description: "At most five examples, without text." }),
  figures: Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({
    description: "Additional figures; each name includes the unit."
  }),
  false_positive_if: text("When the same pattern is not waste."),
  action_id: Schema.NullOr(Schema.String).annotations({ description: "Id of the recommended action; null: none." })
})

const AlphaPoint = Schema.Struct({
  alpha: share("Quality-versus-cost weight"),
  cost_microusd: money("Expected cost of the re-ranked calls"),
  quality: Schema.NullOr(Schema.Number).annotations({
    description: "Mean predicted quality, 0 to 1; null where no model is eligible for any of the calls."
  }),
  basis: Schema.Literal("measured", "prior").annotations({
    description: "measured: the qualities include grades of the project. prior: all of them are assumed."
  }),
  models: Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({
    description: "Share of calls for which each model would be the first candidate, 0 to 1, by id."
  })
})

export const AnalysisReport = Schema.Struct({
  version: Schema.Literal(1).annotations({ description: "Version of the report's schema." }),
  scope: Scope.annotations({ description: "What was analysed." }),
  headline: Headline.annotations({ description: "Key figures." }),
  causes: Schema.Array(CauseOut).annotations({
    description: "Causes of waste; the shares of exact and rebilled causes add up to the avoidable amount."
  }),
  segments: Schema.optionalWith(Schema.Array(AnalysisSegment), { default: () => [], exact: true }).annotations({
    description: "Captured `auto` calls by class of prompt, with the models that answered them; by descending cost."
  }),
  alpha_curve: Schema.optionalWith(Schema.Array(AlphaPoint), { default: () => [], exact: true }).annotations({
    description: "The newest `auto` calls of the range, at most 2,000, re-ranked at each alpha. Empty without any."
  }),
  actions: Schema.Array(AnalysisAction).annotations({ description: "Recommended actions." }),
  reliability: Schema.Struct({
    attempts_wasted_ms: Schema.Number.annotations({
      description: "Time spent on attempts that failed before the one that answered, in milliseconds."
    }),
    cancelled_microusd: money("Paid for responses that were abandoned and not requested again"),
    held_idle_microusd_hours: Schema.Number.annotations({
      description: "Money held for output that no response needs, in micro-USD hours."
    })
  }).annotations({ description: "Cost of failed attempts, abandoned responses and oversized holds." }),
  method: Schema.Struct({
    cost: Cost,
    judge: Schema.optionalWith(Schema.NullOr(Schema.String), { default: () => null, exact: true }).annotations({
      description: "Id of the judge model, which compared each pair of responses in both orders; null without a replay."
    }),
    seed: Schema.Int.annotations({ description: "Random seed: the same calls give the same report." })
  }).annotations({ description: "How the report was made." }),
  honesty: Schema.Struct({
    not_looked_at: Schema.Array(Schema.String).annotations({ description: "What was not analysed." }),
    assumptions: Schema.Array(Schema.String).annotations({ description: "Assumptions behind the figures." }),
    insufficient: Schema.Array(
      Schema.Struct({
        what: text("The data that is insufficient."),
        have: Schema.Number.annotations({ description: "Amount available." }),
        need: Schema.Number.annotations({ description: "Minimum amount required." })
      })
    ).annotations({ description: "Data that is insufficient for a conclusion." }),
    past_receipts: Schema.optionalWith(PastReceipts, {
      default: () => ({ n: 0, realised_over_estimated: null }),
      exact: true
    })
  }).annotations({ description: "Limitations of the figures." })
}).annotations({
  identifier: "AnalysisReport",
  description: "All amounts are whole micro-USD. Contains no text of calls."
})
export type AnalysisReport = typeof AnalysisReport.Type

export const AnalysisDetail = Schema.Struct({
  ...summary,
  report: Schema.NullOr(AnalysisReport).annotations({
    description:
      "The report; null until the analysis has ended, and where an earlier version wrote it in another format."
  }),
  progress: Schema.NullOr(
    Schema.Struct({
      phase: Schema.Literal(...analysisPhases).annotations({ description: "Current phase." }),
      done: count("Conversations read, or questions answered, so far."),
      total: count("Total number of them.")
    })
  ).annotations({ description: "Progress; null when the analysis is not running." }),
  actions_taken: Schema.Array(TakenAction).annotations({
    description: "Actions of the report that were applied, or reported as followed."
  })
}).annotations({ identifier: "AnalysisDetail" })
export type AnalysisDetail = typeof AnalysisDetail.Type

export const AnalysisEstimate = Schema.Struct({
  conversations: count("Conversations that would be analysed."),
  calls: count("Captured calls of these conversations; 0: only the request log would be analysed."),
  traffic: Schema.Struct({
    calls: count("Calls of the project in the range."),
    spent_microusd: money("Cost of these calls")
  }).annotations({
    description: "All calls of the project in the range, except conversations in the dashboard."
  }),
  cost: Cost.annotations({ description: "Always 0: an analysis without a replay calls no model." })
}).annotations({ identifier: "AnalysisEstimate" })
export type AnalysisEstimate = typeof AnalysisEstimate.Type
