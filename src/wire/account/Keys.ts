import * as Schema from "effect/Schema"
import { KeyId, ProjectId } from "../../domain/Ids.ts"
import { LimitMicroUsd, LimitReset, OwnRateLimits } from "./Limits.ts"
import { Name } from "./Projects.ts"
import { sentCount } from "./SentCount.ts"
import { sentId } from "./SentId.ts"
import { strict } from "./Strict.ts"
import { sentTimestamp, timestamp } from "./Times.ts"

const keyName = Name.annotations({ description: "Name of the key, 1 to 200 characters." })
const spendLimit = LimitMicroUsd.annotations({ description: "What the key may spend, in micro-USD; null: no limit." })

export const CreateMyApiKeyRequest = strict({
  name: keyName,
  spend_limit_microusd: Schema.optionalWith(spendLimit, { default: () => null })
}).annotations({ identifier: "CreateMyApiKeyRequest" })

export const CreateApiKeyRequest = strict({
  ...CreateMyApiKeyRequest.fields,
  project_id: sentId(ProjectId, "The project that the key is for.")
}).annotations({ identifier: "CreateApiKeyRequest" })

export const CreateApiKeyResponse = Schema.Struct({
  id: KeyId.annotations({ description: "Id of the key." }),
  api_key: Schema.String.annotations({ description: "The complete key; it is shown only here." }),
  key_prefix: Schema.String.annotations({ description: "The first characters of the key." }),
  name: Schema.String.annotations({ description: "Name of the key." })
}).annotations({ identifier: "CreateApiKeyResponse" })
export type CreateApiKeyResponse = typeof CreateApiKeyResponse.Type

export const UpdateApiKeyRequest = strict({
  name: Schema.optionalWith(keyName, { exact: true }),
  is_active: Schema.optionalWith(Schema.Boolean, { exact: true }).annotations({
    description: "false: the key is refused until it is made active again. A revoked key stays inactive."
  }),
  spend_limit_microusd: Schema.optionalWith(spendLimit, { exact: true }),
  limit_reset: Schema.optionalWith(LimitReset, { exact: true }),
  expires_at: Schema.optionalWith(Schema.NullOr(sentTimestamp("When the key stops working.")), {
    exact: true
  }).annotations({
    description: "When the key stops working; null: never."
  }),
  rate_limits: Schema.optionalWith(OwnRateLimits, { exact: true })
}).annotations({ identifier: "UpdateApiKeyRequest" })
export type UpdateApiKeyRequest = typeof UpdateApiKeyRequest.Type

const maxGraceSeconds = 30 * 86_400

export const RotateApiKeyRequest = strict({
  grace_seconds: Schema.optionalWith(Schema.Number.pipe(Schema.int(), Schema.between(0, maxGraceSeconds)), {
    default: () => 0
  }).annotations({
    description: `For how long the secret before works too, in seconds: 0, the default, to ${maxGraceSeconds} (30 days).`
  })
}).annotations({ identifier: "RotateApiKeyRequest" })

export const ApiKeyOut = Schema.Struct({
  id: KeyId.annotations({ description: "Id of the key." }),
  key_prefix: Schema.String.annotations({ description: "The first characters of the key." }),
  name: Schema.String.annotations({ description: "Name of the key." }),
  project_id: ProjectId.annotations({ description: "The project that it is for." }),
  kind: Schema.Literal("secret", "dashboard").annotations({
    description:
      "secret: whoever has the key may call. dashboard: counts the calls that a person makes from the dashboard; nobody has its secret."
  }),
  is_active: Schema.Boolean.annotations({ description: "Whether it is accepted, until it expires." }),
  spend_limit_microusd: Schema.NullOr(Schema.Int).annotations({
    description: "What it may spend in each period, in micro-USD; null: no limit of its own."
  }),
  limit_reset: LimitReset,
  spent_microusd: Schema.Int.annotations({
    description: "Spent in the current period of the limit, in micro-USD; without a period for ever."
  }),
  total_spent_microusd: Schema.Int.annotations({ description: "Spent for ever, in micro-USD." }),
  expires_at: Schema.NullOr(timestamp("When it stops working.")).annotations({
    description: "When it stops working; null: never."
  }),
  rate_limits: OwnRateLimits,
  previous_secret_until: Schema.NullOr(timestamp("When the secret before stops working.")).annotations({
    description: "Until when the secret before the last rotation works too; null: it does not."
  }),
  revoked_at: Schema.NullOr(timestamp("When it was revoked.")).annotations({
    description: "When it was revoked, for good; null: it was not."
  }),
  last_used_at: Schema.NullOr(timestamp("When its last call ended.")).annotations({
    description: "When its last call ended, of the calls that are kept; null: there is none."
  }),
  created_at: timestamp("When it was created.")
}).annotations({ identifier: "ApiKeyOut" })
export type ApiKeyOut = typeof ApiKeyOut.Type

const defaultLimit = 20
const maxLimit = 100
const maxPage = 1_000_000

/** The only list that is paged by number. */
export const NumberedPageParameters = Schema.Struct({
  page: Schema.optionalWith(sentCount(maxPage), {
    default: () => 1
  }).annotations({ description: "Number of the page, from 1, which is the default." }),
  limit: Schema.optionalWith(sentCount(maxLimit), {
    default: () => defaultLimit
  }).annotations({ description: `At most so many keys, 1 to ${maxLimit}; ${defaultLimit} by default.` })
})

export const ApiKeysPage = Schema.Struct({
  items: Schema.Array(ApiKeyOut).annotations({ description: "The keys of this page, newest first." }),
  total: Schema.Int.annotations({ description: "How many keys the project has." }),
  page: Schema.Int.annotations({ description: "Number of this page, from 1." }),
  limit: Schema.Int.annotations({ description: "At most so many keys are on a page." })
}).annotations({ identifier: "ApiKeysPage" })
