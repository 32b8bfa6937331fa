import type { Cancel, TimersShape } from "../domain/Timers.ts"
import { AdaptiveLimit } from "./AdaptiveLimit.ts"
import { TurnQuota } from "./TurnQuota.ts"

/** What a call may expect to wait while the node is overloaded; who would wait longer is refused at once. */
export const maxWaitMillis = 30
/** What a call of a burst may wait before the node counts as overloaded. */
export const maxBurstWaitMillis = 2_000
/** For so long calls have to wait too long, in a queue that does not shrink, until the node is overloaded. */
const sustainedMillis = 300
const tickMillis = 100
/** A queue that has lost a tenth of its length since calls began to wait is a burst that is being worked off. */
const shrinking = 0.9
/**
 * So many may wait however low the rate is. A refusal costs about a fifth of a call: on a slow node it is better to let some
 * wait, and clients with a bounded number of connections then send less.
 */
const minQueued = 40
/** All waiting calls: their requests are in memory. */
export const maxQueued = 8_192
/** A tenant may hold so many times the free slots: whose calls are stuck leaves a fifth of the slots to the others. */
const shareOfFree = 4
/** The rate that was reached is believed for about two seconds: a stall says nothing about what the node can do. */
const rateDecay = 0.95

export interface AdmissionQueueOptions {
  readonly timers: TimersShape
  /** The node begins to be overloaded, or is so no longer. */
  readonly onOverload: (overloaded: boolean) => void
  readonly onWaited: (millis: number) => void
  /** Calls wait for the next turn of the event loop: `turn` has to be called in it. */
  readonly onTurnNeeded: () => void
  readonly onRefused: () => void
  readonly onAdmitted: () => void
  /** How many wait and how many slots there are: at each change of the limit, and regularly while calls wait. */
  readonly onChanged: (queued: number, slots: number) => void
}

/** One call's way through the queue. */
export class Place {
  state: "waiting" | "admitted" | "refused" | "left" = "waiting"
  sinceMillis: number
  readonly tenant: Tenant
  /** Called once, when a call that had to wait is admitted or refused. */
  decided: (() => void) | undefined
  private readonly queue: AdmissionQueue

  constructor(queue: AdmissionQueue, tenant: Tenant, nowMillis: number) {
    this.queue = queue
    this.tenant = tenant
    this.sinceMillis = nowMillis
  }

  /** The call has been prepared: its slot is free, and the time it took is a sample for the limit. */
  readonly prepared = (): void => this.queue.leave(this, true)

  /** The call is over, wherever it was. Harmless when it has left before. */
  readonly leave = (): void => this.queue.leave(this, false)
}

interface Tenant {
  readonly id: string
  held: number
  /** Calls let in since the last tick whose bodies are being read. */
  reading: number
  /** In order of arrival. */
  readonly waiting: Set<Place>
}

/**
 * Bounds the calls that prepare at once. Who has to wait does so in a queue per tenant; the queues are served in turn. A
 * node whose queue has become a standing one is overloaded, and refuses calls instead of letting them wait.
 */
export class AdmissionQueue {
  isOverloaded = false
  queued = 0
  private readonly options: AdmissionQueueOptions
  private readonly limit = new AdaptiveLimit()
  private readonly quota = new TurnQuota()
  private readonly tenants = new Map<string, Tenant>()
  /** Tenants with waiting calls, the next to be served first. */
  private readonly turns = new Set<Tenant>()
  private held = 0
  private timer: Cancel | undefined
  private departures = 0
  private ratePerMilli = 0
  private tickedAtMillis = 0
  private lateSinceMillis: number | undefined
  private lengthThen = 0
  private hasRefused = false

  constructor(options: AdmissionQueueOptions) {
    this.options = options
  }

  get slots(): number {
    return this.limit.value
  }

  /** Whether a call of this tenant would be refused now; asked before its body is read. */
  refuses(tenantId: string): boolean {
    if (!this.isOverloaded) return false
    const tenant = this.tenants.get(tenantId)
    if (tenant === undefined) return false
    // all requests of a turn of the event loop are asked about before the first of them enters
    const free = this.mayHold(tenant) ? Math.min(this.limit.value - this.held, this.quota.left) : 0
    if (tenant.waiting.size + tenant.reading < this.maxLength() + free) {
      tenant.reading += 1
      return false
    }
    this.refused()
    return true
  }

  enter(tenantId: string): Place {
    const { timers } = this.options
    let tenant = this.tenants.get(tenantId)
    if (tenant === undefined) {
      tenant = { id: tenantId, held: 0, reading: 0, waiting: new Set() }
      this.tenants.set(tenantId, tenant)
    }
    if (tenant.reading > 0) tenant.reading -= 1
    const place = new Place(this, tenant, timers.now())
    if (tenant.waiting.size === 0 && this.mayHold(tenant) && !this.quota.isUsedUp) {
      this.departures += 1
      this.hold(place)
    } else if (tenant.waiting.size > 0 && this.mustRefuse(tenant)) {
      place.state = "refused"
      this.refused()
    } else this.wait(place)
    return place
  }

  leave(place: Place, prepared: boolean): void {
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
    if (tenant.held === 0 && tenant.waiting.size === 0) this.tenants.delete(tenant.id)
  }

  /** A turn of the event loop begins; the fibers of the one before have taken so long. */
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

  private mustRefuse(tenant: Tenant): boolean {
    if (this.queued >= maxQueued) return true
    return this.isOverloaded && tenant.waiting.size >= this.maxLength()
  }

  /** The waiting calls of a tenant that can expect to be served within the allowed wait. */
  private maxLength(): number {
    const all = Math.max(maxWaitMillis * this.ratePerMilli, minQueued)
    return Math.max(1, Math.floor(all / Math.max(1, this.turns.size)))
  }

  private hold(place: Place): void {
    this.quota.use()
    this.options.onAdmitted()
    place.state = "admitted"
    place.tenant.held += 1
    this.held += 1
  }

  private wait(place: Place): void {
    const { tenant } = place
    if (this.queued >= maxQueued) this.dropFromLongest()
    tenant.waiting.add(place)
    this.turns.add(tenant)
    this.queued += 1
    if (this.quota.isUsedUp) this.options.onTurnNeeded()
    if (this.timer === undefined) {
      this.tickedAtMillis = place.sinceMillis
      this.departures = 0
      this.nextTick()
    }
  }

  /** Round after round of the tenants, until no slot is free or none of them may have one. */
  private admitWaiting(): void {
    let passedOver = 0
    const now = this.options.timers.now()
    while (passedOver < this.turns.size && this.held < this.limit.value) {
      if (this.quota.isUsedUp) {
        this.options.onTurnNeeded()
        return
      }
      const [tenant] = this.turns
      const [place] = tenant?.waiting ?? []
      if (tenant === undefined || place === undefined) return
      this.turns.delete(tenant)
      if (this.mayHold(tenant)) {
        passedOver = 0
        tenant.waiting.delete(place)
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

  private removeWaiting(place: Place): void {
    const { tenant } = place
    tenant.waiting.delete(place)
    this.queued -= 1
    if (tenant.waiting.size === 0) this.turns.delete(tenant)
  }

  private refuse(place: Place): void {
    place.state = "refused"
    this.removeWaiting(place)
    if (place.tenant.held === 0 && place.tenant.waiting.size === 0) this.tenants.delete(place.tenant.id)
    this.refused()
    place.decided?.()
  }

  private refused(): void {
    this.hasRefused = true
    this.options.onRefused()
  }

  private dropFromLongest(): void {
    let longest: Tenant | undefined
    for (const tenant of this.turns) {
      if (longest === undefined || tenant.waiting.size > longest.waiting.size) longest = tenant
    }
    const last = [...(longest?.waiting ?? [])].at(-1)
    if (last !== undefined) this.refuse(last)
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
    // without a queue the departures are the demand and not what the node can do
    if (this.queued > 0 || this.hasRefused) this.measureRate(this.departures / Math.max(1, now - this.tickedAtMillis))
    this.departures = 0
    this.tickedAtMillis = now
    for (const tenant of this.tenants.values()) tenant.reading = 0
    this.refuseTooOld(now - maxBurstWaitMillis)
    this.judge(now)
    if (this.isOverloaded) this.shorten(now)
    this.hasRefused = false
    if (this.queued > 0) this.admitWaiting()
    this.options.onChanged(this.queued, this.limit.value)
  }

  private measureRate(perMilli: number): void {
    this.ratePerMilli = Math.max(perMilli, rateDecay * this.ratePerMilli)
  }

  private judge(now: number): void {
    const late = now - this.oldestMillis() >= maxWaitMillis
    if (this.isOverloaded) {
      if (late || this.hasRefused) this.lateSinceMillis = now
      // refusals keep the queue short: only when there are none does the demand fit
      else if (now - (this.lateSinceMillis ?? now) >= sustainedMillis) this.overload(false)
    } else if (!late) this.lateSinceMillis = undefined
    else if (this.lateSinceMillis === undefined || this.queued <= shrinking * this.lengthThen) {
      this.lateSinceMillis = now
      this.lengthThen = this.queued
    } else if (now - this.lateSinceMillis >= sustainedMillis) this.overload(true)
  }

  private overload(overloaded: boolean): void {
    this.isOverloaded = overloaded
    this.lateSinceMillis = overloaded ? this.options.timers.now() : undefined
    this.options.onOverload(overloaded)
  }

  private oldestMillis(): number {
    let oldest = Number.POSITIVE_INFINITY
    for (const tenant of this.turns) {
      for (const place of tenant.waiting) {
        oldest = Math.min(oldest, place.sinceMillis)
        break
      }
    }
    return oldest
  }

  private refuseTooOld(sinceMillis: number): void {
    for (const tenant of [...this.turns]) {
      for (const place of [...tenant.waiting]) {
        if (place.sinceMillis > sinceMillis) break
        this.refuse(place)
      }
    }
  }

  /**
   * Refuses as many calls of each tenant as cannot expect to be served in time: first those that have waited too long
   * already, whose answers would be the slowest, then those that came last.
   */
  private shorten(now: number): void {
    const most = this.maxLength()
    for (const tenant of [...this.turns]) {
      const places = [...tenant.waiting]
      const excess = places.length - most
      if (excess <= 0) continue
      const young = places.findIndex((place) => now - place.sinceMillis < maxWaitMillis)
      const old = Math.min(excess, young < 0 ? places.length : young)
      for (const place of places.slice(0, old)) this.refuse(place)
      for (const place of places.slice(places.length - (excess - old))) this.refuse(place)
    }
  }
}
