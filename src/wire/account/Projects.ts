import * as Schema from "effect/Schema"
import { AccountId, ProjectId, UserId } from "../../domain/Ids.ts"
import { storedName } from "../validation/SchemaParts.ts"
import { LimitMicroUsd, LimitReset, OwnRateLimits } from "./Limits.ts"
import { pageOf } from "./Page.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

const projectRoles = ["owner", "member", "viewer"] as const
export const ProjectRole = Schema.Literal(...projectRoles).annotations({
  identifier: "ProjectRole",
  description:
    "viewer: read-only. member: can change keys, credentials and settings, but not members. owner: full access. Each role includes the previous ones."
})
export type ProjectRole = typeof ProjectRole.Type

/** Of a project, a key and whatever else people name. */
export const named = (description: string) => storedName(200, description)

export const CreateMyProjectRequest = strict({
  name: named("Name of the project, 1 to 200 characters.")
}).annotations({ identifier: "CreateMyProjectRequest" })

export const UpdateProjectRequest = strict({
  name: Schema.optionalWith(named("Name, 1 to 200 characters."), { exact: true }),
  spend_limit_microusd: Schema.optionalWith(LimitMicroUsd, { exact: true }).annotations({
    description: "Spend limit of all keys of the project together, in micro-USD; null: no limit."
  }),
  limit_reset: Schema.optionalWith(LimitReset, { exact: true }),
  rate_limits: Schema.optionalWith(OwnRateLimits, { exact: true })
}).annotations({ identifier: "UpdateProjectRequest" })
export type UpdateProjectRequest = typeof UpdateProjectRequest.Type

export const ProjectOut = Schema.Struct({
  id: ProjectId.annotations({ description: "Id of the project." }),
  name: Schema.String.annotations({ description: "Name of the project." }),
  account_id: AccountId.annotations({ description: "The account that pays for its calls." }),
  role: ProjectRole.annotations({ description: "Role of the caller in the project." }),
  is_default: Schema.Boolean.annotations({ description: "Whether GATEWAY_CONFIG applies to this project." }),
  billing_mode: Schema.Literal("managed", "byok").annotations({
    description:
      "managed: calls are paid from the balance. byok: calls are paid with the project's own provider credentials."
  }),
  spend_limit_microusd: Schema.NullOr(Schema.Int).annotations({
    description: "Spend limit of all keys of the project together, in micro-USD; null: no limit."
  }),
  limit_reset: LimitReset,
  spent_microusd: Schema.Int.annotations({
    description: "Spent in the current reset period of the limit, in micro-USD; without one, the total."
  }),
  total_spent_microusd: Schema.Int.annotations({
    description: "Total spent since the project was created, in micro-USD."
  }),
  rate_limits: OwnRateLimits,
  created_at: timestamp("When it was created."),
  updated_at: timestamp("When it was last updated.")
}).annotations({ identifier: "ProjectOut" })
export type ProjectOut = typeof ProjectOut.Type

export const ProjectsPage = pageOf("ProjectsPage", ProjectOut)

export const MeOut = Schema.Struct({
  user: Schema.Struct({
    id: UserId.annotations({ description: "Id of the user." }),
    name: Schema.String.annotations({ description: "Name of the user." }),
    issuer: Schema.NullOr(Schema.String).annotations({
      description: "Issuer URL of the user's identity provider; null after a local sign-in."
    }),
    subject: Schema.NullOr(Schema.String).annotations({ description: "The user's id at the identity provider." }),
    created_at: timestamp("When the user was first seen.")
  }).annotations({ description: "The caller." }),
  accounts: Schema.Array(
    Schema.Struct({
      id: AccountId.annotations({ description: "Id of the account." }),
      role: Schema.Literal("owner").annotations({ description: "Role of the user in the account." })
    })
  ).annotations({ description: "The accounts whose balance the user can spend." }),
  roles: Schema.Array(Schema.Literal("operator")).annotations({
    description: "operator: may use the admin endpoints. Project roles are returned by the list of projects."
  }),
  default_project_id: Schema.NullOr(ProjectId).annotations({
    description: "The project that `/api/me/keys` acts on; null where there is none."
  })
}).annotations({ identifier: "MeOut" })
