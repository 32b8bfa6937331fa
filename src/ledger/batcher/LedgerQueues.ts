import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { CallerShape } from "../../domain/Caller.ts"
import { ServiceRefused } from "../../domain/GatewayError.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import * as LedgerMetrics from "../../observe/LedgerMetrics.ts"
import type { BatchFailed, BatchSettlement, Granted, ReservationResult } from "../LedgerStore.ts"
import type { WriteReports } from "../StoreHealth.ts"
import * as BatchFailure from "./BatchFailure.ts"
import * as FlushPolicy from "./FlushPolicy.ts"
import type { FlushTimers } from "./FlushTimers.ts"
import { scopeIdOf } from "./HeldQueue.ts"
import { KnownRooms } from "./KnownRooms.ts"
import { type QueuedReservation, type ReserveError, responseTo, unavailable, voidOf } from "./QueuedReservation.ts"
import { ReservationQueue } from "./ReservationQueue.ts"
import { type QueuedSettlement, SettlementQueue } from "./SettlementQueue.ts"

/** About as many as one statement's time limit lets through; more would time out. */
const maxReservations = 4_096
/** Settlements that cannot be written; beyond it reservations fail, and every settlement was once a reservation. */
const maxSettlements = 16_384
/** How long a reservation is tried again while another transaction has a row of its account locked. */
export const maxLockedMillis = 2_000

export interface QueuesDeps {
  readonly timers: TimersShape
  readonly reports: Pick<WriteReports, "delayed" | "failed" | "written">
  readonly fork: (effect: Effect.Effect<void>) => unknown
}

/** Takes over what a batch that has failed because of a lock has of locked accounts, and what else is queued of them. */
export type Isolate = (
  reservations: ReadonlyArray<QueuedReservation>,
  settlements: ReadonlyArray<BatchSettlement>
) => void

/** What one statement writes. */
export interface Batch {
  readonly reservations: ReadonlyArray<QueuedReservation>
  readonly settlements: ReadonlyArray<QueuedSettlement>
  /** There were settlements, which wait for more. */
  readonly isPutOff: boolean
  /** Sequence number of the last settlement that was queued by then. */
  readonly lastSequence: number
}

/** What is put off after a batch: nothing, its settlements, or every statement. */
export type Delay =
  | { readonly _tag: "None" }
  | { readonly _tag: "RetrySettlements"; readonly afterMillis: number }
  | { readonly _tag: "Pause" }

const noDelay: Delay = { _tag: "None" }

/**
 * What the ledger has not decided or written yet, and what becomes of it when a batch has ended. When one is written is up to
 * the `LedgerBatcher`.
 */
export class LedgerQueues {
  private readonly deps: QueuesDeps
  /** Without it, a batch that fails because of a lock is tried again. */
  private readonly isolate: Isolate | undefined
  private readonly reservations: ReservationQueue
  private readonly settlements = new SettlementQueue()
  private readonly rooms = new KnownRooms()
  private closing = false
  private settlementsNext = true
  /** Reservations were refused that settlements of the queue could make room for. */
  private isRoomNeeded = false
  private failureState = BatchFailure.noFailures

  constructor(deps: QueuesDeps, onDue: () => void, isolate: Isolate | undefined) {
    this.deps = deps
    this.isolate = isolate
    this.reservations = new ReservationQueue(deps.timers, onDue)
  }

  /** What waits to be written or for money. */
  get waiting(): { readonly reservations: number; readonly settlements: number } {
    return { reservations: this.reservations.size, settlements: this.settlements.unwritten }
  }

  get isEmpty(): boolean {
    return this.reservations.size + this.settlements.unwritten === 0
  }

  /** Settlements that are queued or being written. */
  get unwritten(): number {
    return this.settlements.unwritten
  }

  /** Why no reservation can be taken now. */
  get closedTo(): string | undefined {
    if (this.closing) return "closing"
    if (this.reservations.size >= maxReservations || this.settlements.size >= maxSettlements) {
      return "too much is waiting"
    }
    return undefined
  }

  add(queued: QueuedReservation): void {
    this.reservations.add(queued)
  }

  /** Its caller has left. True: others are to be decided again. */
  remove(queued: QueuedReservation): boolean {
    this.reservations.remove(queued)
    return this.reservations.isDue
  }

  /** False for a call that is being settled already. */
  settle(settlement: BatchSettlement): boolean {
    if (!this.settlements.add(settlement)) return false
    this.reservations.released(settlement.caller)
    return true
  }

  /** Calls back once all settlements that there are now are written; what it returns ends the wait. */
  whenSettled(resume: () => void): () => void {
    return this.settlements.whenSettled(resume)
  }

  /** No more reservations are taken, and nothing waits for money any longer. */
  close(): void {
    this.closing = true
    for (const queued of this.reservations.stopWaiting()) this.finish(queued, unavailable("closing"))
  }

  state(writing: boolean, { isLate, isRetrying }: Pick<FlushTimers, "isLate" | "isRetrying">): FlushPolicy.QueueState {
    return {
      writing,
      retrying: isRetrying,
      closing: this.closing,
      reservations: this.reservations.ready,
      settlements: this.settlements.size,
      suspect: this.settlements.oldestSequence <= this.failureState.suspectThrough,
      settlementsNext: this.settlementsNext,
      failures: this.failureState.failures,
      maxSettlements: this.failureState.maxSettlements,
      awaited: this.settlements.isAwaited,
      late: isLate,
      wanted: this.isRoomNeeded || this.reservations.isDue,
      // each settlement asks for the state, with up to thousands of reservations queued: 120 us for 1,000 of them
      ample: !writing && this.settlements.size > 0 && this.reservations.fit(this.rooms)
    }
  }

  /** What the next statement writes; `undefined`: nothing. */
  take(size: FlushPolicy.BatchSize): Batch | undefined {
    this.settlementsNext = size.settlements === 0
    if (size.settlements > 0) {
      this.isRoomNeeded = false
      this.rooms.forget()
    }
    const settlements = this.settlements.take(
      FlushPolicy.withinKeptBytes(size.settlements, (index) => this.settlements.keptBytesAt(index))
    )
    this.release(settlements)
    const reservations = size.reservations === 0 ? [] : this.reservations.take()
    if (reservations.length === 0 && settlements.length === 0) return undefined
    return { reservations, settlements, isPutOff: size.isPutOff, lastSequence: this.settlements.lastSequence }
  }

  /** Those that wait in the scopes of these are decided again. */
  private release(settlements: ReadonlyArray<QueuedSettlement>): void {
    if (this.reservations.size === 0) return
    for (const { settlement } of settlements) this.reservations.released(settlement.caller)
  }

  ended(batch: Batch, exit: Exit.Exit<ReadonlyArray<ReservationResult>, BatchFailed>, tookMillis: number): Delay {
    if (Exit.isSuccess(exit)) {
      this.succeeded(batch, exit.value)
      return noDelay
    }
    const failure = Cause.failureOption(exit.cause)
    if (failure._tag === "Some" && failure.value.locked) return this.locked(batch, failure.value)
    const delay = this.failed(batch, exit.cause)
    if (BatchFailure.isOutage(tookMillis)) this.failQueued(exit.cause)
    return delay
  }

  private succeeded(batch: Batch, results: ReadonlyArray<ReservationResult>): void {
    const { isPutOff, lastSequence, reservations, settlements } = batch
    this.deps.reports.written()
    if (settlements.length > 0) {
      this.failureState = BatchFailure.afterWrite(this.failureState)
      this.settlements.settled(settlements)
    }
    const refused: Array<QueuedReservation> = []
    for (const [index, queued] of reservations.entries()) {
      const result = results[index]
      if (isPutOff && !queued.interrupted && result?._tag === "Insufficient") refused.push(queued)
      else this.decided(queued, result)
    }
    // those that wait since did not wait yet when these came
    this.release(this.settlements.after(lastSequence))
    if (refused.length === 0) return
    this.isRoomNeeded = true
    this.reservations.putBack(refused)
  }

  private decided(queued: QueuedReservation, result: ReservationResult | undefined): void {
    const { reservation } = queued
    if (result?._tag === "Granted") {
      this.rooms.grant(reservation.caller, result)
      this.finish(queued, Effect.succeed(result), "granted")
      if (queued.interrupted && !reservation.extends) this.settle(voidOf(reservation))
    } else if (result?._tag === "Insufficient" && reservation.otherOptions !== undefined && !queued.interrupted) {
      this.reservations.decideAgain(queued, scopeIdOf(reservation.caller, result))
    } else if (this.mayWait(queued) && result?._tag === "Insufficient" && result.reason === "held") {
      this.reservations.wait(queued, scopeIdOf(reservation.caller, result))
    } else this.finish(queued, responseTo(reservation, result))
  }

  private mayWait({ interrupted, reservation, isFinal }: QueuedReservation): boolean {
    return reservation.maxWaitMillis > 0 && !isFinal && !interrupted && !this.closing
  }

  private finish(
    queued: QueuedReservation,
    result: Effect.Effect<Granted, ReserveError>,
    state: "granted" | "done" = "done"
  ): void {
    queued.state = state
    this.reservations.remove(queued)
    LedgerMetrics.reserveSeconds((this.deps.timers.now() - queued.queuedAtMillis) / 1_000)
    queued.resume(result)
  }

  private failed({ reservations, settlements }: Batch, cause: Cause.Cause<BatchFailed>): Delay {
    const failure = Cause.failureOption(cause)
    const error = failure._tag === "Some" ? failure.value : undefined
    if (error !== undefined && !this.deps.reports.failed(error.cause) && !error.rejected) {
      this.deps.reports.delayed(error.cause)
    }
    this.settlements.putBack(settlements)
    const isUncertain = error?.uncertain !== false
    for (const queued of reservations) {
      if (BatchFailure.needsVoid(queued.reservation, isUncertain)) this.settle(voidOf(queued.reservation))
      this.finish(queued, unavailable(error?.cause ?? Cause.squash(cause), isUncertain))
    }
    const last = settlements.at(-1)
    if (last === undefined) return noDelay
    const { action, state } = BatchFailure.afterFailure(this.failureState, {
      reservations: reservations.length,
      settlements: settlements.length,
      lastSequence: last.sequence,
      rejected: error?.rejected !== false
    })
    this.failureState = state
    if (action._tag === "Retry") return { _tag: "RetrySettlements", afterMillis: action.afterMillis }
    this.rejectOldest(last, cause)
    return noDelay
  }

  private failQueued(cause: Cause.Cause<BatchFailed>): void {
    for (const queued of this.reservations.removeAll()) this.finish(queued, unavailable(Cause.squash(cause)))
  }

  private rejectOldest(rejected: QueuedSettlement, cause: Cause.Cause<BatchFailed>): void {
    const reduced = BatchFailure.afterRejection(rejected.settlement)
    this.logRejected(rejected, reduced, cause)
    if (reduced === undefined || reduced.without === "charge") LedgerMetrics.settlementDropped()
    this.settlements.take(1)
    if (reduced === undefined) {
      this.failureState = BatchFailure.afterDrop(this.failureState)
      this.settlements.settled([rejected])
    } else this.settlements.putBack([{ ...rejected, settlement: reduced.settlement }])
  }

  private logRejected(
    { settlement }: QueuedSettlement,
    reduced: BatchFailure.Reduced | undefined,
    cause: Cause.Cause<BatchFailed>
  ): void {
    const consequence =
      reduced === undefined ? "its hold will expire" : `it is tried again without its ${reduced.without}`
    this.deps.fork(
      Effect.annotateLogs(
        Effect.logError(`the settlement of a call was rejected; ${consequence}`, cause),
        BatchFailure.figuresOf(settlement)
      )
    )
  }

  /** Nothing of the batch was written. */
  private locked({ reservations, settlements }: Batch, { lockedAccounts }: BatchFailed): Delay {
    this.settlements.putBack(settlements)
    if (this.isolate === undefined) return this.tryAgain(reservations)
    this.handOver(reservations, lockedAccounts ?? accountsOf(reservations, settlements), this.isolate)
    return noDelay
  }

  private tryAgain(reservations: ReadonlyArray<QueuedReservation>): Delay {
    const now = this.deps.timers.now()
    for (const queued of reservations) queued.lockedSinceMillis ??= now
    const [waiting, ended] = Arr.partition(
      reservations,
      (queued) => queued.interrupted || now - (queued.lockedSinceMillis ?? now) >= maxLockedMillis
    )
    this.reservations.putBack(waiting)
    for (const queued of ended) this.finish(queued, Effect.fail(new ServiceRefused({ reason: "overloaded" })))
    return { _tag: "Pause" }
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
