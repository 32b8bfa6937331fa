import * as Schema from "effect/Schema"
import { listOf, within } from "../validation/SchemaParts.ts"
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
  method: Schema.Literal("PUT").annotations({ description: "Method of the route that makes the change." }),
  path: text("Path of the route: the policy of the project."),
  body: Schema.Struct({
    default_alpha: Schema.optional(Alpha.annotations({ description: "The new value, 0 to 1." })),
    excluded_models: Schema.optional(
      Schema.Array(Schema.String).annotations({ description: "Ids to add to the excluded models." })
    )
  }).annotations({ description: "Fields that change; all other fields are unchanged." })
})

const RoutingPatch = Schema.Struct({
  method: Schema.Literal("PUT").annotations({ description: "Method of the route that makes the change." }),
  path: text("Path of the route: a routing configuration of the project."),
  slug: text("Slug of the routing configuration."),
  body: Schema.Struct({ alpha: Alpha.annotations({ description: "The new value, 0 to 1." }) }).annotations({
    description: "Fields that change; all other fields are unchanged."
  })
})

export const ActionPatch = Schema.Union(RoutingPatch, PolicyPatch, ClientHint).annotations({
  description:
    "client_hint: what to change in the application. policy, routing_configuration: what the apply route writes."
})
export type ActionPatch = typeof ActionPatch.Type

const Share = within({ type: "number", minimum: 0.1, maximum: 0.95 }).annotations({
  description: "Share of conversations that get the change, 0.1 to 0.95; the others are held out."
})
const Days = within({ type: "integer", minimum: 1, maximum: 30 }).annotations({
  description: "Days after which the hold-out ends, 1 to 30; then all conversations get the change."
})
const canaryOf = (description: string) => Schema.Struct({ share: Share, days: Days }).annotations({ description })

export const AnalysisAction = Schema.Struct({
  id: text("Id of the action, unique within the analysis."),
  kind: Schema.Literal(...actionKinds).annotations({
    description:
      "client_hint: a change to the application. policy, routing_configuration: a change to the project, which the apply route makes and the undo route reverts."
  }),
  title: text("Human-readable title."),
  owner: Schema.Literal("client", "gateway", "provider").annotations({ description: "Who can make the change." }),
  patch: ActionPatch,
  undo: Schema.Struct({ text: text("How to undo the action.") }).annotations({
    description: "Instructions for undoing it."
  }),
  saving: Schema.Struct({
    at_least: moneyOrNull("Lower bound of the saving in 30 days; null where none is known"),
    likely: Schema.NonNegativeInt.annotations({ description: "Saving on the analysed calls, in micro-USD." })
  }).annotations({ description: "Expected saving." }),
  risk: text("When the change does harm."),
  canary: Schema.optionalWith(Schema.NullOr(canaryOf("Proposed hold-out.")), {
    default: () => null,
    exact: true
  }).annotations({ description: "Proposed hold-out; null for a client_hint, which cannot have one." }),
  receipt: Schema.NullOr(Receipt).annotations({
    description: "Measurements since it was last applied with a hold-out; null: it was not."
  })
}).annotations({ identifier: "AnalysisAction" })
export type AnalysisAction = typeof AnalysisAction.Type

export const ApplyAction = strict({
  config_version: Schema.optionalWith(within({ type: "integer", minimum: 1 }), {
    nullable: true,
    exact: true
  }).annotations({
    description:
      "The version of the project's settings returned by the preview. Required where the action changes the project; not allowed for a client_hint."
  }),
  canary: Schema.optionalWith(strict({ share: Share, days: Days }), { nullable: true, exact: true }).annotations({
    description:
      "Holds conversations out of the change, measures the difference, and reverts the change if the guards show harm; absent or null: all conversations get it. Not allowed for a client_hint."
  })
}).annotations({ identifier: "ApplyAction" })
export type ApplyAction = typeof ApplyAction.Type

const fieldsOf = (description: string) =>
  Schema.Struct({
    default_alpha: Schema.optional(Alpha.annotations({ description: "Default alpha of the policy." })),
    excluded_models: Schema.optional(
      Schema.NullOr(StoredPatterns).annotations({ description: "Excluded models of the policy." })
    ),
    alpha: Schema.optional(Alpha.annotations({ description: "Alpha of the routing configuration." }))
  }).annotations({ description })

export const ChangedFields = fieldsOf("Fields of the policy or of the routing configuration.")
export type ChangedFields = typeof ChangedFields.Type

export const ActionPreview = Schema.Struct({
  action_id: text("Id of the action."),
  kind: Schema.Literal(...actionKinds).annotations({ description: "Kind of the action, as in the report." }),
  text: Schema.NullOr(Schema.String).annotations({
    description: "What to change in the application; null unless it is a client_hint."
  }),
  config_version: Schema.NullOr(Schema.Int).annotations({
    description: "Current version of the project's settings, for the apply route; null for a client_hint."
  }),
  managed_by_configuration: Schema.Boolean.annotations({
    description: "Whether these settings are managed by GATEWAY_CONFIG, so that the action cannot be applied here."
  }),
  before: Schema.NullOr(fieldsOf("The fields that would change, with their current values.")).annotations({
    description: "The fields that would change, with their current values; null for a client_hint."
  }),
  after: Schema.NullOr(fieldsOf("The same fields with their new values.")).annotations({
    description: "The same fields with their new values; null for a client_hint."
  }),
  becomes_empty: listOf(Schema.String, { max: 1_000 }).annotations({
    description: "`auto` and each `auto:<slug>` that has eligible models now and would have none."
  }),
  replay: Schema.NullOr(PolicyReplayOut).annotations({
    description: "The newest `auto` calls of the project, re-ranked; null for a client_hint."
  })
}).annotations({
  identifier: "ActionPreview",
  description: "Preview of what an action would change; nothing is written."
})
export type ActionPreview = typeof ActionPreview.Type

export const TakenAction = Schema.Struct({
  action_id: text("Id of the action."),
  kind: Schema.Literal(...actionKinds).annotations({ description: "Kind of the action, as in the report." }),
  applied_at: timestamp("When it was applied, or reported as followed."),
  undone_at: Schema.NullOr(timestamp("When it was undone.")).annotations({
    description: "When it was undone; null: it was not."
  }),
  before: Schema.NullOr(fieldsOf("The changed fields, with their previous values.")).annotations({
    description:
      "The changed fields, with their previous values, which the undo route restores; null for a client_hint."
  }),
  after: Schema.NullOr(fieldsOf("The same fields, with the values that were written.")).annotations({
    description: "The same fields, with the values that were written; null for a client_hint."
  })
})
