import type { Cancel, TimersShape } from "../domain/Timers.ts"

/** Refusals for each admitted call. Writing one costs about a fifth of a call: more of them would displace calls. */
const refusalsPerCall = 0.5
/** So many are written in any case. */
const minRefusalsPerTick = 10
const tickMillis = 100
/** Refusals that are written at once after a time without any. */
const maxTokens = 200
/** Requests that wait for their refusal: they are in memory. Beyond that they are refused at once. */
const maxWaiting = 4_096

/**
 * A token bucket for refusals, filled by admitted calls: refusals are written at once as long as they are a small part of
 * the node's work, and then at a pace. A client that gets its refusal sends the next request, and a node that writes
 * nothing but refusals serves nobody.
 */
export class RefusalPace {
  private readonly timers: TimersShape
  private readonly waiting = new Set<() => void>()
  private tokens = maxTokens
  private timer: Cancel | undefined

  constructor(timers: TimersShape) {
    this.timers = timers
  }

  /** Runs `refuse` now or later, in order of arrival; the result cancels it. */
  add(refuse: () => void): Cancel {
    if (this.waiting.size >= maxWaiting) {
      refuse()
      return () => {}
    }
    if (this.waiting.size === 0 && this.tokens >= 1) {
      this.tokens -= 1
      refuse()
      return () => {}
    }
    // one function may be added twice
    const own = () => refuse()
    this.waiting.add(own)
    this.timer ??= this.timers.after(tickMillis, this.tick)
    return () => this.waiting.delete(own)
  }

  /** A call has been admitted. */
  readonly admitted = (): void => this.fill(refusalsPerCall)

  /** Everything that waits is refused: the node is going down. */
  stop(): void {
    this.timer?.()
    this.fill(maxWaiting)
  }

  private fill(tokens: number): void {
    this.tokens += tokens
    for (const refuse of this.waiting) {
      if (this.tokens < 1) break
      this.tokens -= 1
      this.waiting.delete(refuse)
      refuse()
    }
    this.tokens = Math.min(maxTokens, this.tokens)
  }

  private readonly tick = (): void => {
    this.timer = undefined
    this.fill(minRefusalsPerTick)
    if (this.waiting.size > 0) this.timer = this.timers.after(tickMillis, this.tick)
  }
}
