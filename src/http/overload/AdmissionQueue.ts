import { type Entry, FifoQueue } from "../../domain/FifoQueue.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import { AdaptiveLimit } from "./AdaptiveLimit.ts"
import { TurnQuota } from "./TurnQuota.ts"

/** Maximum expected wait of a call while the node is overloaded; a call that would wait longer is rejected at once. */
const maxWaitMillis = 10
/** Maximum wait of a call during a burst, while the node does not yet count as overloaded. */
export const maxBurstWaitMillis = 2_000
/**
 * A wait from which on a node may be overloaded, or three times the latency of the preparation where that is more. Far above the
 * wait that is allowed then: a few hundred clients that wait for their answers make a node busy, and need no rejections.
 */
const minLateMillis = 75
const latencyFactor = 3
/** Below the maximum wait, however slow the preparation is: what waits until then is rejected at the price of a call. */
const maxLateMillis = maxBurstWaitMillis / 2
/** For this time calls must wait that long while others arrive, before the node counts as overloaded. */
const sustainedMillis = 100
/** For this time no call must have been rejected or waited too long, before the node no longer counts as overloaded. */
const calmMillis = 300
/** Where fewer calls arrive for each that is served, a burst is over and is being processed. */
const minArrivals = 0.5
/**
 * A node that has just started gets several times faster with the first calls, which it serves while its code is compiled: only
 * calls that have waited too long are rejected.
 */
export const warmUpCalls = 5_000
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
/** A measured rate decays over about two seconds: a stall does not indicate the capacity of the node. */
const rateDecay = 0.975

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
  isOverloaded = false
  queued = 0
  private readonly options: AdmissionQueueOptions
  private readonly limit: AdaptiveLimit
  private readonly quota = new TurnQuota()
  private readonly tenants = new Map<string, Tenant>()
  /** Tenants with waiting calls, the next to be served first. */
  private readonly turns = new Set<Tenant>()
  private held = 0
  private timer: Cancel | undefined
  private arrivals = 0
  private departures = 0
  private admitted = 0
  private ratePerMilli = 0
  private tickedAtMillis = 0
  private lateSinceMillis: number | undefined
  private hasRejected = false

  constructor(options: AdmissionQueueOptions) {
    this.options = options
    this.limit = new AdaptiveLimit(options.minLimit)
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
    this.arrivals += 1
    const place = new QueueEntry(this, tenant, timers.now())
    if (tenant.waiting.size === 0 && this.mayHold(tenant) && !this.quota.isUsedUp) {
      this.departures += 1
      this.hold(place)
    } else if (tenant.waiting.size > 0 && this.mustReject(tenant)) {
      place.state = "rejected"
      this.countRejection()
    } else this.wait(place)
    return place
  }

  leave(place: QueueEntry, prepared: boolean): void {
    const { state, tenant } = place
    place.state = "left"
    if (state === "waiting") this.removeWaiting(place)
    else if (state === "admitted") {
      tenant.held -= 1
      this.held -= 1
      if (prepared) {
        const now = this.options.timers.now()
        const before = this.limit.value
        this.limit.add(now, now - place.sinceMillis, this.held, this.queued > 0)
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
    const all = Math.floor(factor * Math.max(maxWaitMillis * this.ratePerMilli, minQueued))
    const share = Math.floor(all / Math.max(1, this.turns.size))
    return Math.max(1, share, tenant.waiting.size + all - this.queued)
  }

  /** A tenant that is entered anew has the same id: the calls of its predecessor may still end. */
  private forgetIfIdle(tenant: Tenant): void {
    if (tenant.held > 0 || tenant.waiting.size > 0) return
    if (this.tenants.get(tenant.id) === tenant) this.tenants.delete(tenant.id)
  }

  private hold(place: QueueEntry): void {
    this.quota.use()
    this.admitted += 1
    this.options.onAdmitted()
    place.state = "admitted"
    place.tenant.held += 1
    this.held += 1
  }

  private wait(place: QueueEntry): void {
    const { tenant } = place
    if (this.queued >= maxQueued) this.dropFromLongest()
    place.waiting = tenant.waiting.add(place)
    this.turns.add(tenant)
    this.queued += 1
    if (this.quota.isUsedUp) this.options.onTurnNeeded()
    if (this.timer === undefined) {
      this.tickedAtMillis = place.sinceMillis
      this.arrivals = 0
      this.departures = 0
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
      const place = first.value
      this.turns.delete(tenant)
      if (this.mayHold(tenant)) {
        passedOver = 0
        tenant.waiting.remove(first)
        this.queued -= 1
        this.departures += 1
        this.options.onWaited(now - place.sinceMillis)
        place.sinceMillis = now
        this.hold(place)
        place.decided?.()
      } else passedOver += 1
      if (tenant.waiting.size > 0) this.turns.add(tenant)
    }
  }

  private removeWaiting(place: QueueEntry): void {
    const { tenant, waiting } = place
    if (waiting !== undefined) tenant.waiting.remove(waiting)
    this.queued -= 1
    if (tenant.waiting.size === 0) this.turns.delete(tenant)
  }

  private reject(place: QueueEntry): void {
    place.state = "rejected"
    this.removeWaiting(place)
    this.forgetIfIdle(place.tenant)
    this.countRejection()
    place.decided?.()
  }

  private countRejection(): void {
    this.hasRejected = true
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
      else {
        this.lateSinceMillis = undefined
        this.ratePerMilli = 0
      }
    })
  }

  private tick(): void {
    const now = this.options.timers.now()
    // without a queue the departures measure the demand, not the capacity
    if (this.queued > 0 || this.hasRejected) this.measureRate(this.departures / Math.max(1, now - this.tickedAtMillis))
    this.tickedAtMillis = now
    for (const tenant of this.tenants.values()) tenant.reading = 0
    this.rejectTooOld(now - maxBurstWaitMillis)
    this.judge(now)
    this.arrivals = 0
    this.departures = 0
    if (this.isOverloaded) this.shorten(now)
    this.hasRejected = false
    if (this.queued > 0) this.admitWaiting()
    this.options.onChanged(this.queued, this.limit.value)
  }

  private measureRate(perMilli: number): void {
    this.ratePerMilli = Math.max(perMilli, rateDecay * this.ratePerMilli)
  }

  private judge(now: number): void {
    const late = now - this.oldestMillis() >= this.lateMillis()
    if (this.isOverloaded) {
      if (late || this.hasRejected) this.lateSinceMillis = now
      // rejections keep the queue short: only without rejections does the demand fit the capacity
      else if (now - (this.lateSinceMillis ?? now) >= calmMillis) this.overload(false)
    } else if (!late || this.admitted < warmUpCalls || this.arrivals <= minArrivals * this.departures) {
      this.lateSinceMillis = undefined
    } else {
      this.lateSinceMillis ??= now
      if (now - this.lateSinceMillis >= sustainedMillis) this.overload(true)
    }
  }

  private lateMillis(): number {
    const { minimumMillis } = this.limit
    if (!Number.isFinite(minimumMillis)) return minLateMillis
    return Math.min(maxLateMillis, Math.max(minLateMillis, latencyFactor * minimumMillis))
  }

  private overload(overloaded: boolean): void {
    this.isOverloaded = overloaded
    this.lateSinceMillis = overloaded ? this.options.timers.now() : undefined
    this.options.onOverload(overloaded)
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
      for (const place of tenant.waiting.values()) {
        if (place.sinceMillis > sinceMillis) break
        this.reject(place)
      }
    }
  }

  /**
   * Rejects as many calls of each tenant as cannot be served in time: first those that have already waited too long, then those
   * that came last.
   */
  private shorten(now: number): void {
    for (const tenant of [...this.turns]) {
      const places = tenant.waiting.values()
      const excess = places.length - this.maxLengthOf(tenant, excessTolerance)
      if (excess <= 0) continue
      const young = places.findIndex((place) => now - place.sinceMillis < maxWaitMillis)
      const old = Math.min(excess, young < 0 ? places.length : young)
      for (const place of places.slice(0, old)) this.reject(place)
      for (const place of places.slice(places.length - (excess - old))) this.reject(place)
    }
  }
}
