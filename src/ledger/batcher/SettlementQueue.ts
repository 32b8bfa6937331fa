import * as Arr from "effect/Array"
import type { CallerShape } from "../../domain/Caller.ts"
import type { BatchSettlement } from "../LedgerStore.ts"

export interface QueuedSettlement {
  readonly settlement: BatchSettlement
  /** In the order of arrival. */
  readonly sequence: number
}

/** Resumed once every settlement up to `through` has been written. */
interface Waiter {
  readonly through: number
  readonly resume: () => void
}

/** The settlements that are not written yet: those that are queued, and those whose statement runs. */
export class SettlementQueue {
  private queued: Array<QueuedSettlement> = []
  /** Their calls: the first settlement of a call counts. */
  private readonly settling = new Set<string>()
  private last = 0
  private waiters: Array<Waiter> = []

  /** How many are queued. */
  get size(): number {
    return this.queued.length
  }

  /** How many are queued or being written. */
  get unwritten(): number {
    return this.settling.size
  }

  /** A caller waits until they are written. */
  get isAwaited(): boolean {
    return this.waiters.length > 0
  }

  /** Of those that are queued; infinite without any. */
  get oldestSequence(): number {
    return this.queued[0]?.sequence ?? Number.POSITIVE_INFINITY
  }

  /** Of those that have ever been queued. */
  get lastSequence(): number {
    return this.last
  }

  /** Those that are queued and came later. */
  after(sequence: number): ReadonlyArray<QueuedSettlement> {
    return this.last === sequence ? [] : this.queued.filter((queued) => queued.sequence > sequence)
  }

  /** The size of the response that it keeps. */
  keptBytesAt(index: number): number {
    return this.queued[index]?.settlement.kept?.sealed.length ?? 0
  }

  /** False for a call that is being settled already. */
  add(settlement: BatchSettlement): boolean {
    if (this.settling.has(settlement.callId)) return false
    this.settling.add(settlement.callId)
    this.last += 1
    this.queued.push({ settlement, sequence: this.last })
    return true
  }

  /** The oldest, to be written. */
  take(count: number): ReadonlyArray<QueuedSettlement> {
    return this.queued.splice(0, count)
  }

  /** They were not written. */
  putBack(settlements: ReadonlyArray<QueuedSettlement>): void {
    this.queued = [...settlements, ...this.queued]
  }

  /** Those of these callers leave the queue. */
  takeOf(isTheirs: (settlement: { readonly caller: CallerShape }) => boolean): ReadonlyArray<QueuedSettlement> {
    const [kept, theirs] = Arr.partition(this.queued, ({ settlement }) => isTheirs(settlement))
    this.queued = kept
    return theirs
  }

  /** They are settled here: written, handed over, or left out. */
  settled(settlements: ReadonlyArray<QueuedSettlement>): void {
    for (const queued of settlements) this.settling.delete(queued.settlement.callId)
    if (this.waiters.length === 0) return
    const oldest = this.oldestSequence
    const ready = this.waiters.filter((waiter) => waiter.through < oldest)
    this.waiters = this.waiters.filter((waiter) => waiter.through >= oldest)
    for (const waiter of ready) waiter.resume()
  }

  /** Calls back once all that there are now are settled; what it returns ends the wait. */
  whenSettled(resume: () => void): () => void {
    const waiter: Waiter = { through: this.last, resume }
    this.waiters.push(waiter)
    return () => {
      this.waiters = this.waiters.filter((other) => other !== waiter)
    }
  }
}
