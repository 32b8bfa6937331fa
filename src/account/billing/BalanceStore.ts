import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountId, isId, KeyId, ProjectId, RequestId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { Int8 } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

const Money = Schema.Struct({ creditedMicroUsd: Int8, spentMicroUsd: Int8, heldMicroUsd: Int8 })
/** What an account has, in micro-USD. Paid back money counts as not credited. */
export type Money = typeof Money.Type

const entryKinds = ["usage", "credit", "refund", "dispute"] as const

const Entry = Schema.Struct({
  /** The row's time and its number, in the form of a UUID v7. */
  id: Schema.UUID,
  kind: Schema.Literal(...entryKinds),
  debit: Schema.String,
  credit: Schema.String,
  amountMicroUsd: Int8,
  callId: Schema.NullOr(RequestId),
  source: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String),
  at: Schema.DateFromSelf
})
/** A row of the journal that concerns an account. */
export type Entry = typeof Entry.Type

const OpenHold = Schema.Struct({
  id: RequestId,
  keyId: KeyId,
  keyName: Schema.NullOr(Schema.String),
  requestedModel: Schema.String,
  amountMicroUsd: Int8,
  managed: Schema.Boolean,
  createdAt: Schema.DateFromSelf
})
/** Money that is held for a running call. */
export type OpenHold = typeof OpenHold.Type

/** Money that is paid back, for which an account is no longer credited. */
export interface PaidBack {
  readonly account: AccountId
  readonly kind: "refund" | "dispute"
  readonly amountMicroUsd: number
  /** Unique: the same source is paid back once. */
  readonly source: string
}

export interface BalanceStoreShape {
  readonly balance: (account: AccountId) => Effect.Effect<Money | undefined, StoreUnavailable>
  /** Until the end of the transaction nobody else changes the money of the account; calls of it wait. */
  readonly lock: (account: AccountId) => Effect.Effect<void, StoreUnavailable>
  /** Newest first, those before `before`. */
  readonly entries: (
    account: AccountId,
    max: number,
    before: string | undefined
  ) => Effect.Effect<ReadonlyArray<Entry>, StoreUnavailable>
  /** Of running calls, newest first, those before `before`. */
  readonly openHolds: (
    project: ProjectId,
    max: number,
    before: RequestId | undefined
  ) => Effect.Effect<ReadonlyArray<OpenHold>, StoreUnavailable>
  /** A running call of the project. */
  readonly openHold: (project: ProjectId, call: RequestId) => Effect.Effect<OpenHold | undefined, StoreUnavailable>
  /** Takes credit from an account; what is spent of it leaves the account overdrawn. False if the source was paid back before. */
  readonly payBack: (money: PaidBack) => Effect.Effect<boolean, StoreUnavailable>
}

/** The money of accounts, on the connections of the account API. */
export class BalanceStore extends Context.Tag("gateway/account/BalanceStore")<BalanceStore, BalanceStoreShape>() {
  static readonly layer: Layer.Layer<BalanceStore, never, AccountSql> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* AccountSql

  const balance = SqlSchema.findOne({
    Request: AccountId,
    Result: Money,
    execute: (account) => sql`
      select limit_micro_usd as "creditedMicroUsd", spent_micro_usd as "spentMicroUsd", held_micro_usd as "heldMicroUsd"
      from scope where id = ${account} and kind = 'account'`
  })
  const columns = sql.literal(`(lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0')
    || '70008' || lpad(to_hex(id), 15, '0'))::uuid::text as id, kind, debit, credit,
    amount_micro_usd as "amountMicroUsd", call_id as "callId", source, note, at, id as position`)
  const entries = SqlSchema.findAll({
    Request: Schema.Struct({ account: AccountId, max: Schema.Number, before: Schema.UndefinedOr(Schema.String) }),
    Result: Entry,
    execute: ({ account, before, max }) => {
      const name = `account:${account}`
      const older = before === undefined ? sql`true` : sql`id < ${positionOf(before)}::bigint`
      return sql`
        (select ${columns} from journal where debit = ${name} and ${older} order by journal.id desc limit ${max})
        union all
        (select ${columns} from journal where credit = ${name} and source is not null and ${older}
          order by journal.id desc limit ${max})
        order by position desc limit ${max}`
    }
  })
  const holdColumns = sql.literal(`h.id, h.key_id as "keyId",
    (select k.name from api_key k where k.id = h.key_id) as "keyName", h.requested_model as "requestedModel",
    h.amount_micro_usd as "amountMicroUsd", h.managed, h.created_at as "createdAt"`)
  const openHold = SqlSchema.findOne({
    Request: Schema.Struct({ project: ProjectId, call: RequestId }),
    Result: OpenHold,
    execute: ({ call, project }) => sql`
      select ${holdColumns} from hold h where h.id = ${call} and h.closed_at is null and h.project_id = ${project}`
  })
  const openHolds = SqlSchema.findAll({
    Request: Schema.Struct({ project: ProjectId, max: Schema.Number, before: Schema.UndefinedOr(RequestId) }),
    Result: OpenHold,
    execute: ({ before, max, project }) => sql`
      select ${holdColumns} from open_holds_read() h where h.project_id = ${project}
        and ${before === undefined ? sql`true` : sql`h.id < ${before}`}
      order by h.id desc limit ${max}`
  })
  const payBack = ({ account, amountMicroUsd, kind, source }: PaidBack) => sql`
    with written as (
      insert into journal (kind, debit, credit, amount_micro_usd, source)
      values (${kind}, ${`account:${account}`}, 'payments', ${amountMicroUsd}::bigint, ${source})
      on conflict (credit, source) where source is not null do nothing
      returning amount_micro_usd
    )
    update scope s set limit_micro_usd = s.limit_micro_usd - w.amount_micro_usd from written w where s.id = ${account}
    returning s.id`

  return BalanceStore.of({
    balance: (account) => fromSql(Effect.map(balance(account), Option.getOrUndefined)),
    lock: (account) =>
      fromSql(Effect.asVoid(sql`select from scope where id = ${account} and kind = 'account' for update`)),
    entries: (account, max, before) =>
      before === undefined || isId(before) ? fromSql(entries({ account, max, before })) : Effect.succeed([]),
    openHolds: (project, max, before) => fromSql(openHolds({ project, max, before })),
    openHold: (project, call) => fromSql(Effect.map(openHold({ project, call }), Option.getOrUndefined)),
    payBack: (money) => fromSql(Effect.map(payBack(money), (rows) => rows.length === 1))
  })
})

/** A row's number is the last 60 bits of its id. */
const positionOf = (id: string): string => BigInt(`0x${id.replaceAll("-", "").slice(-15)}`).toString()
