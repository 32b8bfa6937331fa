import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { DatabaseOutage } from "../domain/DatabaseOutage.ts"
import type { AccountId } from "../domain/Ids.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
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
  const outages = new Outages(timers, fork)
  const delays = new Delays(timers, fork)

  const heartbeatWritten = (): void => {
    if (!outages.hasJustFailed) outages.ended()
  }
  const failed = (cause: unknown): boolean => {
    if (writeFailureOf(cause) !== "Outage") return false
    outages.batchFailed(cause)
    return true
  }
  const probe = Effect.map(Effect.exit(Effect.timeout(beat, probeTimeoutMillis)), (exit) => {
    if (Exit.isSuccess(exit)) heartbeatWritten()
    else outages.began(exit.cause._tag === "Fail" ? exit.cause.error : exit.cause)
  })
  return StoreHealth.of({
    failed,
    delayed: (cause, account) => delays.log(cause, account),
    written: () => outages.ended(),
    heartbeatWritten,
    takesWrites: atMostEvery(probeEveryMillis, timers, fork, probe, () => !outages.isOngoing),
    outage: () => outages.current
  })
})

type Fork = (effect: Effect.Effect<void>) => unknown

/** The outage of the database, from its first failure to the next write, logged at both. */
class Outages {
  current: DatabaseOutage | undefined
  private readonly timers: TimersShape
  private readonly fork: Fork
  private sinceMillis: number | undefined
  private batchFailedAtMillis = Number.NEGATIVE_INFINITY
  /** Of the current outage; it often begins with a lost connection, before the server reports the cause. */
  private readonly reasons = new Set<string | undefined>()

  constructor(timers: TimersShape, fork: Fork) {
    this.timers = timers
    this.fork = fork
  }

  get isOngoing(): boolean {
    return this.sinceMillis !== undefined
  }

  /** A batch has failed so lately that a heartbeat says nothing about the next one. */
  get hasJustFailed(): boolean {
    return this.timers.now() - this.batchFailedAtMillis < batchFailureMillis
  }

  batchFailed(cause: unknown): void {
    this.batchFailedAtMillis = this.timers.now()
    this.began(cause)
  }

  began(cause: unknown): void {
    this.sinceMillis ??= this.timers.now()
    this.current = outageOf(cause)
    const state = sqlStateOf(cause)
    if (this.reasons.has(state)) return
    this.reasons.add(state)
    this.fork(Effect.annotateLogs(Effect.logError("the database takes no writes"), { reason: reasonOf(cause) }))
  }

  ended(): void {
    if (this.sinceMillis === undefined) return
    const millis = Math.round(this.timers.now() - this.sinceMillis)
    this.sinceMillis = undefined
    this.current = undefined
    this.reasons.clear()
    this.fork(Effect.annotateLogs(Effect.logInfo("the database takes writes again"), { millis }))
  }
}

/** The log of delayed writes. */
class Delays {
  private readonly timers: TimersShape
  private readonly fork: Fork
  /** What has a line in the current window; `undefined` stands for all accounts. */
  private readonly logged = new Set<AccountId | undefined>()
  private windowEndsMillis = Number.NEGATIVE_INFINITY

  constructor(timers: TimersShape, fork: Fork) {
    this.timers = timers
    this.fork = fork
  }

  log(cause: unknown, account: AccountId | undefined): void {
    const now = this.timers.now()
    if (now >= this.windowEndsMillis) {
      this.logged.clear()
      this.windowEndsMillis = now + delayWindowMillis
    }
    if (this.logged.has(account) || this.logged.size >= maxDelayLines) return
    this.logged.add(account)
    const fields = { reason: reasonOf(cause), ...(account !== undefined && { accountId: account }) }
    this.fork(Effect.annotateLogs(Effect.logWarning("writes of the ledger are delayed"), fields))
  }
}

/** What `read` says after a run of `probe`, which all share that ask meanwhile; within `millis` after it, without another one. */
const atMostEvery = <A>(
  millis: number,
  timers: TimersShape,
  fork: Fork,
  probe: Effect.Effect<void>,
  read: () => A
): Effect.Effect<A> => {
  let probedAtMillis = Number.NEGATIVE_INFINITY
  let probing: Deferred.Deferred<A> | undefined
  return Effect.suspend(() => {
    if (probing !== undefined) return Deferred.await(probing)
    if (timers.now() - probedAtMillis < millis) return Effect.succeed(read())
    const result = Deferred.unsafeMake<A>(FiberId.none)
    probing = result
    // On a fiber of its own: the caller that started it may be interrupted while others wait for the result.
    fork(
      Effect.map(probe, () => {
        probing = undefined
        probedAtMillis = timers.now()
        Deferred.unsafeDone(result, Effect.succeed(read()))
      })
    )
    return Deferred.await(result)
  })
}
