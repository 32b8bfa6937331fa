import * as Schema from "effect/Schema"
import { AccountId, ProjectId, UserId } from "../../domain/Ids.ts"
import { storedText } from "../validation/SchemaParts.ts"
import { LimitMicroUsd, LimitReset, OwnRateLimits } from "./Limits.ts"
import { pageOf } from "./Page.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

const projectRoles = ["owner", "member", "viewer"] as const
export const ProjectRole = Schema.Literal(...projectRoles).annotations({
  identifier: "ProjectRole",
  description: "owner: everything. member: keys, credentials and settings too, but no members. viewer: reads only."
})
export type ProjectRole = typeof ProjectRole.Type

/** Of a project, a key and whatever else people name. */
export const Name = storedText(200)

export const CreateMyProjectRequest = strict({
  name: Name.annotations({ description: "Name of the project, 1 to 200 characters." })
}).annotations({ identifier: "CreateMyProjectRequest" })

export const UpdateProjectRequest = strict({
  name: Schema.optionalWith(Name, { exact: true }).annotations({ description: "Name, 1 to 200 characters." }),
  spend_limit_microusd: Schema.optionalWith(LimitMicroUsd, { exact: true }).annotations({
    description: "What all keys of the project together may spend, in micro-USD; null: no limit."
  }),
  limit_reset: Schema.optionalWith(LimitReset, { exact: true }),
  rate_limits: Schema.optionalWith(OwnRateLimits, { exact: true })
}).annotations({ identifier: "UpdateProjectRequest" })
export type UpdateProjectRequest = typeof UpdateProjectRequest.Type

export const ProjectOut = Schema.Struct({
  id: ProjectId.annotations({ description: "Id of the project." }),
  name: Schema.String.annotations({ description: "Name of the project." }),
  account_id: AccountId.annotations({ description: "The account that pays for its calls." }),
  role: ProjectRole.annotations({ description: "What the caller may do with it." }),
  is_default: Schema.Boolean.annotations({ description: "Whether GATEWAY_CONFIG writes to this project." }),
  billing_mode: Schema.Literal("managed", "byok").annotations({
    description: "managed: calls are paid from the balance. byok: by the project's own credentials."
  }),
  spend_limit_microusd: Schema.NullOr(Schema.Int).annotations({
    description: "What all keys of the project together may spend, in micro-USD; null: no limit."
  }),
  limit_reset: LimitReset,
  spent_microusd: Schema.Int.annotations({
    description: "Spent in the current period of the limit, in micro-USD; without a period for ever."
  }),
  total_spent_microusd: Schema.Int.annotations({ description: "Spent for ever, in micro-USD." }),
  rate_limits: OwnRateLimits,
  created_at: timestamp("When it was created."),
  updated_at: timestamp("When it was changed last.")
}).annotations({ identifier: "ProjectOut" })
export type ProjectOut = typeof ProjectOut.Type

export const ProjectsPage = pageOf("ProjectsPage", ProjectOut)

export const MeOut = Schema.Struct({
  user: Schema.Struct({
    id: UserId.annotations({ description: "Id of the person." }),
    name: Schema.String.annotations({ description: "Name of the person." }),
    issuer: Schema.NullOr(Schema.String).annotations({
      description: "The identity provider that knows the person; null after a local sign-in."
    }),
    subject: Schema.NullOr(Schema.String).annotations({ description: "The person's id there." }),
    created_at: timestamp("When the person was first seen.")
  }).annotations({ description: "Who sent the request." }),
  accounts: Schema.Array(
    Schema.Struct({
      id: AccountId.annotations({ description: "Id of the account." }),
      role: Schema.Literal("owner").annotations({ description: "What the person may do with it." })
    })
  ).annotations({ description: "The accounts whose balance the person uses." }),
  roles: Schema.Array(Schema.Literal("operator")).annotations({
    description: "operator: may use the admin endpoints. Roles in projects are in the list of projects."
  }),
  default_project_id: Schema.NullOr(ProjectId).annotations({
    description: "The project that `/api/me/keys` acts on; null where there is none."
  })
}).annotations({ identifier: "MeOut" })
