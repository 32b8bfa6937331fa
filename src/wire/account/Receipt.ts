import * as Schema from "effect/Schema"
import { timestamp } from "./Times.ts"

/** What an action has been measured to do. */

export const experimentStates = ["running", "reverted", "final", "undone", "superseded"] as const

const count = (description: string) => Schema.NonNegativeInt.annotations({ description })
const rate = (description: string) =>
  Schema.NullOr(Schema.Number).annotations({ description: `${description}; null: none.` })
const moneyOrNull = (description: string) =>
  Schema.NullOr(Schema.Int).annotations({ description: `${description}, in whole micro-USD.` })

const GuardOut = Schema.Struct({
  guard: Schema.Literal("errors", "retries", "feedback").annotations({
    description:
      "errors: conversations with a call that failed. retries: conversations with a call that was cancelled, or asked again with a prompt of the same length within ten minutes. feedback: by how much grades are below 1, of conversations that have any."
  }),
  treated: rate("Mean of the conversations with the change, 0 (good) to 1 (bad)"),
  held_out: rate("Mean of the conversations that were held out, 0 to 1"),
  before: rate("Mean of the newest 1,000 conversations of the 14 days before, 0 to 1"),
  e_value: Schema.Number.annotations({
    description: "Evidence that the change makes it worse; 1 says nothing. It may be looked at any time."
  })
})

export const Receipt = Schema.Struct({
  experiment_id: Schema.UUID.annotations({ description: "Of the experiment; its arms are divided by it." }),
  state: Schema.Literal(...experimentStates).annotations({
    description:
      "running. reverted: the guards have shown harm, and the change was taken back. final: the days are over, or 20,000 calls were measured; all conversations get the change. undone: somebody has taken the action back. superseded: somebody has changed what the action had changed."
  }),
  reason: Schema.NullOr(Schema.String).annotations({ description: "Why it has ended; null: it runs." }),
  share: Schema.Number.annotations({ description: "Of the conversations that get the change, 0 to 1." }),
  started_at: timestamp("When the change was applied."),
  ends_at: timestamp("When the hold-out ends by itself."),
  ended_at: Schema.NullOr(timestamp("When it has ended.")).annotations({
    description: "When it has ended; null: it runs."
  }),
  measured_at: Schema.NullOr(timestamp("When these figures were computed.")).annotations({
    description: "When these figures were computed; null: not yet."
  }),
  conversations: Schema.Struct({
    treated: count("With the change."),
    held_out: count("Held out of it."),
    before: count("From before it, for the guards.")
  }).annotations({
    description: "Conversations that were measured: with calls that named no model and that the change concerns."
  }),
  cost_per_conversation_microusd: Schema.Struct({
    treated: moneyOrNull("Mean with the change; null without a conversation"),
    held_out: moneyOrNull("Mean of those held out; null without a conversation")
  }).annotations({ description: "What a conversation has cost." }),
  saved_per_conversation_microusd: moneyOrNull(
    "Held out less with the change, below 0 where it costs more; null while an arm has no conversation"
  ),
  saved_at_least_microusd: moneyOrNull(
    "A lower bound of it with a confidence of .975; null below 20 conversations of either arm"
  ),
  estimated_per_conversation_microusd: moneyOrNull("What the report expected; null where it expected nothing"),
  realised_over_estimated: Schema.NullOr(Schema.Number).annotations({
    description: "Saved by estimated amount; null below 20 conversations of either arm and without an estimate."
  }),
  guards: Schema.Array(GuardOut).annotations({
    description: "What must not become worse; empty before the first measurement."
  }),
  e_value: Schema.Number.annotations({ description: "Of all guards together: the mean." }),
  revert_at_e_value: Schema.Number.annotations({ description: "At this e_value the change is taken back." })
}).annotations({
  identifier: "Receipt",
  description: "What was measured of an action since it was applied with a hold-out."
})
export type Receipt = typeof Receipt.Type

export const PastReceipts = Schema.Struct({
  n: count("Final receipts of the project with an estimate and 20 conversations of either arm."),
  realised_over_estimated: Schema.NullOr(Schema.Number).annotations({
    description: "What they have saved by what their reports had estimated; null without any."
  })
}).annotations({ description: "How far the estimates of earlier reports of the project came true." })
export type PastReceipts = typeof PastReceipts.Type
