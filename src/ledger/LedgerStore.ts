import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { CallRecord } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import { StoreUnavailable } from "../domain/GatewayError.ts"
import type { AccountId, RequestId } from "../domain/Ids.ts"
import { MicroUsd, microUsd } from "../domain/Money.ts"
import { Database } from "../sql/Database.ts"
import { lockNotAvailable, sqlStateOf } from "../sql/DatabaseError.ts"
import type { PreparedStatement } from "../sql/PreparedStatement.ts"
import { decodeIds } from "../sql/Rows.ts"
import { holdRow, keptRow, loggedCall, storable } from "./CallRows.ts"
import { type Balance, type HoldOption, type Reservation, type Settlement, scopeIdsOf } from "./Hold.ts"
import * as LedgerInvariants from "./LedgerInvariants.ts"
import { LedgerNode } from "./LedgerNodeStore.ts"
import * as ModelNumberStore from "./ModelNumberStore.ts"
import { isUncertain, writeFailureOf } from "./WriteFailure.ts"

/**
 * One reservation of a batch; with `extends` it raises a hold that is open. One that may wait is not granted in a scope that
 * refuses an earlier one of the batch which may wait. The parameters `r_*` and `o_*` of the SQL.
 */
export interface BatchReservation extends Reservation {
  readonly extends?: boolean
}

/** One settlement of a batch, the parameters `s_*` of the SQL. Without a record no call is logged. */
export interface BatchSettlement extends Omit<Settlement, "record"> {
  readonly callId: RequestId
  readonly caller: CallerShape
  readonly record: CallRecord | null
}

/** What the database decided on one reservation. */
export type ReservationResult = Granted | Insufficient | InvariantBroken
export interface Granted {
  readonly _tag: "Granted"
  readonly option: number
  readonly amount: MicroUsd
  readonly room: MicroUsd
}
export interface Insufficient {
  readonly _tag: "Insufficient"
  readonly scope: "account" | "project" | "key"
  readonly reason: "exhausted" | "held" | "too_large"
  /** What the smallest option needs beyond what the call holds already. */
  readonly needed: MicroUsd
  /** What the scope has left; what running calls hold of it. */
  readonly available: MicroUsd
  readonly held: MicroUsd
}
/** duplicate: the call has a hold already. closed: the hold to be extended is closed. missing: a scope does not exist. */
export interface InvariantBroken {
  readonly _tag: "InvariantBroken"
  readonly invariant: "duplicate" | "closed" | "missing"
}

export class BatchFailed extends Data.TaggedError("BatchFailed")<{
  readonly cause: unknown
  /** The database rejected the statement itself: the same statement will fail again. */
  readonly rejected: boolean
  /** The response was lost, so the batch may have been written. */
  readonly uncertain: boolean
  /** A row that another transaction has locked was waited for too long. */
  readonly locked: boolean
  /** The accounts whose rows are locked, where that is known. */
  readonly lockedAccounts?: ReadonlySet<AccountId>
}> {}

export interface LedgerStoreShape {
  /**
   * One transaction: applies the settlements, then decides the reservations in their order; before one that decides a single hold
   * alone, another that only grants it. A row that another transaction has locked is waited for `maxLockMillis`.
   */
  readonly apply: (
    reservations: ReadonlyArray<BatchReservation>,
    settlements: ReadonlyArray<BatchSettlement>,
    maxLockMillis: number
  ) => Effect.Effect<ReadonlyArray<ReservationResult>, BatchFailed>
  /** Of the accounts of these callers, those of which another transaction has a row locked now. Waits for none of them. */
  readonly lockedAccounts: (callers: ReadonlyArray<CallerShape>) => Effect.Effect<ReadonlySet<AccountId>, BatchFailed>
  readonly balance: (account: AccountId) => Effect.Effect<Balance, StoreUnavailable>
  readonly checkInvariants: Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
}

/** The ledger's tables. */
export class LedgerStore extends Context.Tag("gateway/ledger/LedgerStore")<LedgerStore, LedgerStoreShape>() {
  static readonly layer: Layer.Layer<LedgerStore, never, Database | LedgerNode | SqlClient> = Layer.scoped(
    this,
    Effect.gen(function* () {
      const { prepare } = yield* Database
      const node = yield* LedgerNode
      const sql = yield* SqlClient
      const statements = {
        batch: prepare("ledger_apply", batchStatement),
        reserve: prepare("ledger_reserve", reserveStatement)
      }
      return make(sql, statements, node.id, yield* ModelNumberStore.make(sql))
    })
  )
}

const make = (
  sql: SqlClient,
  { batch, reserve }: { readonly batch: PreparedStatement; readonly reserve: PreparedStatement },
  nodeId: string,
  numbers: ModelNumberStore.ModelNumbers
): LedgerStoreShape => ({
  apply: (reservations, settlements, maxLockMillis) => {
    const options = reservations.map((reservation) => undominatedOptions(reservation.options))
    const written = Effect.suspend(() =>
      batch(batchParameters(nodeId, reservations, options, settlements, maxLockMillis, numbers))
    ).pipe(
      Effect.zipLeft(numbers.learn),
      Effect.flatMap(decodeBatch),
      Effect.map(([row]) =>
        row.verdicts.map((verdict, index): ReservationResult => {
          const refused = notGranted.get(verdict)
          if (refused?._tag === "InvariantBroken") return refused
          if (refused !== undefined) {
            return {
              ...refused,
              needed: amountAt(row.needed, index),
              available: amountAt(row.available, index),
              held: amountAt(row.held, index)
            }
          }
          return grantedOf(options[index] ?? [], row.granted[index], row.amounts[index], row.available[index])
        })
      )
    )
    const [only, ...others] = reservations
    const isAlone = only !== undefined && others.length + settlements.length === 0 && only.extends !== true
    const decided = isAlone
      ? reserve(reserveParameters(nodeId, only, options[0] ?? [], maxLockMillis)).pipe(
          Effect.flatMap(decodeReserved),
          Effect.flatMap(([{ amount, available, granted }]) =>
            granted === 0 ? written : Effect.succeed([grantedOf(options[0] ?? [], granted, amount, available)])
          )
        )
      : written
    return Effect.catchTags(decided, {
      SqlError: (error) => Effect.fail(batchFailed(error)),
      ParseError: (error) => Effect.die(error)
    })
  },
  lockedAccounts: (callers) =>
    sql.unsafe(unlockedStatement, [list([...new Set(callers.flatMap(scopeIdsOf))])]).pipe(
      Effect.flatMap(decodeIds),
      Effect.map((rows) => {
        const unlocked = new Set(rows.map(({ id }) => id))
        const locked = callers.filter((caller) => scopeIdsOf(caller).some((id) => !unlocked.has(id)))
        return new Set(locked.map(({ accountId }) => accountId))
      }),
      Effect.catchTags({
        SqlError: (error) => Effect.fail(batchFailed(error)),
        ParseError: (error) => Effect.die(error)
      })
    ),
  balance: (account) =>
    sql.unsafe(balanceStatement, [account]).pipe(
      Effect.flatMap(decodeBalance),
      Effect.catchTags({
        SqlError: (cause) => Effect.fail(new StoreUnavailable({ cause })),
        ParseError: () => Effect.dieMessage(`the account ${account} has no scope`)
      }),
      Effect.map(([balance]) => balance)
    ),
  checkInvariants: Effect.mapError(LedgerInvariants.check(sql.unsafe), (cause) => new StoreUnavailable({ cause }))
})

/** The select list is evaluated after the batch: what is kept is kept with its settlement, or not at all. */
const batchStatement = `select verdicts, granted, amounts, needed_amounts as needed, available_amounts as available,
  held_amounts as held, idempotency_keep($20)
  from ledger_apply($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$21)`

/** Of one reservation. Where it is not granted, nothing is written. */
const reserveStatement = `select granted, amount, available from ledger_reserve($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)`

const unlockedStatement = "select id from scope where id = any($1::uuid[]) for update skip locked"

const balanceStatement = `select limit_micro_usd as "creditMicroUsd", spent_micro_usd as "spentMicroUsd",
  held_micro_usd as "heldMicroUsd" from scope where id = $1 and kind = 'account'`

type Refusal = Pick<Insufficient, "_tag" | "scope" | "reason">

/** By the verdicts of the SQL; any other one is `granted`. */
const notGranted = new Map<string, Refusal | InvariantBroken>([
  ...(["account", "project", "key"] as const).flatMap((scope) =>
    (["exhausted", "held", "too_large"] as const).map((reason): readonly [string, Refusal] => [
      `${scope}/${reason}`,
      { _tag: "Insufficient", scope, reason }
    ])
  ),
  ...(["duplicate", "closed", "missing"] as const).map((invariant): readonly [string, InvariantBroken] => [
    invariant,
    { _tag: "InvariantBroken", invariant }
  ])
])

const amountAt = (amounts: ReadonlyArray<string>, index: number): MicroUsd => microUsd(Number(amounts[index]))

/** Options are counted from 1. */
const grantedOf = (
  options: ReadonlyArray<IndexedOption>,
  granted: number | undefined,
  amount: string | null | undefined,
  available: string | null | undefined
): Granted => {
  const option = options[(granted ?? 0) - 1]?.index
  if (option === undefined) throw new Error("the database granted an option that the reservation does not have")
  return { _tag: "Granted", option, amount: microUsd(Number(amount)), room: microUsd(Number(available)) }
}

/** PostgreSQL's 64-bit integers come as text. */
const Amount = Schema.compose(Schema.NumberFromString, MicroUsd)

interface BatchRow {
  readonly verdicts: ReadonlyArray<string>
  /** 0 for what was not granted. */
  readonly granted: ReadonlyArray<number>
  readonly amounts: ReadonlyArray<string>
  /** 0 for what was not refused. */
  readonly needed: ReadonlyArray<string>
  readonly available: ReadonlyArray<string>
  readonly held: ReadonlyArray<string>
}

/** Elements are checked where they are used: a schema for each took longer than everything else that is done for a hold. */
const isBatchRow = (row: unknown): row is BatchRow =>
  Predicate.isRecord(row) &&
  ["verdicts", "granted", "amounts", "needed", "available", "held"].every((name) => Array.isArray(row[name]))

const decodeBatch = Schema.decodeUnknown(Schema.Tuple(Schema.declare(isBatchRow)))

interface ReservedRow {
  /** 0: it was not. */
  readonly granted: number
  readonly amount: string | null
  readonly available: string | null
}

const isReservedRow = (row: unknown): row is ReservedRow =>
  Predicate.isRecord(row) && Predicate.isNumber(row["granted"])

const decodeReserved = Schema.decodeUnknown(Schema.Tuple(Schema.declare(isReservedRow)))

const decodeBalance = Schema.decodeUnknown(
  Schema.Tuple(Schema.Struct({ creditMicroUsd: Amount, spentMicroUsd: Amount, heldMicroUsd: Amount }))
)

interface IndexedOption {
  readonly option: HoldOption
  readonly index: number
}

/** Options that can be granted at all: an option whose `min` is no lower than that of an earlier one never is. */
const undominatedOptions = (options: ReadonlyArray<HoldOption>): ReadonlyArray<IndexedOption> => {
  const undominated: Array<IndexedOption> = []
  let lowest = Number.POSITIVE_INFINITY
  for (let index = 0; index < options.length; index++) {
    const option = options[index]
    if (option === undefined || option.min >= lowest) continue
    lowest = option.min
    undominated.push({ option, index })
  }
  return undominated
}

/** An array in PostgreSQL's text format; ids, numbers and booleans need no quotes. */
const list = (values: ReadonlyArray<string | number | boolean | null>): string =>
  `{${values.map((value) => value ?? "null").join(",")}}`

/** In the order of the parameters of `ledger_reserve`. */
const reserveParameters = (
  nodeId: string,
  { callId, caller, requestedModel }: BatchReservation,
  options: ReadonlyArray<IndexedOption>,
  maxLockMillis: number
): ReadonlyArray<unknown> => [
  nodeId,
  callId,
  caller.keyId,
  caller.projectId,
  caller.accountId,
  caller.billingMode === "managed",
  storable(requestedModel),
  list(options.map(({ option }) => option.max)),
  list(options.map(({ option }) => option.typical)),
  list(options.map(({ option }) => option.min)),
  maxLockMillis
]

/**
 * In the order of the function's parameters: `p_node`, the `r_*` and `o_*`, the `s_*`, `p_calls`, `p_attempts`, `p_voids`; then
 * that of `idempotency_keep`, then `p_lock_millis`.
 */
const batchParameters = (
  nodeId: string,
  reservations: ReadonlyArray<BatchReservation>,
  options: ReadonlyArray<ReadonlyArray<IndexedOption>>,
  settlements: ReadonlyArray<BatchSettlement>,
  maxLockMillis: number,
  numbers: ModelNumberStore.ModelNumbers
): ReadonlyArray<unknown> => {
  const calls: Array<string> = []
  const attempts: Array<object> = []
  const voids: Array<object> = []
  const kept: Array<object> = []
  for (const { callId, caller, kept: answer, record, state } of settlements) {
    if (state === "void") voids.push(holdRow(callId, caller))
    if (answer !== undefined) kept.push(keptRow(callId, answer))
    if (record === null) continue
    const logged = loggedCall(callId, caller, record, numbers.of)
    calls.push(logged.call)
    attempts.push(...logged.attempts)
  }
  return [
    nodeId,
    list(reservations.map((reservation) => reservation.callId)),
    list(reservations.map((reservation) => reservation.extends === true)),
    list(reservations.map((reservation) => reservation.maxWaitMillis > 0)),
    list(reservations.map((reservation) => reservation.caller.keyId)),
    list(reservations.map((reservation) => reservation.caller.projectId)),
    list(reservations.map((reservation) => reservation.caller.accountId)),
    list(reservations.map((reservation) => reservation.caller.billingMode === "managed")),
    reservations.map((reservation) => storable(reservation.requestedModel)),
    list(options.map((undominated) => undominated.length)),
    list(options.flatMap((undominated) => undominated.map(({ option }) => option.max))),
    list(options.flatMap((undominated) => undominated.map(({ option }) => option.typical))),
    list(options.flatMap((undominated) => undominated.map(({ option }) => option.min))),
    list(settlements.map((settlement) => settlement.callId)),
    list(settlements.map((settlement) => settlement.state)),
    list(settlements.map((settlement) => settlement.actual)),
    calls.length === 0 ? null : `[${calls.join(",")}]`,
    calls.length === 0 ? null : JSON.stringify(attempts),
    voids.length === 0 ? null : JSON.stringify(voids),
    kept.length === 0 ? null : JSON.stringify(kept),
    maxLockMillis
  ]
}

const batchFailed = (error: SqlError): BatchFailed =>
  new BatchFailed({
    cause: error.cause,
    rejected: writeFailureOf(error) === "Rejected",
    uncertain: isUncertain(error) && error.message !== "Failed to acquire connection",
    locked: sqlStateOf(error) === lockNotAvailable
  })
