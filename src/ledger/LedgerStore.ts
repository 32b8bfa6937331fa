import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { NonEmptyReadonlyArray } from "effect/Array"
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
import { sqlStateOf } from "../sql/DatabaseError.ts"
import type { Prepared } from "../sql/Prepared.ts"
import { audit } from "./Audit.ts"
import { attemptRow, callRow, storable } from "./CallRows.ts"
import type { Balance, HoldOption } from "./Hold.ts"
import { LedgerNode } from "./LedgerNodeStore.ts"

/** A hold to be made or, with `extends`, to be raised. */
export interface BatchRequest {
  readonly callId: RequestId
  readonly extends: boolean
  readonly caller: CallerShape
  readonly requestedModel: string
  readonly options: NonEmptyReadonlyArray<HoldOption>
}

/** The end of a hold. Without a record no call is logged: nobody has learnt of the hold. */
export interface Ending {
  readonly callId: RequestId
  readonly caller: CallerShape
  readonly state: "settled" | "cancelled" | "void"
  readonly actual: MicroUsd
  readonly record: CallRecord | null
}

export type Verdict = Granted | Refused | Broken
export interface Granted {
  readonly _tag: "Granted"
  readonly option: number
  readonly amount: MicroUsd
}
export interface Refused {
  readonly _tag: "Refused"
  readonly scope: "account" | "project" | "key"
  readonly reason: "exhausted" | "held" | "too_large"
}
/** duplicate: such a hold exists. closed: the hold to be raised has ended. missing: a scope was never opened. */
export interface Broken {
  readonly _tag: "Broken"
  readonly invariant: "duplicate" | "closed" | "missing"
}

export class BatchFailed extends Data.TaggedError("BatchFailed")<{
  readonly cause: unknown
  /** The database has refused the statement itself: the same one will fail again. */
  readonly refused: boolean
  /** The answer was lost, so the batch may have been written all the same. */
  readonly uncertain: boolean
}> {}

export interface LedgerStoreShape {
  /** One transaction: ends holds, then decides the requests in their order. */
  readonly apply: (
    requests: ReadonlyArray<BatchRequest>,
    endings: ReadonlyArray<Ending>
  ) => Effect.Effect<ReadonlyArray<Verdict>, BatchFailed>
  readonly balance: (account: AccountId) => Effect.Effect<Balance, StoreUnavailable>
  readonly audit: Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
}

/** The ledger's tables. */
export class LedgerStore extends Context.Tag("gateway/ledger/LedgerStore")<LedgerStore, LedgerStoreShape>() {
  static readonly layer: Layer.Layer<LedgerStore, never, Database | LedgerNode | SqlClient> = Layer.effect(
    this,
    Effect.gen(function* () {
      const { prepare } = yield* Database
      const node = yield* LedgerNode
      return make(yield* SqlClient, prepare("ledger_batch", batchStatement), node.id)
    })
  )
}

const make = (sql: SqlClient, batch: Prepared, nodeId: string): LedgerStoreShape => ({
  apply: (requests, endings) => {
    const wanted = requests.map((request) => worthwhile(request.options))
    return batch(batchParameters(nodeId, requests, wanted, endings)).pipe(
      Effect.flatMap(decodeBatch),
      Effect.map(([row]) =>
        row.verdicts.map((verdict, index): Verdict => {
          if (isRefusal(verdict)) return refusals[verdict]
          const option = wanted[index]?.[(row.granted[index] ?? 0) - 1]?.index
          if (option === undefined) throw new Error("the ledger granted what was not asked for")
          return { _tag: "Granted", option, amount: microUsd(Number(row.amounts[index])) }
        })
      ),
      Effect.catchTags({
        SqlError: (error) => Effect.fail(batchFailed(error)),
        ParseError: (error) => Effect.die(error)
      })
    )
  },
  balance: (account) =>
    sql.unsafe(balanceStatement, [account]).pipe(
      Effect.flatMap(decodeBalance),
      Effect.catchTags({
        SqlError: (cause) => Effect.fail(new StoreUnavailable({ cause })),
        ParseError: () => Effect.dieMessage(`the account ${account} has no scope`)
      }),
      Effect.map(([balance]) => balance)
    ),
  audit: Effect.mapError(audit(sql.unsafe), (cause) => new StoreUnavailable({ cause }))
})

const batchStatement =
  "select verdicts, granted, amounts from ledger_batch($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16)"

const balanceStatement = `select limit_micro_usd as "creditMicroUsd", spent_micro_usd as "spentMicroUsd",
  held_micro_usd as "heldMicroUsd" from scope where id = $1 and kind = 'account'`

const refused = <S extends Refused["scope"], R extends Refused["reason"]>(scope: S, reason: R): Refused => ({
  _tag: "Refused",
  scope,
  reason
})
const broken = (invariant: Broken["invariant"]): Broken => ({ _tag: "Broken", invariant })

const refusals = {
  "account/exhausted": refused("account", "exhausted"),
  "account/held": refused("account", "held"),
  "account/too_large": refused("account", "too_large"),
  "project/exhausted": refused("project", "exhausted"),
  "project/held": refused("project", "held"),
  "project/too_large": refused("project", "too_large"),
  "key/exhausted": refused("key", "exhausted"),
  "key/held": refused("key", "held"),
  "key/too_large": refused("key", "too_large"),
  duplicate: broken("duplicate"),
  closed: broken("closed"),
  missing: broken("missing")
} as const satisfies Record<string, Verdict>

const isRefusal = (text: string): text is keyof typeof refusals => Object.hasOwn(refusals, text)

/** PostgreSQL's 64-bit integers come as text. */
const Amount = Schema.compose(Schema.NumberFromString, MicroUsd)

interface BatchRow {
  readonly verdicts: ReadonlyArray<string>
  /** 0 for what was not granted. */
  readonly granted: ReadonlyArray<number>
  readonly amounts: ReadonlyArray<string>
}

/** Elements are judged where they are used: a schema for each took longer than everything else that is done for a hold. */
const isBatchRow = (row: unknown): row is BatchRow =>
  Predicate.isRecord(row) && [row["verdicts"], row["granted"], row["amounts"]].every((list) => Array.isArray(list))

const decodeBatch = Schema.decodeUnknown(Schema.Tuple(Schema.declare(isBatchRow)))

const decodeBalance = Schema.decodeUnknown(
  Schema.Tuple(Schema.Struct({ creditMicroUsd: Amount, spentMicroUsd: Amount, heldMicroUsd: Amount }))
)

interface Wanted extends HoldOption {
  readonly index: number
}

/** An option can only be granted where every earlier one needs more. */
const worthwhile = (options: ReadonlyArray<HoldOption>): ReadonlyArray<Wanted> => {
  const wanted: Array<Wanted> = []
  let least = Number.POSITIVE_INFINITY
  for (const [index, option] of options.entries()) {
    if (option.least >= least) continue
    least = option.least
    wanted.push({ ...option, index })
  }
  return wanted
}

/** An array as PostgreSQL reads it; ids, numbers and truths need no quotes. */
const list = (values: ReadonlyArray<string | number | boolean>): string => `{${values.join(",")}}`

const batchParameters = (
  nodeId: string,
  requests: ReadonlyArray<BatchRequest>,
  wanted: ReadonlyArray<ReadonlyArray<Wanted>>,
  endings: ReadonlyArray<Ending>
): ReadonlyArray<unknown> => {
  const calls: Array<object> = []
  const attempts: Array<object> = []
  for (const { callId, caller, record } of endings) {
    if (record === null) continue
    calls.push(callRow(callId, caller, record))
    for (const [position, attempt] of record.attempts.entries()) attempts.push(attemptRow(callId, attempt, position))
  }
  return [
    nodeId,
    list(requests.map((request) => request.callId)),
    list(requests.map((request) => request.extends)),
    list(requests.map((request) => request.caller.keyId)),
    list(requests.map((request) => request.caller.projectId)),
    list(requests.map((request) => request.caller.accountId)),
    list(requests.map((request) => request.caller.billingMode === "managed")),
    requests.map((request) => storable(request.requestedModel)),
    list(wanted.map((options) => options.length)),
    list(wanted.flatMap((options) => options.map((option) => option.full))),
    list(wanted.flatMap((options) => options.map((option) => option.least))),
    list(endings.map((ending) => ending.callId)),
    list(endings.map((ending) => ending.state)),
    list(endings.map((ending) => ending.actual)),
    calls.length === 0 ? null : JSON.stringify(calls),
    calls.length === 0 ? null : JSON.stringify(attempts)
  ]
}

/** Classes of SQLSTATE that speak about the data and the statement, not about the server's state. */
const refusingClasses = new Set(["21", "22", "23", "42", "54", "P0"])
/** Of a class that speaks about the statement, but a role gets its rights back, and what was to be written still counts. */
const insufficientPrivilege = "42501"

const batchFailed = (error: SqlError): BatchFailed => {
  const state = sqlStateOf(error)
  return new BatchFailed({
    cause: error.cause,
    refused: state !== undefined && state !== insufficientPrivilege && refusingClasses.has(state.slice(0, 2)),
    uncertain: (state === undefined || state.startsWith("57P")) && error.message !== "Failed to acquire connection"
  })
}
