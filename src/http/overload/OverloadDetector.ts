/**
 * A wait from which on a node may be overloaded, or three times the latency of the preparation where that is more. Far above the
 * wait that is allowed then: a few hundred clients that wait for their answers make a node busy, and need no rejections.
 */
const minLateMillis = 75
const latencyFactor = 3
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
/** A measured rate decays over about two seconds: a stall does not indicate the capacity of the node. */
const rateDecay = 0.975

export interface OverloadDetectorOptions {
  /** Below the maximum wait, however slow the preparation is: what waits until then is rejected at the price of a call. */
  readonly maxLateMillis: number
  /** The node has become overloaded, or is no longer overloaded. */
  readonly onOverload: (overloaded: boolean) => void
}

/** What the queue shows at a tick. */
export interface QueueView {
  readonly nowMillis: number
  readonly isQueued: boolean
  /** Of the call that waits longest; negative infinity when none waits. */
  readonly waitedMillis: number
  /** The least that the preparation of a call takes; infinite before it has been measured. */
  readonly latencyMillis: number
}

/** Tells from arrivals, departures and waits whether a node is overloaded, and how much it can serve. */
export class OverloadDetector {
  private readonly options: OverloadDetectorOptions
  private overloaded = false
  private rate = 0
  private arrivals = 0
  private departures = 0
  private admissions = 0
  private tickedAtMillis = 0
  private lateSinceMillis: number | undefined
  private hasRejected = false

  constructor(options: OverloadDetectorOptions) {
    this.options = options
  }

  get isOverloaded(): boolean {
    return this.overloaded
  }

  /** Calls that the node serves in a millisecond. */
  get ratePerMilli(): number {
    return this.rate
  }

  arrived(): void {
    this.arrivals += 1
  }

  /** A call has left the queue for a slot, or has found one free. */
  departed(): void {
    this.departures += 1
    this.admissions += 1
  }

  rejected(): void {
    this.hasRejected = true
  }

  /** A queue begins: arrivals and departures are counted from here. */
  begin(nowMillis: number): void {
    this.tickedAtMillis = nowMillis
    this.arrivals = 0
    this.departures = 0
  }

  tick({ isQueued, latencyMillis, nowMillis, waitedMillis }: QueueView): void {
    // without a queue the departures measure the demand, not the capacity
    if (isQueued || this.hasRejected) this.measureRate(this.departures / Math.max(1, nowMillis - this.tickedAtMillis))
    this.judge(nowMillis, waitedMillis >= this.lateMillis(latencyMillis))
    this.begin(nowMillis)
  }

  /** The next tick judges by what is rejected from here on. */
  forgetRejections(): void {
    this.hasRejected = false
  }

  /** Nothing waits any longer. */
  reset(): void {
    this.lateSinceMillis = undefined
    this.rate = 0
  }

  private measureRate(perMilli: number): void {
    this.rate = Math.max(perMilli, rateDecay * this.rate)
  }

  private judge(nowMillis: number, isLate: boolean): void {
    if (this.overloaded) {
      if (isLate || this.hasRejected) this.lateSinceMillis = nowMillis
      // rejections keep the queue short: only without rejections does the demand fit the capacity
      else if (nowMillis - (this.lateSinceMillis ?? nowMillis) >= calmMillis) this.change(false, undefined)
    } else if (!isLate || this.admissions < warmUpCalls || this.arrivals <= minArrivals * this.departures) {
      this.lateSinceMillis = undefined
    } else {
      this.lateSinceMillis ??= nowMillis
      if (nowMillis - this.lateSinceMillis >= sustainedMillis) this.change(true, nowMillis)
    }
  }

  private lateMillis(latencyMillis: number): number {
    if (!Number.isFinite(latencyMillis)) return minLateMillis
    return Math.min(this.options.maxLateMillis, Math.max(minLateMillis, latencyFactor * latencyMillis))
  }

  private change(overloaded: boolean, lateSinceMillis: number | undefined): void {
    this.overloaded = overloaded
    this.lateSinceMillis = lateSinceMillis
    this.options.onOverload(overloaded)
  }
}
