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
      "errors: share of conversations with a failed call. retries: share of conversations with a call that was cancelled, or repeated with a prompt of the same length within ten minutes. feedback: by how much grades are below 1, for conversations with grades."
  }),
  treated: rate("Mean of the conversations with the change, 0 (good) to 1 (bad)"),
  held_out: rate("Mean of the held-out conversations, 0 to 1"),
  before: rate("Mean of the newest 1,000 conversations of the 14 days before the change, 0 to 1"),
  e_value: Schema.Number.annotations({
    description: "E-value: evidence that the change makes it worse; 1 is no evidence. It is valid at any time."
  })
})

export const Receipt = Schema.Struct({
  experiment_id: Schema.UUID.annotations({
    description: "Id of the experiment, by which conversations are assigned to its arms."
  }),
  state: Schema.Literal(...experimentStates).annotations({
    description:
      "running. reverted: the guards showed harm, and the change was reverted. final: the hold-out period is over, or 20,000 calls were measured; all conversations get the change. undone: a user undid the action. superseded: a user changed the fields that the action had changed."
  }),
  reason: Schema.NullOr(Schema.String).annotations({ description: "Why it ended; null: it is running." }),
  share: Schema.Number.annotations({ description: "Share of conversations that get the change, 0 to 1." }),
  started_at: timestamp("When the change was applied."),
  ends_at: timestamp("When the hold-out period ends."),
  ended_at: Schema.NullOr(timestamp("When it ended.")).annotations({
    description: "When it ended; null: it is running."
  }),
  measured_at: Schema.NullOr(timestamp("When these figures were computed.")).annotations({
    description: "When these figures were computed; null: not yet."
  }),
  conversations: Schema.Struct({
    treated: count("Conversations with the change."),
    held_out: count("Conversations held out of it."),
    before: count("Conversations before the change, for the guards.")
  }).annotations({
    description: "Measured conversations: those with `auto` calls that the change affects."
  }),
  cost_per_conversation_microusd: Schema.Struct({
    treated: moneyOrNull("Mean with the change; null without conversations"),
    held_out: moneyOrNull("Mean of the held-out conversations; null without conversations")
  }).annotations({ description: "Cost of a conversation." }),
  saved_per_conversation_microusd: moneyOrNull(
    "Cost held out minus cost with the change, negative where the change costs more; null while an arm has no conversations"
  ),
  saved_at_least_microusd: moneyOrNull(
    "Lower bound of the saving, at a confidence of 0.975; null below 20 conversations in either arm"
  ),
  estimated_per_conversation_microusd: moneyOrNull("Saving that the report estimated; null without an estimate"),
  realised_over_estimated: Schema.NullOr(Schema.Number).annotations({
    description:
      "Measured saving divided by estimated saving; null below 20 conversations in either arm, or without an estimate."
  }),
  guards: Schema.Array(GuardOut).annotations({
    description: "Guard metrics, which must not become worse; empty before the first measurement."
  }),
  e_value: Schema.Number.annotations({ description: "Mean e-value of all guards." }),
  revert_at_e_value: Schema.Number.annotations({ description: "E-value at which the change is reverted." })
}).annotations({
  identifier: "Receipt",
  description: "Measurements of an action since it was applied with a hold-out."
})
export type Receipt = typeof Receipt.Type

export const PastReceipts = Schema.Struct({
  n: count("Final receipts of the project with an estimate and 20 conversations in each arm."),
  realised_over_estimated: Schema.NullOr(Schema.Number).annotations({
    description: "Measured saving divided by estimated saving; null without receipts."
  })
}).annotations({ description: "Accuracy of the estimates of earlier reports of the project." })
export type PastReceipts = typeof PastReceipts.Type
