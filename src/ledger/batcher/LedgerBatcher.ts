import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { CallerShape } from "../../domain/Caller.ts"
import { ServiceRefused } from "../../domain/GatewayError.ts"
import { zero } from "../../domain/Money.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import * as LedgerMetrics from "../../observe/LedgerMetrics.ts"
import type {
  BatchFailed,
  BatchReservation,
  BatchSettlement,
  Granted,
  LedgerStoreShape,
  ReservationResult
} from "../LedgerStore.ts"
import type { WriteReports } from "../StoreHealth.ts"
import * as BatchFailure from "./BatchFailure.ts"
import * as FlushPolicy from "./FlushPolicy.ts"
import { scopeIdOf } from "./HeldQueue.ts"
import { type QueuedReservation, type ReserveError, responseTo, unavailable } from "./QueuedReservation.ts"
import { ReservationQueue } from "./ReservationQueue.ts"
import { type QueuedSettlement, SettlementQueue } from "./SettlementQueue.ts"

/** About as many as one statement's time limit lets through; more would time out. */
const maxReservations = 4_096
/** Settlements that cannot be written; beyond it reservations fail, and every settlement was once a reservation. */
const maxSettlements = 16_384
/** How long a settlement waits for a reservation to be written with. */
const flushMillis = 10
/** The time that shutting down leaves to a database that does not answer. */
const closeMillis = 5_000
/** How long a reservation is tried again while another transaction has a row of its account locked. */
const maxLockedMillis = 2_000
/** Between two batches that fail because of a lock. */
const lockedPauseMillis = 100

export interface BatcherDeps {
  readonly store: Pick<LedgerStoreShape, "apply">
  readonly timers: TimersShape
  readonly reports: Pick<WriteReports, "failed" | "written">
  readonly fork: (effect: Effect.Effect<void>) => unknown
}

/** How long a row that another transaction has locked is waited for: batches of other nodes are done sooner. */
export const maxLockMillis = 200

/** Takes over what a batch that has failed because of a lock has of locked accounts, and what else is queued of them. */
export type Isolate = (
  reservations: ReadonlyArray<QueuedReservation>,
  settlements: ReadonlyArray<BatchSettlement>
) => void

/**
 * Writes the ledger in natural batches: what arrives while one statement runs waits for the next. Settlements are written
 * with the next reservation, so that it can use what they release; reservations that wait for held money are decided again
 * with the settlements of their scopes.
 *
 * The queues are mutable fields, and one fiber runs per batch: reservations that wait by a callback cost 16 to 19 µs of CPU each
 * with their own fiber, through a `Queue` with a `Deferred` each 34 to 38 µs (64 at a time, Node 20, on a busy machine).
 */
export class LedgerBatcher {
  private readonly store: Pick<LedgerStoreShape, "apply">
  private readonly timers: TimersShape
  private readonly reports: Pick<WriteReports, "failed" | "written">
  private readonly fork: (effect: Effect.Effect<void>) => unknown
  /** Without it, a batch that fails because of a lock is tried again. */
  private readonly isolate: Isolate | undefined

  private readonly reservations: ReservationQueue
  private readonly settlements = new SettlementQueue()

  private writing = false
  private closing = false
  private settlementsNext = true
  private failureState = BatchFailure.noFailures

  private microtaskQueued = false
  private flushTimer: Cancel | undefined
  private retryTimer: Cancel | undefined
  private pauseTimer: Cancel | undefined
  private onIdle: (() => void) | undefined

  constructor({ fork, reports, store, timers }: BatcherDeps, isolate?: Isolate) {
    this.store = store
    this.timers = timers
    this.reports = reports
    this.fork = fork
    this.isolate = isolate
    this.reservations = new ReservationQueue(timers, () => this.flush())
  }

  /** What waits to be written or for money. */
  get waiting(): { readonly reservations: number; readonly settlements: number } {
    return { reservations: this.reservations.size, settlements: this.settlements.unwritten }
  }

  /** Nothing is queued, waits or is being written. */
  get isEmpty(): boolean {
    return !this.writing && this.reservations.size + this.settlements.unwritten === 0
  }

  /** Decided in order of arrival. Interrupted, it leaves no hold behind. */
  readonly reserve = (reservation: BatchReservation): Effect.Effect<Granted, ReserveError> =>
    Effect.checkInterruptible((isInterruptible) =>
      Effect.async((resume) => {
        if (this.closing) return resume(unavailable("closing"))
        if (this.reservations.size >= maxReservations || this.settlements.size >= maxSettlements) {
          return resume(unavailable("too much is waiting"))
        }
        const queued: QueuedReservation = {
          reservation,
          resume,
          owner: this,
          state: "queued",
          interrupted: false,
          isFinal: false,
          expiry: undefined,
          expiresAtMillis: undefined,
          queuedAtMillis: this.timers.now(),
          lockedSinceMillis: undefined
        }
        this.reservations.add(queued)
        if (!this.writing) this.flushInMicrotask()
        // An uninterruptible caller is spared the cost of a canceller.
        return isInterruptible ? Effect.sync(() => queued.owner.cancel(queued)) : undefined
      })
    )

  /** Queues what another batcher has handed over, in its order. */
  adopt(reservations: ReadonlyArray<QueuedReservation>, settlements: ReadonlyArray<BatchSettlement>): void {
    for (const settlement of settlements) this.settle(settlement)
    for (const queued of reservations) {
      queued.owner = this
      this.reservations.add(queued)
    }
    if (!this.writing) this.flush()
  }

  readonly settle = (settlement: BatchSettlement): void => {
    if (!this.settlements.add(settlement)) return
    this.reservations.released(settlement.caller)
    this.perform(FlushPolicy.afterSettle(this.queueState()))
  }

  /** Succeeds once every settlement queued before it has been written. */
  readonly flushed = Effect.async<void>((resume) => {
    if (this.settlements.unwritten === 0) return resume(Effect.void)
    const cancel = this.settlements.whenSettled(() => resume(Effect.void))
    if (!this.writing && this.retryTimer === undefined) this.flush()
    return Effect.sync(cancel)
  })

  /** Rejects new reservations and waits until the queues are written, for a bounded time. */
  readonly close = Effect.async<void>((resume) => {
    this.closing = true
    for (const queued of this.reservations.stopWaiting()) this.finish(queued, unavailable("closing"))
    const cancel = this.timers.after(closeMillis, () => resume(Effect.void))
    this.onIdle = () => {
      cancel()
      resume(Effect.void)
    }
    if (!this.writing) this.perform(FlushPolicy.afterBatch(this.queueState()))
  }).pipe(
    Effect.zipRight(
      Effect.suspend(() =>
        this.settlements.unwritten === 0
          ? Effect.void
          : Effect.annotateLogs(
              Effect.logError("settlements could not be written before closing; their holds will expire"),
              { settlements: this.settlements.unwritten }
            )
      )
    )
  )

  private queueState(): FlushPolicy.QueueState {
    return {
      writing: this.writing,
      retrying: this.retryTimer !== undefined,
      closing: this.closing,
      reservations: this.reservations.ready,
      settlements: this.settlements.size,
      suspect: this.settlements.oldestSequence <= this.failureState.suspectThrough,
      settlementsNext: this.settlementsNext,
      failures: this.failureState.failures,
      maxSettlements: this.failureState.maxSettlements,
      awaited: this.settlements.isAwaited
    }
  }

  private perform(action: FlushPolicy.Action): void {
    if (action === "FlushNow") this.flush()
    else if (action === "FlushLater") this.flushTimer ??= this.timers.after(flushMillis, () => this.flush())
    else if (action === "Idle") this.onIdle?.()
  }

  /** Reservations that arrive in one turn of the event loop are written together. */
  private flushInMicrotask(): void {
    if (this.microtaskQueued) return
    this.microtaskQueued = true
    queueMicrotask(() => {
      this.microtaskQueued = false
      this.flush()
    })
  }

  private flush(): void {
    if (this.writing || this.pauseTimer !== undefined) return
    this.flushTimer?.()
    this.flushTimer = undefined
    const size = FlushPolicy.batchSize(this.queueState())
    this.settlementsNext = size.settlements === 0
    const reservations = size.reservations === 0 ? [] : this.reservations.take()
    if (reservations.length === 0 && size.settlements === 0) return
    const settlements = FlushPolicy.withinKeptBytes(size.settlements, (index) => this.settlements.keptBytesAt(index))
    this.write(reservations, this.settlements.take(settlements))
  }

  private finish(
    queued: QueuedReservation,
    result: Effect.Effect<Granted, ReserveError>,
    state: "granted" | "done" = "done"
  ): void {
    queued.state = state
    this.reservations.remove(queued)
    LedgerMetrics.reserveSeconds((this.timers.now() - queued.queuedAtMillis) / 1_000)
    queued.resume(result)
  }

  private write(reservations: ReadonlyArray<QueuedReservation>, settlements: ReadonlyArray<QueuedSettlement>): void {
    this.writing = true
    const sentAtMillis = this.timers.now()
    // the store builds the statement at once: what it throws there is a failure of this batch, like any other
    const batch = Effect.suspend(() =>
      this.store.apply(
        reservations.map(({ isFinal, reservation }) => (isFinal ? { ...reservation, maxWaitMillis: 0 } : reservation)),
        settlements.map((queued) => queued.settlement),
        maxLockMillis
      )
    )
    this.fork(
      Effect.map(Effect.exit(batch), (exit) => {
        try {
          this.ended(reservations, settlements, exit, this.timers.now() - sentAtMillis)
        } finally {
          // not before: the next batch would take reservations that are about to fail, and the holds of those would be nobody's
          this.writing = false
          this.perform(FlushPolicy.afterBatch(this.queueState()))
        }
      })
    )
  }

  private ended(
    reservations: ReadonlyArray<QueuedReservation>,
    settlements: ReadonlyArray<QueuedSettlement>,
    exit: Exit.Exit<ReadonlyArray<ReservationResult>, BatchFailed>,
    tookMillis: number
  ): void {
    LedgerMetrics.batch(reservations.length + settlements.length, tookMillis / 1_000)
    if (Exit.isSuccess(exit)) this.succeeded(reservations, settlements, exit.value)
    else {
      const failure = Cause.failureOption(exit.cause)
      if (failure._tag === "Some" && failure.value.locked) this.locked(reservations, settlements, failure.value)
      else {
        this.failed(reservations, settlements, exit.cause)
        if (BatchFailure.isOutage(tookMillis)) this.failQueued(exit.cause)
      }
    }
  }

  private succeeded(
    reservations: ReadonlyArray<QueuedReservation>,
    settlements: ReadonlyArray<QueuedSettlement>,
    results: ReadonlyArray<ReservationResult>
  ): void {
    this.reports.written()
    if (settlements.length > 0) {
      this.failureState = BatchFailure.afterWrite(this.failureState)
      this.settlements.settled(settlements)
    }
    for (const [index, queued] of reservations.entries()) this.decided(queued, results[index])
  }

  private decided(queued: QueuedReservation, result: ReservationResult | undefined): void {
    const { reservation } = queued
    if (result?._tag === "Granted") {
      this.finish(queued, Effect.succeed(result), "granted")
      if (queued.interrupted && !reservation.extends) this.voidHold(reservation)
    } else if (result?._tag === "Insufficient" && reservation.otherOptions !== undefined && !queued.interrupted) {
      this.reservations.decideAgain(queued, scopeIdOf(reservation.caller, result))
    } else if (this.mayWait(queued) && result?._tag === "Insufficient" && result.reason === "held") {
      this.reservations.wait(queued, scopeIdOf(reservation.caller, result))
    } else this.finish(queued, responseTo(reservation, result))
  }

  private mayWait({ interrupted, reservation, isFinal }: QueuedReservation): boolean {
    return reservation.maxWaitMillis > 0 && !isFinal && !interrupted && !this.closing
  }

  private failed(
    reservations: ReadonlyArray<QueuedReservation>,
    settlements: ReadonlyArray<QueuedSettlement>,
    cause: Cause.Cause<BatchFailed>
  ): void {
    const failure = Cause.failureOption(cause)
    const error = failure._tag === "Some" ? failure.value : undefined
    if (error !== undefined) this.reports.failed(error.cause)
    this.settlements.putBack(settlements)
    for (const queued of reservations) {
      if (BatchFailure.needsVoid(queued.reservation, error?.uncertain !== false)) this.voidHold(queued.reservation)
      this.finish(queued, unavailable(error?.cause ?? Cause.squash(cause)))
    }
    const last = settlements.at(-1)
    if (last === undefined) return
    const { action, state } = BatchFailure.afterFailure(this.failureState, {
      reservations: reservations.length,
      settlements: settlements.length,
      lastSequence: last.sequence,
      rejected: error?.rejected !== false
    })
    this.failureState = state
    if (action._tag === "RejectOne") this.rejectOldest(last, cause)
    else {
      this.retryTimer = this.timers.after(action.afterMillis, () => {
        this.retryTimer = undefined
        this.flush()
      })
    }
  }

  /** Nothing of the batch was written. */
  private locked(
    reservations: ReadonlyArray<QueuedReservation>,
    settlements: ReadonlyArray<QueuedSettlement>,
    { lockedAccounts }: BatchFailed
  ): void {
    this.settlements.putBack(settlements)
    if (this.isolate === undefined) this.tryAgain(reservations)
    else this.handOver(reservations, lockedAccounts ?? accountsOf(reservations, settlements), this.isolate)
  }

  private tryAgain(reservations: ReadonlyArray<QueuedReservation>): void {
    const now = this.timers.now()
    for (const queued of reservations) queued.lockedSinceMillis ??= now
    const [waiting, ended] = Arr.partition(
      reservations,
      (queued) => queued.interrupted || now - (queued.lockedSinceMillis ?? now) >= maxLockedMillis
    )
    this.reservations.putBack(waiting)
    for (const queued of ended) this.finish(queued, Effect.fail(new ServiceRefused({ reason: "overloaded" })))
    this.pauseTimer = this.timers.after(lockedPauseMillis, () => {
      this.pauseTimer = undefined
      this.flush()
    })
  }

  /** What the batch and the queues have of these accounts; the rest of the batch is written next. */
  private handOver(
    reservations: ReadonlyArray<QueuedReservation>,
    accounts: ReadonlySet<string>,
    isolate: Isolate
  ): void {
    const isTheirs = ({ caller }: { readonly caller: CallerShape }) => accounts.has(caller.accountId)
    const [waiting, left] = Arr.partition(reservations, ({ interrupted }) => interrupted)
    for (const queued of left) this.finish(queued, Effect.interrupt)
    this.reservations.putBack(waiting)
    const theirs = this.settlements.takeOf(isTheirs)
    isolate(
      this.reservations.takeOf(isTheirs),
      theirs.map(({ settlement }) => settlement)
    )
    this.settlements.settled(theirs)
  }

  private failQueued(cause: Cause.Cause<BatchFailed>): void {
    for (const queued of this.reservations.removeAll()) this.finish(queued, unavailable(Cause.squash(cause)))
  }

  private rejectOldest(rejected: QueuedSettlement, cause: Cause.Cause<BatchFailed>): void {
    const { callId } = rejected.settlement
    const settlement = BatchFailure.afterRejection(rejected.settlement)
    this.settlements.take(1)
    if (settlement !== undefined) {
      this.settlements.putBack([{ ...rejected, settlement }])
      this.fork(
        Effect.annotateLogs(Effect.logError("the log row of a call was rejected and is left out", cause), { callId })
      )
      return
    }
    this.failureState = BatchFailure.afterDrop(this.failureState)
    this.settlements.settled([rejected])
    LedgerMetrics.settlementDropped()
    this.fork(
      Effect.annotateLogs(Effect.logError("the settlement of a call was rejected; its hold will expire", cause), {
        callId
      })
    )
  }

  private voidHold(reservation: BatchReservation): void {
    this.settle({ callId: reservation.callId, caller: reservation.caller, state: "void", actual: zero, record: null })
  }

  cancel(queued: QueuedReservation): void {
    queued.interrupted = true
    if (queued.state === "queued" || queued.state === "waiting") {
      this.reservations.remove(queued)
      if (this.reservations.isDue) this.flush()
    } else if (queued.state === "granted" && !queued.reservation.extends) this.voidHold(queued.reservation)
  }
}

const accountsOf = (
  reservations: ReadonlyArray<QueuedReservation>,
  settlements: ReadonlyArray<QueuedSettlement>
): ReadonlySet<string> => {
  const accounts = new Set<string>()
  for (const { reservation } of reservations) accounts.add(reservation.caller.accountId)
  for (const { settlement } of settlements) accounts.add(settlement.caller.accountId)
  return accounts
}
