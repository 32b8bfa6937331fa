import * as Schema from "effect/Schema"
import { promptClasses } from "../../domain/PromptClass.ts"
import { listOf, within } from "../validation/SchemaParts.ts"
import { Pattern } from "./Patterns.ts"
import { strict } from "./Strict.ts"

/** The records of what replays of captured calls have shown. */

const money = (description: string) =>
  Schema.NonNegativeInt.annotations({ description: `${description}, in micro-USD.` })
const count = (description: string) => Schema.NonNegativeInt.annotations({ description })
const number = (description: string) => Schema.Number.annotations({ description })
const text = (description: string) => Schema.String.annotations({ description })

const verdicts = ["not_worse", "worse", "insufficient_data", "judge_unfit", "judge_biased", "stopped_by_cap"] as const

const AnsweredQuestion = Schema.Struct({
  incumbent: text("Id of the model in use."),
  candidate: text("Id of the model that could replace it."),
  verdict: Schema.Literal(...verdicts).annotations({
    description:
      "not_worse, worse: shown, with an error probability of at most 5 % over all questions together. insufficient_data, stopped_by_cap: inconclusive. judge_unfit, judge_biased: the judge could not have shown it."
  }),
  delta: number("Non-inferiority margin: how much worse, in the mean difference, still counts as not worse."),
  pairs: count("Prompts that were compared: both models answered, or the candidate failed (`failed`)."),
  wins: count("Of these, pairs in which the candidate's response was better."),
  losses: count("Pairs in which it was worse."),
  ties: count("Pairs without a difference."),
  failed: Schema.optionalWith(Schema.NonNegativeInt, { default: () => 0, exact: true }).annotations({
    description:
      "Of the losses, prompts that the candidate did not answer: it rejected them, or its response was empty or unreadable. 0 in reports of earlier versions."
  }),
  left_out: Schema.optionalWith(Schema.NonNegativeInt, { default: () => 0, exact: true }).annotations({
    description:
      "Prompts in no pair because a call failed through no fault of the candidate: a rate limit, an outage or timeout, a cancellation, money, or the judge. 0 in reports of earlier versions."
  }),
  mean: number("Mean difference, -1 to 1; positive where the candidate is better."),
  e_value: number("E-value: evidence that the candidate is not worse."),
  sensitivity_lo: number("Lower bound of the share of planted faults that the judge detects, 0 to 1."),
  placebo_mean: Schema.NullOr(Schema.Number).annotations({
    description: "Mean difference between the model in use and itself; null without judged pairs."
  }),
  saving_per_call_microusd: money("Saving per call"),
  pairs_needed: Schema.NullOr(Schema.NonNegativeInt).annotations({
    description: "Further pairs that a conclusive outcome is expected to need; null where more would not help."
  }),
  cost_to_know_microusd: Schema.NullOr(Schema.NonNegativeInt).annotations({
    description: "Expected cost of these pairs, in micro-USD; null where `pairs_needed` is."
  })
})
export type AnsweredQuestion = typeof AnsweredQuestion.Type

export const AnalysisSegment = Schema.Struct({
  class: Schema.Literal(...promptClasses).annotations({ description: "What the prompts ask for." }),
  calls: count("`auto` calls of this class."),
  spent_microusd: money("Cost of these calls"),
  served: Schema.Array(
    Schema.Struct({
      model: text("Id of the model that answered."),
      calls: count("Calls that it answered."),
      spent_microusd: money("Cost of these calls"),
      conversations: count("Conversations with a call that may be sent to other models."),
      input_tokens: count("Prompt tokens neither read from nor written to a cache."),
      cache_read_tokens: count("Prompt tokens read from a cache."),
      cache_write_tokens: count("Prompt tokens written to a cache."),
      output_tokens: count("Completion tokens, including reasoning tokens."),
      cost_p50_microusd: money("Median cost of a call"),
      first_content_p50_ms: Schema.NullOr(Schema.Number).annotations({
        description: "Median time to the first content, in milliseconds; null where none was streamed."
      })
    })
  ).annotations({ description: "The models that answered, by descending cost." }),
  questions: Schema.Array(AnsweredQuestion).annotations({
    description: "Questions that a replay has answered about this class; empty before a replay."
  })
})
export type AnalysisSegment = typeof AnalysisSegment.Type

/** More would buy nothing that a report can say. */
const maxSpendMicroUsd = 1_000_000_000

export const ReplayRequest = strict({
  max_spend_microusd: within({ type: "integer", minimum: 1, maximum: maxSpendMicroUsd }).annotations({
    description: "Maximum cost of the replay, in micro-USD; enforced by the ledger like the spend limit of a key."
  }),
  judge_model: Schema.optionalWith(Schema.NullOr(Pattern), { default: () => null, exact: true }).annotations({
    description:
      "Id of the judge model, which must be of another family than the models that it compares; null: the best that the project may use."
  }),
  candidates: Schema.optionalWith(Schema.NullOr(listOf(Pattern, { min: 1, max: 20 })), {
    default: () => null,
    exact: true
  }).annotations({
    description: "Ids of models that could replace those in use; null: all that the project may use."
  }),
  confirm: Schema.optionalWith(Schema.Boolean, { default: () => false, exact: true }).annotations({
    description:
      "false, the default: only returns the quote; no model is called and nothing is changed. true: starts the replay."
  })
}).annotations({ identifier: "ReplayRequest" })
export type ReplayRequest = typeof ReplayRequest.Type

export const ReplayQuote = Schema.Struct({
  analysis_id: Schema.UUID.annotations({ description: "Id of the analysis." }),
  started: Schema.Boolean.annotations({ description: "Whether the replay was started with this quote." }),
  judge_model: Schema.NullOr(Schema.String).annotations({
    description: "Id of the judge model; null where the project may use no suitable one."
  }),
  questions: Schema.Array(
    Schema.Struct({
      class: Schema.Literal(...promptClasses).annotations({ description: "What the prompts ask for." }),
      incumbent: text("Id of the model in use."),
      candidate: text("Id of the model that could replace it."),
      pairs: count("Maximum number of prompts that both would answer; a conclusive outcome ends it earlier."),
      cost_microusd: money("Expected cost of all pairs, including the judge and its test"),
      saving_per_call_microusd: money("Saving per call"),
      payback_calls: Schema.NullOr(Schema.NonNegativeInt).annotations({
        description: "Calls after which the saving exceeds the cost of the question; null without a saving."
      }),
      payback_days: Schema.NullOr(Schema.Number).annotations({
        description:
          "Days after which the saving exceeds the cost of the question, at the current call volume; null without calls."
      }),
      advised: Schema.Boolean.annotations({ description: "Whether the saving exceeds the cost within 30 days." })
    })
  ).annotations({
    description: "At most three questions: more would leave too few pairs for each. Empty: nothing can be compared."
  }),
  cost_microusd: money("Expected cost of all questions"),
  max_spend_microusd: money("Maximum cost of all questions")
}).annotations({
  identifier: "ReplayQuote",
  description: "What a replay would compare and cost. Costs are expected values; the maximum is a hard limit."
})
export type ReplayQuote = typeof ReplayQuote.Type
