import * as Schema from "effect/Schema"
import { promptClasses } from "../../domain/PromptClass.ts"
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
  incumbent: text("Id of the model that was served."),
  candidate: text("Id of the model that might replace it."),
  verdict: Schema.Literal(...verdicts).annotations({
    description:
      "not_worse, worse: shown, with a probability of being wrong of 5 % at most for all questions together. insufficient_data, stopped_by_cap: not shown. judge_unfit, judge_biased: the judge could not have shown it."
  }),
  delta: number("How much worse, in the mean difference, still counts as not worse."),
  pairs: count("Prompts that both have answered."),
  wins: count("Of these, such that the candidate answered better."),
  losses: count("Such that it answered worse."),
  ties: count("Such that made no difference."),
  mean: number("Mean difference, -1 to 1: above 0 where the candidate is better."),
  e_value: number("Evidence that the candidate is not worse."),
  sensitivity_lo: number("Share of planted faults that the judge finds at least, 0 to 1."),
  placebo_mean: Schema.NullOr(Schema.Number).annotations({
    description: "Mean difference of the served model to itself; null without any judged pair."
  }),
  saving_per_call_microusd: money("What a call would cost less"),
  pairs_needed: Schema.NullOr(Schema.NonNegativeInt).annotations({
    description: "Further pairs that an outcome is likely to need; null where more would not help."
  }),
  cost_to_know_microusd: Schema.NullOr(Schema.NonNegativeInt).annotations({
    description: "What these pairs are likely to cost, in micro-USD; null as before."
  })
})
export type AnsweredQuestion = typeof AnsweredQuestion.Type

export const AnalysisSegment = Schema.Struct({
  class: Schema.Literal(...promptClasses).annotations({ description: "What the prompts ask for." }),
  calls: count("Calls of this class that named no model."),
  spent_microusd: money("What they cost"),
  served: Schema.Array(
    Schema.Struct({
      model: text("Id of the model that has answered."),
      calls: count("Calls that it has answered."),
      spent_microusd: money("What they cost"),
      conversations: count("Conversations of which a call may be sent to other models."),
      input_tokens: count("Prompt tokens that no cache had part in."),
      cache_read_tokens: count("Prompt tokens that were read from the provider's cache."),
      cache_write_tokens: count("Prompt tokens that were written to it."),
      output_tokens: count("Tokens of the answers, with reasoning."),
      cost_p50_microusd: money("Median cost of a call"),
      first_content_p50_ms: Schema.NullOr(Schema.Number).annotations({
        description: "Median time to the first content, in milliseconds; null where none was streamed."
      })
    })
  ).annotations({ description: "Which models have answered, the dearest first." }),
  questions: Schema.Array(AnsweredQuestion).annotations({
    description: "What a replay has been asked about this class; empty before one."
  })
})
export type AnalysisSegment = typeof AnalysisSegment.Type

/** More would buy nothing that a report can say. */
const maxSpendMicroUsd = 1_000_000_000

export const ReplayRequest = strict({
  max_spend_microusd: Schema.Int.pipe(Schema.between(1, maxSpendMicroUsd)).annotations({
    description:
      "What the replay may cost at most, in micro-USD: a limit of the ledger, which holds like that of a key."
  }),
  judge_model: Schema.optionalWith(Schema.NullOr(Pattern), { default: () => null, exact: true }).annotations({
    description:
      "Id of the model that compares answers, of another family than those that it compares; null: the best that the project may use."
  }),
  candidates: Schema.optionalWith(Schema.NullOr(Schema.Array(Pattern).pipe(Schema.minItems(1), Schema.maxItems(20))), {
    default: () => null,
    exact: true
  }).annotations({
    description: "Ids of models that might replace what was served; null: all that the project may use."
  }),
  confirm: Schema.optionalWith(Schema.Boolean, { default: () => false, exact: true }).annotations({
    description: "false, the default: only the quote; nothing is called or changed. true: the replay begins."
  })
}).annotations({ identifier: "ReplayRequest" })
export type ReplayRequest = typeof ReplayRequest.Type

export const ReplayQuote = Schema.Struct({
  analysis_id: Schema.UUID.annotations({ description: "Id of the analysis." }),
  started: Schema.Boolean.annotations({ description: "Whether the replay was started with this quote." }),
  judge_model: Schema.NullOr(Schema.String).annotations({
    description: "Id of the model that would compare answers; null where the project may use none that is fit."
  }),
  questions: Schema.Array(
    Schema.Struct({
      class: Schema.Literal(...promptClasses).annotations({ description: "What the prompts ask for." }),
      incumbent: text("Id of the model that was served."),
      candidate: text("Id of the model that might replace it."),
      pairs: count("Prompts that both would answer at most: an outcome ends it earlier."),
      cost_microusd: money("What all of them are likely to cost, with the judge and its test"),
      saving_per_call_microusd: money("What a call would cost less"),
      payback_calls: Schema.NullOr(Schema.NonNegativeInt).annotations({
        description: "Calls after which the saving has paid for the question; null without a saving."
      }),
      payback_days: Schema.NullOr(Schema.Number).annotations({
        description: "Days after which it has, at the present number of calls; null without any."
      }),
      advised: Schema.Boolean.annotations({ description: "Whether it has within 30 days." })
    })
  ).annotations({ description: "At most three: more would leave too few pairs to each. Empty: nothing can be asked." }),
  cost_microusd: money("What all questions are likely to cost"),
  max_spend_microusd: money("What they can cost at most")
}).annotations({
  identifier: "ReplayQuote",
  description: "What a replay would ask and cost. Costs are expected ones; the maximum is certain."
})
export type ReplayQuote = typeof ReplayQuote.Type
