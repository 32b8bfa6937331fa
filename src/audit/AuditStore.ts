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
import { Int8 } from "../sql/Rows.ts"
import { fromSql } from "../sql/StoreErrors.ts"
import { type AuditEntry, chainStart, hashOf } from "./AuditChain.ts"

const AuditRow = Schema.Struct({
  id: Schema.UUID,
  accountId: AccountId,
  position: Int8,
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

const ListedAuditRow = Schema.Struct({ ...AuditRow.fields, actorName: Schema.NullOr(Schema.String) })
/** With the name that the actor has today. */
export type ListedAuditRow = typeof ListedAuditRow.Type

const AuditHead = Schema.Struct({
  accountId: AccountId,
  /** Of the last row; `null` while the account has none, as for the hash. */
  position: Schema.NullOr(Int8),
  hash: Schema.NullOr(Schema.Uint8ArrayFromSelf)
})
/** The end of an account's chain. */
export type AuditHead = typeof AuditHead.Type

export interface AuditStoreShape {
  /** Appends to the account's chain, after all that other nodes have committed to it. */
  readonly append: (entry: Omit<AuditEntry, "position">) => Effect.Effect<void, StoreUnavailable>
  /** Rows of one account, newest first, those before `before`. */
  readonly list: (
    account: AccountId,
    max: number,
    before: string | undefined
  ) => Effect.Effect<ReadonlyArray<ListedAuditRow>, StoreUnavailable>
  /** One for each account, by id, from `after` on. */
  readonly heads: (
    after: AccountId | undefined,
    max: number
  ) => Effect.Effect<ReadonlyArray<AuditHead>, StoreUnavailable>
  /** `undefined` for an account that does not exist. */
  readonly headOf: (account: AccountId) => Effect.Effect<AuditHead | undefined, StoreUnavailable>
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

const Head = Schema.Struct({ position: Int8, hash: Schema.Uint8ArrayFromSelf })

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const transactions = yield* AccountTransactions

  const columns = sql.literal(`id, account_id as "accountId", position,
    (extract(epoch from at) * 1000)::float8 as "atMillis", actor_user_id as "actorUserId", address,
    request_id as "requestId", action, target_kind as "targetKind", target_id as "targetId", before::text, after::text,
    previous_hash as "previousHash", hash`)

  const head = SqlSchema.findOne({
    Request: AccountId,
    Result: Head,
    execute: (account) => sql`select position, hash from audit_chain where account_id = ${account} for update`
  })
  const rows = SqlSchema.findAll({
    Request: Schema.Struct({ account: AccountId, after: Schema.Number, max: Schema.Number }),
    Result: AuditRow,
    execute: ({ account, after, max }) => sql`
      select ${columns} from audit where account_id = ${account} and position > ${after} order by position limit ${max}`
  })
  const newest = SqlSchema.findAll({
    Request: Schema.Struct({ account: AccountId, max: Schema.Number, before: Schema.UndefinedOr(Schema.UUID) }),
    Result: ListedAuditRow,
    execute: ({ account, before, max }) => sql`
      select ${columns}, (select name from app_user u where u.id = actor_user_id) as "actorName" from audit where account_id = ${account}
        and ${before === undefined ? sql`true` : sql`id < ${before}`} order by id desc limit ${max}`
  })
  const headed = sql.literal(`
    select a.id as "accountId", c.position, c.hash from account a left join audit_chain c on c.account_id = a.id`)
  const headOf = SqlSchema.findOne({
    Request: AccountId,
    Result: AuditHead,
    execute: (account) => sql`${headed} where a.id = ${account}`
  })
  const heads = SqlSchema.findAll({
    Request: Schema.Struct({ after: Schema.UndefinedOr(AccountId), max: Schema.Number }),
    Result: AuditHead,
    execute: ({ after, max }) => sql`
      ${headed} where ${after === undefined ? sql`true` : sql`a.id > ${after}`} order by a.id limit ${max}`
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
    list: (account, max, before) => fromSql(newest({ account, max, before })),
    headOf: (account) => fromSql(Effect.map(headOf(account), Option.getOrUndefined)),
    heads: (after, max) => fromSql(heads({ after, max })),
    chain: (account, after, max) => fromSql(rows({ account, after, max }))
  })
})
