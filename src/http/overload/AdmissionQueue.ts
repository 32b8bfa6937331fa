import { type Entry, FifoQueue } from "../../domain/FifoQueue.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import { AdaptiveLimit } from "./AdaptiveLimit.ts"
import { OverloadDetector } from "./OverloadDetector.ts"
import { TurnQuota } from "./TurnQuota.ts"

/** Maximum expected wait of a call while the node is overloaded; a call that would wait longer is rejected at once. */
const maxWaitMillis = 10
/** Maximum wait of a call during a burst, while the node does not yet count as overloaded. */
export const maxBurstWaitMillis = 2_000
/** Below the maximum wait, however slow the preparation is: what waits until then is rejected at the price of a call. */
const maxLateMillis = maxBurstWaitMillis / 2
const tickMillis = 50
/**
 * This many calls may wait at any rate. A rejection costs about a tenth of a call: on a slow node it is better to let some calls
 * wait, and clients with a bounded number of connections then send fewer requests.
 */
const minQueued = 30
/** How much longer the queue may become by calls of tenants that have less than their share: it shrinks without a rejection. */
const excessTolerance = 1.5
/** Bound on all waiting calls, whose requests are in memory. */
export const maxQueued = 8_192
/** A tenant may hold this many times the free slots: a tenant whose calls are stuck leaves a fifth of the slots to others. */
const shareOfFree = 4
export interface AdmissionQueueOptions {
  readonly timers: TimersShape
  readonly minLimit?: number | undefined
  /** The node has become overloaded, or is no longer overloaded. */
  readonly onOverload: (overloaded: boolean) => void
  readonly onWaited: (millis: number) => void
  /** Calls wait for the next turn of the event loop: `turn` must be called then. */
  readonly onTurnNeeded: () => void
  readonly onRejected: () => void
  readonly onAdmitted: () => void
  /** The number of waiting calls and of slots: at each change of the limit, and regularly while calls wait. */
  readonly onChanged: (queued: number, slots: number) => void
}

/** A call in the queue. */
export class QueueEntry {
  state: "waiting" | "admitted" | "rejected" | "left" = "waiting"
  sinceMillis: number
  readonly tenant: Tenant
  /** Called once, when a waiting call is admitted or rejected. */
  decided: (() => void) | undefined
  /** By which it leaves the queue of its tenant. */
  waiting: Entry<QueueEntry> | undefined
  private readonly queue: AdmissionQueue

  constructor(queue: AdmissionQueue, tenant: Tenant, nowMillis: number) {
    this.queue = queue
    this.tenant = tenant
    this.sinceMillis = nowMillis
  }

  /** The call has been prepared: its slot is free, and the time it took is a sample for the limit. */
  readonly prepared = (): void => this.queue.leave(this, true)

  /** The call has ended, in any state. Idempotent. */
  readonly leave = (): void => this.queue.leave(this, false)
}

interface Tenant {
  readonly id: string
  held: number
  /** Calls accepted since the last tick whose bodies are being read. */
  reading: number
  /** In order of arrival. */
  readonly waiting: FifoQueue<QueueEntry>
}

/**
 * Bounds the calls in preparation. Other calls wait in a queue per tenant; the queues are served round-robin. A node with a
 * standing queue is overloaded, and rejects calls instead of letting them wait.
 */
export class AdmissionQueue {
  queued = 0
  private readonly options: AdmissionQueueOptions
  private readonly limit: AdaptiveLimit
  private readonly quota = new TurnQuota()
  private readonly detector: OverloadDetector
  private readonly tenants = new Map<string, Tenant>()
  /** Tenants with waiting calls, the next to be served first. */
  private readonly turns = new Set<Tenant>()
  private held = 0
  private timer: Cancel | undefined

  constructor(options: AdmissionQueueOptions) {
    this.options = options
    this.limit = new AdaptiveLimit(options.minLimit)
    this.detector = new OverloadDetector({ maxLateMillis, onOverload: options.onOverload })
  }

  get isOverloaded(): boolean {
    return this.detector.isOverloaded
  }

  get slots(): number {
    return this.limit.value
  }

  /** Whether a call of this tenant must be rejected now; checked before its body is read. */
  rejects(tenantId: string): boolean {
    if (!this.isOverloaded) return false
    const tenant = this.tenants.get(tenantId)
    if (tenant === undefined) return false
    // all requests of one turn of the event loop are checked before the first of them enters
    const free = this.mayHold(tenant) ? Math.min(this.limit.value - this.held, this.quota.left) : 0
    if (tenant.waiting.size + tenant.reading < this.maxLengthOf(tenant) + free) {
      tenant.reading += 1
      return false
    }
    this.countRejection()
    return true
  }

  enter(tenantId: string): QueueEntry {
    const { timers } = this.options
    let tenant = this.tenants.get(tenantId)
    if (tenant === undefined) {
      tenant = { id: tenantId, held: 0, reading: 0, waiting: new FifoQueue() }
      this.tenants.set(tenantId, tenant)
    }
    if (tenant.reading > 0) tenant.reading -= 1
    this.detector.arrived()
    const entry = new QueueEntry(this, tenant, timers.now())
    if (tenant.waiting.size === 0 && this.mayHold(tenant) && !this.quota.isUsedUp) {
      this.hold(entry)
    } else if (tenant.waiting.size > 0 && this.mustReject(tenant)) {
      entry.state = "rejected"
      this.countRejection()
    } else this.wait(entry)
    return entry
  }

  leave(entry: QueueEntry, prepared: boolean): void {
    const { state, tenant } = entry
    entry.state = "left"
    if (state === "waiting") this.removeWaiting(entry)
    else if (state === "admitted") {
      tenant.held -= 1
      this.held -= 1
      if (prepared) {
        const now = this.options.timers.now()
        const before = this.limit.value
        this.limit.add(now, now - entry.sinceMillis, this.held, this.queued > 0)
        if (this.limit.value !== before) this.options.onChanged(this.queued, this.limit.value)
      }
      if (this.queued > 0) this.admitWaiting()
    }
    this.forgetIfIdle(tenant)
  }

  /** A turn of the event loop begins; `fibersMillis` is the time of the fibers of the preceding turn. */
  turn(fibersMillis: number): void {
    this.quota.turn(fibersMillis)
    if (this.queued > 0) this.admitWaiting()
  }

  stop(): void {
    this.timer?.()
    this.timer = undefined
  }

  private mayHold(tenant: Tenant): boolean {
    return tenant.held < shareOfFree * (this.limit.value - this.held)
  }

  private mustReject(tenant: Tenant): boolean {
    if (this.queued >= maxQueued) return true
    return this.isOverloaded && tenant.waiting.size >= this.maxLengthOf(tenant)
  }

  /** How many calls of a tenant may wait: an equal share of what can be served in the allowed wait, and what others leave of theirs. */
  private maxLengthOf(tenant: Tenant, factor = 1): number {
    const all = Math.floor(factor * Math.max(maxWaitMillis * this.detector.ratePerMilli, minQueued))
    const share = Math.floor(all / Math.max(1, this.turns.size))
    return Math.max(1, share, tenant.waiting.size + all - this.queued)
  }

  /** A tenant that is entered anew has the same id: the calls of its predecessor may still end. */
  private forgetIfIdle(tenant: Tenant): void {
    if (tenant.held > 0 || tenant.waiting.size > 0) return
    if (this.tenants.get(tenant.id) === tenant) this.tenants.delete(tenant.id)
  }

  private hold(entry: QueueEntry): void {
    this.quota.use()
    this.detector.departed()
    this.options.onAdmitted()
    entry.state = "admitted"
    entry.tenant.held += 1
    this.held += 1
  }

  private wait(entry: QueueEntry): void {
    const { tenant } = entry
    if (this.queued >= maxQueued) this.dropFromLongest()
    entry.waiting = tenant.waiting.add(entry)
    this.turns.add(tenant)
    this.queued += 1
    if (this.quota.isUsedUp) this.options.onTurnNeeded()
    if (this.timer === undefined) {
      this.detector.begin(entry.sinceMillis)
      this.nextTick()
    }
  }

  /** Serves the tenants round-robin, until no slot is free or no tenant may hold another slot. */
  private admitWaiting(): void {
    let passedOver = 0
    const now = this.options.timers.now()
    while (passedOver < this.turns.size && this.held < this.limit.value) {
      if (this.quota.isUsedUp) {
        this.options.onTurnNeeded()
        return
      }
      const [tenant] = this.turns
      const first = tenant?.waiting.first
      if (tenant === undefined || first === undefined) return
      const entry = first.value
      this.turns.delete(tenant)
      if (this.mayHold(tenant)) {
        passedOver = 0
        tenant.waiting.remove(first)
        this.queued -= 1
        this.options.onWaited(now - entry.sinceMillis)
        entry.sinceMillis = now
        this.hold(entry)
        entry.decided?.()
      } else passedOver += 1
      if (tenant.waiting.size > 0) this.turns.add(tenant)
    }
  }

  private removeWaiting(entry: QueueEntry): void {
    const { tenant, waiting } = entry
    if (waiting !== undefined) tenant.waiting.remove(waiting)
    this.queued -= 1
    if (tenant.waiting.size === 0) this.turns.delete(tenant)
  }

  private reject(entry: QueueEntry): void {
    entry.state = "rejected"
    this.removeWaiting(entry)
    this.forgetIfIdle(entry.tenant)
    this.countRejection()
    entry.decided?.()
  }

  private countRejection(): void {
    this.detector.rejected()
    this.options.onRejected()
  }

  private dropFromLongest(): void {
    let longest: Tenant | undefined
    for (const tenant of this.turns) {
      if (longest === undefined || tenant.waiting.size > longest.waiting.size) longest = tenant
    }
    const last = longest?.waiting.last
    if (last !== undefined) this.reject(last.value)
  }

  private nextTick(): void {
    this.timer = this.options.timers.after(tickMillis, () => {
      this.timer = undefined
      this.tick()
      if (this.queued > 0 || this.isOverloaded) this.nextTick()
      else this.detector.reset()
    })
  }

  private tick(): void {
    const nowMillis = this.options.timers.now()
    for (const tenant of this.tenants.values()) tenant.reading = 0
    this.rejectTooOld(nowMillis - maxBurstWaitMillis)
    this.detector.tick({
      nowMillis,
      isQueued: this.queued > 0,
      waitedMillis: nowMillis - this.oldestMillis(),
      latencyMillis: this.limit.minimumMillis
    })
    if (this.isOverloaded) this.shorten(nowMillis)
    this.detector.forgetRejections()
    if (this.queued > 0) this.admitWaiting()
    this.options.onChanged(this.queued, this.limit.value)
  }

  private oldestMillis(): number {
    let oldest = Number.POSITIVE_INFINITY
    for (const { waiting } of this.turns) {
      oldest = Math.min(oldest, waiting.first?.value.sinceMillis ?? Number.POSITIVE_INFINITY)
    }
    return oldest
  }

  private rejectTooOld(sinceMillis: number): void {
    for (const tenant of [...this.turns]) {
      for (const entry of tenant.waiting.values()) {
        if (entry.sinceMillis > sinceMillis) break
        this.reject(entry)
      }
    }
  }

  /**
   * Rejects as many calls of each tenant as cannot be served in time: first those that have already waited too long, then those
   * that came last.
   */
  private shorten(now: number): void {
    for (const tenant of [...this.turns]) {
      const entries = tenant.waiting.values()
      const excess = entries.length - this.maxLengthOf(tenant, excessTolerance)
      if (excess <= 0) continue
      const young = entries.findIndex((entry) => now - entry.sinceMillis < maxWaitMillis)
      const old = Math.min(excess, young < 0 ? entries.length : young)
      for (const entry of entries.slice(0, old)) this.reject(entry)
      for (const entry of entries.slice(entries.length - (excess - old))) this.reject(entry)
    }
  }
}
