import type { Cancel, TimersShape } from "../domain/Timers.ts"

/** Refusals that each admitted call pays for. Writing one costs about a fifth of a call: more of them would displace calls. */
const refusalsPerCall = 0.5
/** So many are written in any case. */
const minRefusalsPerTick = 10
const tickMillis = 100
/** Refusals that are written at once after a time without any. */
const maxCredit = 200
/** Requests that wait for their refusal: they are in memory. Beyond that they are refused at once. */
const maxHeld = 4_096

/**
 * Refuses at once as long as refusals are a small part of the node's work, and then at a pace: a client that gets its
 * refusal sends the next request, and a node that did nothing but refuse would serve nobody.
 */
export class RefusalPace {
  private readonly timers: TimersShape
  private readonly held = new Set<() => void>()
  private credit = maxCredit
  private timer: Cancel | undefined

  constructor(timers: TimersShape) {
    this.timers = timers
  }

  /** Runs `refuse` now or later, in order of arrival; the answer takes it back. */
  add(refuse: () => void): Cancel {
    if (this.held.size === 0 && this.credit >= 1) {
      this.credit -= 1
      refuse()
      return () => {}
    }
    if (this.held.size >= maxHeld) {
      refuse()
      return () => {}
    }
    // each has its own identity, also where one function is added twice
    const own = () => refuse()
    this.held.add(own)
    this.timer ??= this.timers.after(tickMillis, this.tick)
    return () => this.held.delete(own)
  }

  /** A call has been admitted. */
  readonly admitted = (): void => this.earn(refusalsPerCall)

  /** Everything that waits is refused: the node is going down. */
  stop(): void {
    this.timer?.()
    this.earn(maxHeld)
  }

  private earn(refusals: number): void {
    this.credit += refusals
    for (const refuse of this.held) {
      if (this.credit < 1) break
      this.credit -= 1
      this.held.delete(refuse)
      refuse()
    }
    this.credit = Math.min(maxCredit, this.credit)
  }

  private readonly tick = (): void => {
    this.timer = undefined
    this.earn(minRefusalsPerTick)
    if (this.held.size > 0) this.timer = this.timers.after(tickMillis, this.tick)
  }
}
