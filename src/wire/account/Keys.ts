import * as Schema from "effect/Schema"
import { KeyId, ProjectId } from "../../domain/Ids.ts"
import { within } from "../validation/SchemaParts.ts"
import { LimitMicroUsd, LimitReset, OwnRateLimits } from "./Limits.ts"
import { named } from "./Projects.ts"
import { sentBoolean } from "./SentBoolean.ts"
import { sentCount } from "./SentCount.ts"
import { sentId } from "./SentId.ts"
import { strict } from "./Strict.ts"
import { sentTimestamp, timestamp } from "./Times.ts"

const keyName = named("Name of the key, 1 to 200 characters.")
const spendLimit = LimitMicroUsd.annotations({ description: "Spend limit of the key, in micro-USD; null: no limit." })

export const CreateMyApiKeyRequest = strict({
  name: keyName,
  spend_limit_microusd: Schema.optionalWith(spendLimit, { default: () => null })
}).annotations({ identifier: "CreateMyApiKeyRequest" })

export const CreateApiKeyRequest = strict({
  ...CreateMyApiKeyRequest.fields,
  project_id: sentId(ProjectId, "The project that the key belongs to.")
}).annotations({ identifier: "CreateApiKeyRequest" })

export const CreateApiKeyResponse = Schema.Struct({
  id: KeyId.annotations({ description: "Id of the key." }),
  api_key: Schema.String.annotations({ description: "The full key; shown only once." }),
  key_prefix: Schema.String.annotations({ description: "The first characters of the key." }),
  name: Schema.String.annotations({ description: "Name of the key." })
}).annotations({ identifier: "CreateApiKeyResponse" })
export type CreateApiKeyResponse = typeof CreateApiKeyResponse.Type

export const UpdateApiKeyRequest = strict({
  name: Schema.optionalWith(keyName, { exact: true }),
  is_active: Schema.optionalWith(Schema.Boolean, { exact: true }).annotations({
    description: "false: the key is rejected until it is activated again. A revoked key stays inactive."
  }),
  spend_limit_microusd: Schema.optionalWith(spendLimit, { exact: true }),
  limit_reset: Schema.optionalWith(LimitReset, { exact: true }),
  expires_at: Schema.optionalWith(Schema.NullOr(sentTimestamp("When the key expires.")), {
    exact: true
  }).annotations({
    description: "When the key expires; null: never."
  }),
  rate_limits: Schema.optionalWith(OwnRateLimits, { exact: true })
}).annotations({ identifier: "UpdateApiKeyRequest" })
export type UpdateApiKeyRequest = typeof UpdateApiKeyRequest.Type

const maxGraceSeconds = 30 * 86_400

export const RotateApiKeyRequest = strict({
  grace_seconds: Schema.optionalWith(within({ type: "integer", minimum: 0, maximum: maxGraceSeconds }), {
    default: () => 0
  }).annotations({
    description: `Grace period in which the previous secret also works, in seconds: 0, the default, to ${maxGraceSeconds} (30 days).`
  })
}).annotations({ identifier: "RotateApiKeyRequest" })

export const ApiKeyOut = Schema.Struct({
  id: KeyId.annotations({ description: "Id of the key." }),
  key_prefix: Schema.String.annotations({ description: "The first characters of the key." }),
  name: Schema.String.annotations({ description: "Name of the key." }),
  project_id: ProjectId.annotations({ description: "The project that it belongs to." }),
  kind: Schema.Literal("secret", "dashboard").annotations({
    description:
      "secret: for clients that send the key. dashboard: for the calls that a user makes from the dashboard; it has no secret."
  }),
  is_active: Schema.Boolean.annotations({ description: "Whether the key is accepted, until it expires." }),
  spend_limit_microusd: Schema.NullOr(Schema.Int).annotations({
    description: "Spend limit per reset period, in micro-USD; null: no limit of its own."
  }),
  limit_reset: LimitReset,
  spent_microusd: Schema.Int.annotations({
    description: "Spent in the current reset period of the limit, in micro-USD; without one, the total."
  }),
  total_spent_microusd: Schema.Int.annotations({ description: "Total spent since the key was created, in micro-USD." }),
  expires_at: Schema.NullOr(timestamp("When it expires.")).annotations({
    description: "When it expires; null: never."
  }),
  rate_limits: OwnRateLimits,
  previous_secret_until: Schema.NullOr(timestamp("When the previous secret expires.")).annotations({
    description: "When the grace period of the previous secret ends; null: there is none."
  }),
  revoked_at: Schema.NullOr(timestamp("When it was revoked.")).annotations({
    description: "When it was permanently revoked; null: it was not."
  }),
  last_used_at: Schema.NullOr(timestamp("When its last call ended.")).annotations({
    description: "When its last call ended, among the calls that are retained; null: there is none."
  }),
  created_at: timestamp("When it was created.")
}).annotations({ identifier: "ApiKeyOut" })
export type ApiKeyOut = typeof ApiKeyOut.Type

const defaultLimit = 20
const maxLimit = 100
const maxPage = 1_000_000

/** The only list that is paged by number. */
export const KeysParameters = Schema.Struct({
  page: Schema.optionalWith(sentCount(maxPage), {
    default: () => 1
  }).annotations({ description: "Number of the page, from 1; 1 by default." }),
  limit: Schema.optionalWith(sentCount(maxLimit), {
    default: () => defaultLimit
  }).annotations({ description: `Maximum number of keys, 1 to ${maxLimit}; ${defaultLimit} by default.` }),
  near_limit: Schema.optional(
    sentBoolean(
      "`true`: only active keys that have spent at least 80 % of their spend limit, in its current period; `false`: only the others."
    )
  )
})

export const ApiKeysPage = Schema.Struct({
  items: Schema.Array(ApiKeyOut).annotations({ description: "The keys on this page, newest first." }),
  total: Schema.Int.annotations({
    description: "Total number of keys of the project, or of those that the filter selects."
  }),
  page: Schema.Int.annotations({ description: "Number of this page, from 1." }),
  limit: Schema.Int.annotations({ description: "Maximum number of keys on a page." })
}).annotations({ identifier: "ApiKeysPage" })
