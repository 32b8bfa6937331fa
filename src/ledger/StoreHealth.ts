import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { DatabaseOutage } from "../domain/DatabaseOutage.ts"
import type { AccountId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { outageOf, reasonOf, sqlStateOf } from "../sql/DatabaseError.ts"
import { RecoveryStore } from "./RecoveryStore.ts"
import { writeFailureOf } from "./WriteFailure.ts"

/** Outcomes of writes, reported by the ledger's batcher and recovery. */
export interface WriteReports {
  /** A write failed. True when the database failed, whose reasons are logged once each; false when the statement was rejected or another transaction was in the way. */
  readonly failed: (cause: unknown) => boolean
  /** The database is there, but another transaction, or its slowness, keeps writes from being done; of one account, or of all. */
  readonly delayed: (cause: unknown, account?: AccountId) => void
  /** A batch of the ledger was written. */
  readonly written: () => void
  /** This process's heartbeat was written, to an existing row. */
  readonly heartbeatWritten: () => void
}

export interface StoreHealthShape extends WriteReports {
  /** Whether a reservation could be written now. Checked by a write, at most once a second however often it is called. */
  readonly takesWrites: Effect.Effect<boolean>
  /** Why the last write has failed, until one succeeds. */
  readonly outage: () => DatabaseOutage | undefined
}

/** Whether the database accepts writes, from the results of the ledger's statements. */
export class StoreHealth extends Context.Tag("gateway/ledger/StoreHealth")<StoreHealth, StoreHealthShape>() {
  /** @internal */
  static readonly layer: Layer.Layer<StoreHealth, never, RecoveryStore | Timers> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const probeEveryMillis = 1_000
const probeTimeoutMillis = 2_000
/** On a full disk an update may succeed where an insert fails: after a failed batch, heartbeats count only after this time. */
const batchFailureMillis = 5_000
/** A locked table delays every account: of one window no more lines than these, and one of an account. */
const maxDelayLines = 10
const delayWindowMillis = 60_000

const make = Effect.gen(function* () {
  const { beat } = yield* RecoveryStore
  const timers = yield* Timers
  const fork = Runtime.runFork(yield* Effect.runtime<never>())
  let failingSinceMillis: number | undefined
  let outage: DatabaseOutage | undefined
  let failedAtMillis = Number.NEGATIVE_INFINITY
  let probedAtMillis = Number.NEGATIVE_INFINITY
  let probing: Deferred.Deferred<boolean> | undefined

  /** Reasons of the current outage; it often begins with a lost connection, before the server reports the cause. */
  const reasons = new Set<string | undefined>()
  /** What has a line about its delay in the current window; `undefined` stands for all accounts. */
  const delayLogged = new Set<AccountId | undefined>()
  let delayWindowEndsMillis = Number.NEGATIVE_INFINITY

  const begin = (cause: unknown): void => {
    failingSinceMillis ??= timers.now()
    outage = outageOf(cause)
    const state = sqlStateOf(cause)
    if (reasons.has(state)) return
    reasons.add(state)
    fork(Effect.annotateLogs(Effect.logError("the database takes no writes"), { reason: reasonOf(cause) }))
  }
  const written = (): void => {
    if (failingSinceMillis === undefined) return
    const millis = Math.round(timers.now() - failingSinceMillis)
    failingSinceMillis = undefined
    outage = undefined
    reasons.clear()
    fork(Effect.annotateLogs(Effect.logInfo("the database takes writes again"), { millis }))
  }
  const heartbeatWritten = (): void => {
    if (timers.now() - failedAtMillis >= batchFailureMillis) written()
  }
  const failed = (cause: unknown): boolean => {
    if (writeFailureOf(cause) !== "Outage") return false
    failedAtMillis = timers.now()
    begin(cause)
    return true
  }
  const delayed = (cause: unknown, account?: AccountId): void => {
    const now = timers.now()
    if (now >= delayWindowEndsMillis) {
      delayLogged.clear()
      delayWindowEndsMillis = now + delayWindowMillis
    }
    if (delayLogged.has(account) || delayLogged.size >= maxDelayLines) return
    delayLogged.add(account)
    const fields = { reason: reasonOf(cause), ...(account !== undefined && { accountId: account }) }
    fork(Effect.annotateLogs(Effect.logWarning("writes of the ledger are delayed"), fields))
  }

  const probe = Effect.timeout(beat, probeTimeoutMillis)
  const takesWrites = Effect.suspend(() => {
    if (probing !== undefined) return Deferred.await(probing)
    if (timers.now() - probedAtMillis < probeEveryMillis) return Effect.succeed(failingSinceMillis === undefined)
    const result = Deferred.unsafeMake<boolean>(FiberId.none)
    probing = result
    // On a fiber of its own: the caller that started it may be interrupted while others wait for the result.
    fork(
      Effect.map(Effect.exit(probe), (exit) => {
        if (Exit.isSuccess(exit)) heartbeatWritten()
        else begin(exit.cause._tag === "Fail" ? exit.cause.error : exit.cause)
        probing = undefined
        probedAtMillis = timers.now()
        Deferred.unsafeDone(result, Effect.succeed(failingSinceMillis === undefined))
      })
    )
    return Deferred.await(result)
  })
  return StoreHealth.of({ failed, delayed, written, heartbeatWritten, takesWrites, outage: () => outage })
})
