import * as Effect from "effect/Effect"
import { closedWithin } from "../../domain/Closing.ts"
import * as LedgerMetrics from "../../observe/LedgerMetrics.ts"
import type { BatchReservation, BatchSettlement, Granted, LedgerStoreShape } from "../LedgerStore.ts"
import * as FlushPolicy from "./FlushPolicy.ts"
import { FlushTimers } from "./FlushTimers.ts"
import { type Batch, type Delay, type Isolate, LedgerQueues, type QueuesDeps } from "./LedgerQueues.ts"
import {
  type QueuedReservation,
  queuedReservation,
  type ReserveError,
  unavailable,
  voidOf
} from "./QueuedReservation.ts"

/** The time that shutting down leaves to a database that does not answer. */
const closeMillis = 5_000

/** How long a row that another transaction has locked is waited for: batches of other nodes are done sooner. */
export const maxLockMillis = 200

export interface BatcherDeps extends QueuesDeps {
  readonly store: Pick<LedgerStoreShape, "apply">
}

/**
 * Writes the ledger in natural batches: what arrives while one statement runs waits for the next. Settlements are written
 * with a reservation that could use what they release, or else wait a moment for others; reservations that wait for held money
 * are decided again with the settlements of their scopes.
 *
 * The queues are mutable fields, and one fiber runs per batch: reservations that wait by a callback cost 16 to 19 µs of CPU each
 * with their own fiber, through a `Queue` with a `Deferred` each 34 to 38 µs (64 at a time, Node 20, on a busy machine).
 */
export class LedgerBatcher {
  private readonly deps: BatcherDeps
  private readonly queues: LedgerQueues
  private readonly flushTimers: FlushTimers
  private writing = false
  private onIdle: (() => void) | undefined

  constructor(deps: BatcherDeps, isolate?: Isolate) {
    const flush = () => this.flush()
    this.deps = deps
    this.queues = new LedgerQueues(deps, flush, isolate)
    this.flushTimers = new FlushTimers(deps.timers, flush)
  }

  /** What waits to be written or for money. */
  get waiting(): LedgerQueues["waiting"] {
    return this.queues.waiting
  }

  /** Nothing is queued, waits or is being written. */
  get isEmpty(): boolean {
    return !this.writing && this.queues.isEmpty
  }

  /** Decided in order of arrival. Interrupted, it leaves no hold behind. */
  readonly reserve = (reservation: BatchReservation): Effect.Effect<Granted, ReserveError> =>
    Effect.checkInterruptible((isInterruptible) =>
      Effect.async((resume) => {
        const { closedTo } = this.queues
        if (closedTo !== undefined) return resume(unavailable(closedTo))
        const queued = queuedReservation(reservation, this, this.deps.timers.now(), resume)
        this.queues.add(queued)
        if (!this.writing) this.flushTimers.inMicrotask()
        // An uninterruptible caller is spared the cost of a canceller.
        return isInterruptible ? Effect.sync(() => queued.owner.cancel(queued)) : undefined
      })
    )

  /** Queues what another batcher has handed over, in its order. */
  adopt(reservations: ReadonlyArray<QueuedReservation>, settlements: ReadonlyArray<BatchSettlement>): void {
    for (const settlement of settlements) this.settle(settlement)
    for (const queued of reservations) {
      queued.owner = this
      this.queues.add(queued)
    }
    if (!this.writing) this.flush()
  }

  readonly settle = (settlement: BatchSettlement): void => {
    if (!this.queues.settle(settlement)) return
    const action = FlushPolicy.afterSettle(this.queueState())
    if (action === "FlushNow") this.flushTimers.inMicrotask()
    else this.perform(action)
  }

  /** The caller of a reservation has left. */
  cancel(queued: QueuedReservation): void {
    queued.interrupted = true
    if (queued.state === "queued" || queued.state === "waiting") {
      if (this.queues.remove(queued)) this.flush()
    } else if (queued.state === "granted" && !queued.reservation.extends) this.settle(voidOf(queued.reservation))
  }

  /** Succeeds once every settlement queued before it has been written. */
  readonly flushed = Effect.async<void>((resume) => {
    if (this.queues.unwritten === 0) return resume(Effect.void)
    const cancel = this.queues.whenSettled(() => resume(Effect.void))
    if (!this.writing && !this.flushTimers.isRetrying) this.flush()
    return Effect.sync(cancel)
  })

  /** Rejects new reservations and waits until the queues are written, for a bounded time of the timers, and of real time. */
  readonly close = Effect.async<void>((resume) => {
    this.queues.close()
    const cancel = this.deps.timers.after(closeMillis, () => resume(Effect.void))
    this.onIdle = () => {
      cancel()
      resume(Effect.void)
    }
    if (!this.writing) this.perform(FlushPolicy.afterBatch(this.queueState()))
    return Effect.sync(cancel)
  }).pipe(
    closedWithin(closeMillis),
    Effect.zipRight(
      Effect.suspend(() =>
        this.queues.unwritten === 0
          ? Effect.void
          : Effect.annotateLogs(
              Effect.logError("settlements could not be written before closing; their holds will expire"),
              { settlements: this.queues.unwritten }
            )
      )
    )
  )

  private queueState(): FlushPolicy.QueueState {
    return this.queues.state(this.writing, this.flushTimers)
  }

  private perform(action: FlushPolicy.Action): void {
    if (action === "FlushNow") this.flush()
    else if (action === "FlushLater") this.flushTimers.later()
    else if (action === "Idle") this.onIdle?.()
  }

  private flush(): void {
    if (this.writing || this.flushTimers.isPaused) return
    const size = FlushPolicy.batchSize(this.queueState())
    if (size.isPutOff) this.flushTimers.later()
    else this.flushTimers.cancelLater()
    const batch = this.queues.take(size)
    if (batch !== undefined) this.write(batch)
  }

  private write(batch: Batch): void {
    this.writing = true
    const { reservations, settlements } = batch
    const { fork, store, timers } = this.deps
    const sentAtMillis = timers.now()
    // the store builds the statement at once: what it throws there is a failure of this batch, like any other
    const written = Effect.suspend(() =>
      store.apply(
        reservations.map(({ isFinal, reservation }) => (isFinal ? { ...reservation, maxWaitMillis: 0 } : reservation)),
        settlements.map((queued) => queued.settlement),
        maxLockMillis
      )
    )
    fork(
      Effect.map(Effect.exit(written), (exit) => {
        try {
          const tookMillis = timers.now() - sentAtMillis
          LedgerMetrics.batch(reservations.length + settlements.length, tookMillis / 1_000)
          this.delay(this.queues.ended(batch, exit, tookMillis))
        } finally {
          // not before: the next batch would take reservations that are about to fail, and the holds of those would be nobody's
          this.writing = false
          this.perform(FlushPolicy.afterBatch(this.queueState()))
        }
      })
    )
  }

  private delay(delay: Delay): void {
    if (delay._tag === "RetrySettlements") this.flushTimers.retryAfter(delay.afterMillis)
    else if (delay._tag === "Pause") this.flushTimers.pause()
  }
}
