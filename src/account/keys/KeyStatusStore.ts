import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { KeyId } from "../../domain/Ids.ts"
import { RateLimitColumn } from "../../identity/keys/RateLimitColumn.ts"
import { LimitReset } from "../../ledger/SpendLimitStore.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { Int8 } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  keyPrefix: Schema.String,
  projectId: Schema.String,
  expiresAt: Schema.NullOr(Schema.DateFromSelf),
  limitMicroUsd: Schema.NullOr(Int8),
  limitReset: Schema.NullOr(LimitReset),
  /** `null`: as configured for all keys. */
  rateLimits: Schema.NullOr(RateLimitColumn),
  spentMicroUsd: Int8,
  heldMicroUsd: Int8,
  isManaged: Schema.Boolean,
  /** Of the account: what is neither spent nor held. */
  availableMicroUsd: Int8
})
export type KeyStatusRow = typeof Row.Type

export interface KeyStatusStoreShape {
  readonly find: (key: KeyId) => Effect.Effect<Option.Option<KeyStatusRow>, StoreUnavailable>
}

/** A key beside its limit and the balance that pays for it. */
export class KeyStatusStore extends Context.Tag("gateway/account/KeyStatusStore")<
  KeyStatusStore,
  KeyStatusStoreShape
>() {
  static readonly layer: Layer.Layer<KeyStatusStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

const decodeRows = Schema.decodeUnknown(Schema.Array(Row))

const make = (sql: SqlClient): KeyStatusStoreShape => ({
  find: (key) =>
    sql`select k.id, k.name, k.key_prefix as "keyPrefix", k.project_id as "projectId", k.expires_at as "expiresAt",
        own.limit_micro_usd as "limitMicroUsd", own.limit_reset as "limitReset",
        own.spent_micro_usd - scope_base(own) as "spentMicroUsd", k.rate_limits as "rateLimits", own.held_micro_usd as "heldMicroUsd",
        p.billing_mode = 'managed' as "isManaged",
        paying.limit_micro_usd - paying.spent_micro_usd - paying.held_micro_usd as "availableMicroUsd"
      from api_key k join project p on p.id = k.project_id join scope own on own.id = k.id
        join scope paying on paying.id = p.account_id
      where k.id = ${key}`.pipe(
      Effect.flatMap(decodeRows),
      Effect.map(([row]) => Option.fromNullable(row)),
      fromSql
    )
})
