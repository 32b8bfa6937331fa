import * as Schema from "effect/Schema"
import { AccountId, ProjectId, UserId } from "../../domain/Ids.ts"
import { allowed, optional } from "../validation/SchemaParts.ts"
import { pageOf } from "./Page.ts"
import { patternList } from "./Patterns.ts"
import { named } from "./Projects.ts"
import { sentId } from "./SentId.ts"
import { timestamp } from "./Times.ts"

const maxPatterns = 1_000

/** Of an allow or deny list. */
const Patterns = patternList(maxPatterns)
/** More than a million dollars is a typing error. */
const Price = Schema.Number.pipe(allowed({ type: "integer", minimum: 0, maximum: 1_000_000_000_000 }))
const Alpha = Schema.Number.pipe(allowed({ type: "number", minimum: 0, maximum: 1 }))

const described = {
  allowed_models: "Allowed models, as ids, `<prefix>/*` or `*`; null: all models, an empty list: none.",
  excluded_models: "Excluded models, in the same form; exclusions take precedence.",
  allowed_providers: "Allowed providers; null: all providers, an empty list: none.",
  excluded_providers: "Excluded providers.",
  max_input_price_microusd_per_million: "Maximum price per million input tokens, in micro-USD; null: no cap.",
  max_output_price_microusd_per_million: "Maximum price per million output tokens, in micro-USD; null: no cap.",
  default_alpha: "Default quality-versus-cost weight, 0 to 1; null: the gateway's default.",
  enable_fallback: "Whether a call may fall back to the next candidate; true by default."
} as const

/** Unknown fields are ignored: the record is not closed. */
export const CreateProjectRequest = Schema.Struct({
  user_id: sentId(UserId, "The user whose account pays for the project."),
  name: named("Name of the project, 1 to 200 characters."),
  allowed_models: optional(Patterns, described.allowed_models),
  excluded_models: optional(Patterns, described.excluded_models),
  allowed_providers: optional(Patterns, described.allowed_providers),
  excluded_providers: optional(Patterns, described.excluded_providers),
  max_input_price_microusd_per_million: optional(Price, described.max_input_price_microusd_per_million),
  max_output_price_microusd_per_million: optional(Price, described.max_output_price_microusd_per_million),
  default_alpha: optional(Alpha, described.default_alpha),
  enable_fallback: optional(Schema.Boolean, described.enable_fallback)
}).annotations({ identifier: "CreateProjectRequest" })
export type CreateProjectRequest = typeof CreateProjectRequest.Type

const PatternsOut = Schema.NullOr(Schema.Array(Schema.String))

export const AdminProjectOut = Schema.Struct({
  id: ProjectId.annotations({ description: "Id of the project." }),
  name: Schema.String.annotations({ description: "Name of the project." }),
  account_id: AccountId.annotations({ description: "The account that pays for its calls." }),
  user_id: UserId.annotations({ description: "The owner of the account." }),
  billing_mode: Schema.Literal("managed", "byok").annotations({
    description:
      "managed: calls are paid from the balance. byok: calls are paid with the project's own provider credentials."
  }),
  spend_limit_microusd: Schema.NullOr(Schema.Int).annotations({
    description: "Spend limit of all keys of the project together, in micro-USD; null: no limit."
  }),
  total_spent_microusd: Schema.Int.annotations({
    description: "Total spent since the project was created, in micro-USD."
  }),
  allowed_models: PatternsOut.annotations({ description: described.allowed_models }),
  excluded_models: PatternsOut.annotations({ description: described.excluded_models }),
  allowed_providers: PatternsOut.annotations({ description: described.allowed_providers }),
  excluded_providers: PatternsOut.annotations({ description: described.excluded_providers }),
  max_input_price_microusd_per_million: Schema.NullOr(Schema.Int).annotations({
    description: described.max_input_price_microusd_per_million
  }),
  max_output_price_microusd_per_million: Schema.NullOr(Schema.Int).annotations({
    description: described.max_output_price_microusd_per_million
  }),
  default_alpha: Schema.NullOr(Schema.Number).annotations({ description: described.default_alpha }),
  enable_fallback: Schema.Boolean.annotations({ description: described.enable_fallback }),
  created_at: timestamp("When it was created."),
  updated_at: timestamp("When it was last updated.")
}).annotations({ identifier: "AdminProjectOut" })
export type AdminProjectOut = typeof AdminProjectOut.Type

export const AdminProjectsPage = pageOf("AdminProjectsPage", AdminProjectOut)

export const UserOut = Schema.Struct({
  id: UserId.annotations({ description: "Id of the user." }),
  name: Schema.String.annotations({ description: "Name of the user." }),
  account_id: AccountId.annotations({ description: "The account that the user owns." }),
  issuer: Schema.NullOr(Schema.String).annotations({
    description: "Issuer URL of the user's identity provider; null after a local sign-in."
  }),
  subject: Schema.NullOr(Schema.String).annotations({ description: "The user's id at the identity provider." }),
  is_operator: Schema.Boolean.annotations({ description: "Whether the user may use the admin endpoints." }),
  created_at: timestamp("When the user was first seen.")
}).annotations({ identifier: "UserOut" })
export type UserOut = typeof UserOut.Type

export const UsersPage = pageOf("UsersPage", UserOut)
