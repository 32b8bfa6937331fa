import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { UserId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { deleteWhere } from "../../sql/Portions.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

/** An Idempotency-Key, by its SHA-256; unique per person. */
export interface RequestKey {
  readonly userId: UserId
  readonly keyHash: Buffer
}

const Kept = Schema.Struct({ requestHash: Schema.Uint8ArrayFromSelf, answer: Schema.Uint8ArrayFromSelf })
export type Kept = typeof Kept.Type

export interface AccountRequestStoreShape {
  /** Until the end of the transaction; false while the request with this key runs elsewhere. */
  readonly lock: (key: RequestKey) => Effect.Effect<boolean, StoreUnavailable>
  /** What was answered after `since`. */
  readonly find: (key: RequestKey, since: Date) => Effect.Effect<Kept | undefined, StoreUnavailable>
  readonly keep: (key: RequestKey, kept: Kept, at: Date) => Effect.Effect<void, StoreUnavailable>
  /** Removes what was answered before. */
  readonly sweep: (before: Date) => Effect.Effect<void, StoreUnavailable>
}

export class AccountRequestStore extends Context.Tag("gateway/account/AccountRequestStore")<
  AccountRequestStore,
  AccountRequestStoreShape
>() {
  static readonly layer: Layer.Layer<AccountRequestStore, never, AccountSql> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const lock = SqlSchema.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ locked: Schema.Boolean }),
    execute: (name) => sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked`
  })
  const find = SqlSchema.findOne({
    Request: Schema.Struct({ userId: UserId, keyHash: Schema.Uint8ArrayFromSelf, since: Schema.DateFromSelf }),
    Result: Kept,
    execute: ({ keyHash, since, userId }) => sql`
      select request_hash as "requestHash", answer from account_request
      where user_id = ${userId} and key_hash = ${Buffer.from(keyHash)} and created_at > ${since}`
  })
  return AccountRequestStore.of({
    lock: ({ keyHash, userId }) =>
      fromSql(
        Effect.map(lock(`request ${userId} ${keyHash.toString("hex")}`), (row) =>
          Option.exists(row, ({ locked }) => locked)
        )
      ),
    find: ({ keyHash, userId }, since) => fromSql(Effect.map(find({ userId, keyHash, since }), Option.getOrUndefined)),
    keep: ({ keyHash, userId }, { answer, requestHash }, at) =>
      fromSql(
        Effect.asVoid(sql`
          insert into account_request (user_id, key_hash, request_hash, answer, created_at)
          values (${userId}, ${keyHash}, ${Buffer.from(requestHash)}, ${Buffer.from(answer)}, ${at})
          on conflict (user_id, key_hash) do update set request_hash = excluded.request_hash,
            answer = excluded.answer, created_at = excluded.created_at`)
      ),
    sweep: (before) => fromSql(Effect.asVoid(deleteWhere(sql, "account_request", sql`created_at < ${before}`)))
  })
})
