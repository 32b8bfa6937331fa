import { FifoQueue } from "../../domain/FifoQueue.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"

/** Rejections per admitted call. Writing a rejection costs about a fifth of a call: more rejections would displace calls. */
const rejectionsPerCall = 0.5
/** Minimum number of rejections per tick. */
const minRejectionsPerTick = 10
const tickMillis = 100
/** Burst of rejections after a time without any. */
const maxTokens = 200
/** Bound on requests that wait for their rejection, in memory. Further requests are rejected at once. */
const maxWaiting = 4_096

/**
 * A token bucket for rejections, filled by admitted calls: rejections are written at once while they are a small part of the
 * node's work, and at a limited rate otherwise. A rejected client sends its next request, and a node that only writes
 * rejections serves no calls.
 */
export class RejectionPace {
  private readonly timers: TimersShape
  private readonly waiting = new FifoQueue<() => void>()
  private tokens = maxTokens
  private timer: Cancel | undefined
  private isOverloaded = false

  constructor(timers: TimersShape) {
    this.timers = timers
  }

  /** The node has become overloaded, or no longer is: what then still waits displaces no call, and is written in bursts. */
  readonly overloaded = (isOverloaded: boolean): void => {
    this.isOverloaded = isOverloaded
    if (!isOverloaded && this.waiting.size > 0) this.fill(maxTokens)
  }

  /** Runs `reject` now or later, in order of arrival; the result cancels the run. */
  add(reject: () => void): Cancel {
    if (this.waiting.size >= maxWaiting) {
      reject()
      return () => {}
    }
    if (this.waiting.size === 0 && this.tokens >= 1) {
      this.tokens -= 1
      reject()
      return () => {}
    }
    const entry = this.waiting.add(reject)
    this.timer ??= this.timers.after(tickMillis, this.tick)
    return () => this.waiting.remove(entry)
  }

  /** A call has been admitted. */
  readonly admitted = (): void => this.fill(rejectionsPerCall)

  /** Rejects all waiting requests: the node is shutting down. */
  stop(): void {
    this.timer?.()
    this.fill(maxWaiting)
  }

  private fill(tokens: number): void {
    this.tokens += tokens
    for (let next = this.waiting.first; next !== undefined && this.tokens >= 1; next = this.waiting.first) {
      this.tokens -= 1
      this.waiting.remove(next)
      next.value()
    }
    this.tokens = Math.min(maxTokens, this.tokens)
  }

  private readonly tick = (): void => {
    this.timer = undefined
    this.fill(this.isOverloaded ? minRejectionsPerTick : maxTokens)
    if (this.waiting.size > 0) this.timer = this.timers.after(tickMillis, this.tick)
  }
}
