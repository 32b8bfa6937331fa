import * as Arr from "effect/Array"
import type { CallerShape } from "../../domain/Caller.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import { allOptions, maxHeldWaitMillis } from "../Hold.ts"
import { maxPerStatement } from "./FlushPolicy.ts"
import { HeldQueue } from "./HeldQueue.ts"
import type { KnownRooms } from "./KnownRooms.ts"
import type { QueuedReservation } from "./QueuedReservation.ts"

/** How often reservations that wait for held money are decided again, without a settlement of this node: others settle too. */
const heldRetryMillis = 250

/** The reservations that are not decided yet: new ones, and those that wait for money which running calls hold. */
export class ReservationQueue {
  private readonly timers: TimersShape
  private readonly onDue: () => void
  private queued: Array<QueuedReservation> = []
  private readonly held = new HeldQueue<QueuedReservation>()
  private retryTimer: Cancel | undefined

  constructor(timers: TimersShape, onDue: () => void) {
    this.timers = timers
    this.onDue = onDue
  }

  /** How many are queued or wait. */
  get size(): number {
    return this.queued.length + this.held.size
  }

  /** Some that wait are to be decided again. */
  get isDue(): boolean {
    return this.held.isDue
  }

  /** How many a statement could decide; those that wait count as one. */
  get ready(): number {
    return this.queued.length + (this.isDue ? 1 : 0)
  }

  /** Each new one gets what it asks for first, whatever running calls release. */
  fit(rooms: KnownRooms): boolean {
    return rooms.suffice(this.queued.map(({ reservation }) => reservation))
  }

  add(queued: QueuedReservation): void {
    queued.state = "queued"
    this.queued.push(queued)
  }

  /** To be written: first those that wait and are due, then new ones that do not have to wait behind them. */
  take(): ReadonlyArray<QueuedReservation> {
    const taken = [...this.held.take(this.queued.length === 0 ? maxPerStatement : maxPerStatement / 2)]
    let read = 0
    for (const queued of this.queued) {
      if (taken.length >= maxPerStatement) break
      read += 1
      const { caller, maxWaitMillis } = queued.reservation
      const scope = maxWaitMillis > 0 ? this.held.blockedAt(caller) : undefined
      if (scope === undefined) taken.push(queued)
      else this.wait(queued, scope)
    }
    this.queued.splice(0, read)
    for (const queued of taken) {
      queued.state = "sent"
      queued.isFinal = this.held.isFinal(queued)
    }
    return taken
  }

  /** They were not written. */
  putBack(reservations: ReadonlyArray<QueuedReservation>): void {
    for (const queued of reservations) queued.state = this.held.has(queued) ? "waiting" : "queued"
    this.queued = [...reservations.filter(({ state }) => state === "queued"), ...this.queued]
    this.held.allReleased()
  }

  /** Waits for money at this scope, for a bounded time. */
  wait(queued: QueuedReservation, scope: string): void {
    const { caller, maxWaitMillis, onWaiting } = queued.reservation
    queued.state = "waiting"
    this.held.wait(queued, caller, scope)
    this.retryTimer ??= this.timers.after(heldRetryMillis, () => this.retry())
    if (queued.expiry !== undefined) return
    const now = this.timers.now()
    if (queued.expiresAtMillis === undefined) onWaiting?.()
    queued.expiresAtMillis ??= now + Math.min(maxWaitMillis, maxHeldWaitMillis)
    queued.expiry = this.timers.after(queued.expiresAtMillis - now, () => {
      this.held.expired(queued)
      this.onDue()
    })
  }

  /** With all of its options, in the next statement; later ones of the scope stay behind it. */
  decideAgain(queued: QueuedReservation, scope: string): void {
    const { otherOptions: _, ...reservation } = queued.reservation
    queued.reservation = { ...reservation, options: allOptions(queued.reservation) }
    queued.state = "waiting"
    this.held.decideNext(queued, reservation.caller, scope)
  }

  /** A hold of this caller ends. */
  released(caller: CallerShape): void {
    this.held.released(caller)
  }

  /** It is decided, or its caller has left. */
  remove(queued: QueuedReservation): void {
    if (queued.state === "queued") this.queued = this.queued.filter((other) => other !== queued)
    else this.held.remove(queued)
    queued.expiry?.()
    queued.expiry = undefined
  }

  /** Those of these callers leave the queue, which waited for money first. */
  takeOf(isTheirs: (reservation: { readonly caller: CallerShape }) => boolean): ReadonlyArray<QueuedReservation> {
    const waiting = this.held.all().filter(({ reservation }) => isTheirs(reservation))
    for (const queued of waiting) this.remove(queued)
    const [kept, queued] = Arr.partition(this.queued, ({ reservation }) => isTheirs(reservation))
    this.queued = kept
    return [...waiting, ...queued]
  }

  /** Nothing waits for money any longer. Returns what did; what has been sent is still decided. */
  stopWaiting(): ReadonlyArray<QueuedReservation> {
    return this.held.removeAll().filter(({ state }) => state === "waiting")
  }

  removeAll(): ReadonlyArray<QueuedReservation> {
    return [...this.held.removeAll(), ...this.queued.splice(0)]
  }

  private retry(): void {
    this.retryTimer = this.held.size === 0 ? undefined : this.timers.after(heldRetryMillis, () => this.retry())
    this.held.allReleased()
    if (this.isDue) this.onDue()
  }
}
