import * as Schema from "effect/Schema"
import { listOf } from "../validation/SchemaParts.ts"
import { StoredPatterns } from "./Patterns.ts"
import { Alpha } from "./Policy.ts"
import { Receipt } from "./Receipt.ts"
import { PolicyReplayOut } from "./Replay.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

/** The records of what analyses propose, and of what is done about it. */

const text = (description: string) => Schema.String.annotations({ description })
const moneyOrNull = (description: string) =>
  Schema.NullOr(Schema.NonNegativeInt).annotations({ description: `${description}, in micro-USD.` })

export const actionKinds = ["policy", "routing_configuration", "client_hint"] as const

const ClientHint = Schema.Struct({ text: text("What to change in the application.") })

const PolicyPatch = Schema.Struct({
  method: Schema.Literal("PUT").annotations({ description: "Of the route that the change is written with." }),
  path: text("The route: the policy of the project."),
  body: Schema.Struct({
    default_alpha: Schema.optional(Alpha.annotations({ description: "The new value, 0 to 1." })),
    excluded_models: Schema.optional(
      Schema.Array(Schema.String).annotations({ description: "Ids that are added to the excluded models." })
    )
  }).annotations({ description: "What changes; every other field stays as it is." })
})

const RoutingPatch = Schema.Struct({
  method: Schema.Literal("PUT").annotations({ description: "Of the route that the change is written with." }),
  path: text("The route: one routing configuration of the project."),
  slug: text("Of the routing configuration."),
  body: Schema.Struct({ alpha: Alpha.annotations({ description: "The new value, 0 to 1." }) }).annotations({
    description: "What changes; every other field stays as it is."
  })
})

export const ActionPatch = Schema.Union(RoutingPatch, PolicyPatch, ClientHint).annotations({
  description:
    "client_hint: what to change in the application. policy and routing_configuration: what the apply route writes."
})
export type ActionPatch = typeof ActionPatch.Type

const Share = Schema.Number.pipe(Schema.between(0.1, 0.95)).annotations({
  description: "Of the conversations that get the change, 0.1 to 0.95; the others are held out of it."
})
const Days = Schema.Int.pipe(Schema.between(1, 30)).annotations({
  description: "After so many days the hold-out ends, 1 to 30; then all conversations get the change."
})
const canaryOf = (description: string) => Schema.Struct({ share: Share, days: Days }).annotations({ description })

export const AnalysisAction = Schema.Struct({
  id: text("Of the action, in this analysis."),
  kind: Schema.Literal(...actionKinds).annotations({
    description:
      "client_hint: a change of the application. policy, routing_configuration: a change of the project that the apply route writes and the undo route takes back."
  }),
  title: text("For people."),
  owner: Schema.Literal("client", "gateway", "provider").annotations({ description: "Who can change it." }),
  patch: ActionPatch,
  undo: Schema.Struct({ text: text("How to take it back.") }).annotations({ description: "The way back." }),
  saving: Schema.Struct({
    at_least: moneyOrNull("In 30 days at least; null where no lower bound is known"),
    likely: Schema.NonNegativeInt.annotations({ description: "On the calls that were read, in micro-USD." })
  }).annotations({ description: "What it saves." }),
  risk: text("When it does harm."),
  canary: Schema.optionalWith(Schema.NullOr(canaryOf("The hold-out that is proposed.")), {
    default: () => null,
    exact: true
  }).annotations({ description: "The hold-out that is proposed; null for a client_hint, which can have none." }),
  receipt: Schema.NullOr(Receipt).annotations({
    description: "What was measured since it was applied with a hold-out, the latest time; null: it was not."
  })
}).annotations({ identifier: "AnalysisAction" })
export type AnalysisAction = typeof AnalysisAction.Type

export const ApplyAction = strict({
  config_version: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { nullable: true, exact: true }).annotations({
    description:
      "The version of the project's settings that the preview has shown. Required where the action changes the project; not allowed for a client_hint."
  }),
  canary: Schema.optionalWith(strict({ share: Share, days: Days }), { nullable: true, exact: true }).annotations({
    description:
      "Holds conversations out of the change, measures the difference, and takes the change back where the guards show harm; absent or null: all conversations get it. Not allowed for a client_hint."
  })
}).annotations({ identifier: "ApplyAction" })
export type ApplyAction = typeof ApplyAction.Type

const fieldsOf = (description: string) =>
  Schema.Struct({
    default_alpha: Schema.optional(Alpha.annotations({ description: "Of the policy." })),
    excluded_models: Schema.optional(Schema.NullOr(StoredPatterns).annotations({ description: "Of the policy." })),
    alpha: Schema.optional(Alpha.annotations({ description: "Of the routing configuration." }))
  }).annotations({ description })

export const ChangedFields = fieldsOf("Fields of the policy or of the routing configuration.")
export type ChangedFields = typeof ChangedFields.Type

export const ActionPreview = Schema.Struct({
  action_id: text("Of the action."),
  kind: Schema.Literal(...actionKinds).annotations({ description: "As in the report." }),
  text: Schema.NullOr(Schema.String).annotations({ description: "What to change in the application; else null." }),
  config_version: Schema.NullOr(Schema.Int).annotations({
    description: "Version of the project's settings now, for the apply route; null for a client_hint."
  }),
  managed_by_configuration: Schema.Boolean.annotations({
    description: "GATEWAY_CONFIG has these settings: the action cannot be applied here."
  }),
  before: Schema.NullOr(fieldsOf("The fields that would change, as they are.")).annotations({
    description: "The fields that would change, as they are; null for a client_hint."
  }),
  after: Schema.NullOr(fieldsOf("The same fields as they would be.")).annotations({
    description: "The same fields as they would be; null for a client_hint."
  }),
  becomes_empty: listOf(Schema.String, { max: 1_000 }).annotations({
    description: "`auto` and each `auto:<slug>` that has a model to choose now and would have none."
  }),
  replay: Schema.NullOr(PolicyReplayOut).annotations({
    description: "The newest calls of the project that named no model, ranked once more; null for a client_hint."
  })
}).annotations({ identifier: "ActionPreview", description: "What an action would change. Nothing is written." })
export type ActionPreview = typeof ActionPreview.Type

export const TakenAction = Schema.Struct({
  action_id: text("Of the action."),
  kind: Schema.Literal(...actionKinds).annotations({ description: "As in the report." }),
  applied_at: timestamp("When it was applied, or somebody said that it was followed."),
  undone_at: Schema.NullOr(timestamp("When it was taken back.")).annotations({
    description: "When it was taken back; null: it was not."
  }),
  before: Schema.NullOr(fieldsOf("The fields that were changed, as they were.")).annotations({
    description: "The fields that were changed, as they were, which the undo route restores; null for a client_hint."
  }),
  after: Schema.NullOr(fieldsOf("The same fields as they were written.")).annotations({
    description: "The same fields as they were written; null for a client_hint."
  })
})
