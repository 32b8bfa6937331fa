import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { dateAt } from "../domain/Dates.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { AccountId, RequestId, UserId } from "../domain/Ids.ts"
import { AccountSql, AccountTransactions } from "../sql/AccountDatabase.ts"
import { fromSql } from "../sql/StoreErrors.ts"
import { type AuditEntry, chainStart, hashOf } from "./AuditChain.ts"

const AuditRow = Schema.Struct({
  id: Schema.UUID,
  accountId: AccountId,
  position: Schema.NumberFromString,
  atMillis: Schema.Number,
  actorUserId: Schema.NullOr(UserId),
  address: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(RequestId),
  action: Schema.String,
  targetKind: Schema.String,
  targetId: Schema.String,
  before: Schema.NullOr(Schema.String),
  after: Schema.NullOr(Schema.String),
  previousHash: Schema.Uint8ArrayFromSelf,
  hash: Schema.Uint8ArrayFromSelf
})
/** A row as it is stored. */
export type AuditRow = typeof AuditRow.Type

export interface AuditStoreShape {
  /** Appends to the account's chain, after all that other nodes have committed to it. */
  readonly append: (entry: Omit<AuditEntry, "position">) => Effect.Effect<void, StoreUnavailable>
  /** Rows of one account by position, from `after` on. */
  readonly chain: (
    account: AccountId,
    after: number,
    max: number
  ) => Effect.Effect<ReadonlyArray<AuditRow>, StoreUnavailable>
}

export class AuditStore extends Context.Tag("gateway/audit/AuditStore")<AuditStore, AuditStoreShape>() {
  static readonly layer: Layer.Layer<AuditStore, never, AccountSql | AccountTransactions> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const Head = Schema.Struct({ position: Schema.NumberFromString, hash: Schema.Uint8ArrayFromSelf })

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const transactions = yield* AccountTransactions

  const head = SqlSchema.findOne({
    Request: AccountId,
    Result: Head,
    execute: (account) => sql`select position, hash from audit_chain where account_id = ${account} for update`
  })
  const rows = SqlSchema.findAll({
    Request: Schema.Struct({ account: AccountId, after: Schema.Number, max: Schema.Number }),
    Result: AuditRow,
    execute: ({ account, after, max }) => sql`
      select id, account_id as "accountId", position, (extract(epoch from at) * 1000)::float8 as "atMillis",
        actor_user_id as "actorUserId", address, request_id as "requestId", action, target_kind as "targetKind",
        target_id as "targetId", before::text, after::text, previous_hash as "previousHash", hash
      from audit where account_id = ${account} and position > ${after} order by position limit ${max}`
  })

  const append = Effect.fnUntraced(function* (given: Omit<AuditEntry, "position">) {
    // so that the first row of an account is not written twice
    yield* sql`select pg_advisory_xact_lock(hashtextextended(${`audit ${given.accountId}`}, 0))`
    const last = yield* head(given.accountId)
    const [position, previous] = Option.match(last, {
      onNone: () => [1, chainStart] as const,
      onSome: (found) => [found.position + 1, found.hash] as const
    })
    const entry = { ...given, position }
    const hash = hashOf(entry, previous)
    yield* sql`
      insert into audit (id, account_id, position, at, actor_user_id, address, request_id, action, target_kind, target_id,
        before, after, previous_hash, hash)
      values (${entry.id}, ${entry.accountId}, ${position}, ${dateAt(entry.atMillis)}, ${entry.actorUserId},
        ${entry.address}, ${entry.requestId}, ${entry.action}, ${entry.targetKind}, ${entry.targetId},
        ${entry.before}::json, ${entry.after}::json, ${Buffer.from(previous)}, ${hash})`
    yield* sql`
      insert into audit_chain (account_id, position, hash) values (${entry.accountId}, ${position}, ${hash})
      on conflict (account_id) do update set position = excluded.position, hash = excluded.hash`
  })

  return AuditStore.of({
    append: (entry) => transactions.commit(() => append(entry)),
    chain: (account, after, max) => fromSql(rows({ account, after, max }))
  })
})
