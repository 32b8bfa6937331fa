import { FifoQueue } from "../../domain/FifoQueue.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import { overloadRetryMillis } from "../Errors.ts"

/** Rejections per admitted call; one costs up to a fifth of a call. */
const rejectionsPerCall = 0.1
/** Rejections per tick at least, whatever is admitted. */
const minRejectionsPerTick = 10
/** Waiting rejections are written together: waking the client for each costs about a tenth of a rejection. */
const tickMillis = 100
/** Burst of rejections after a time without any. */
const maxTokens = 200
/** Both for connections that sent nothing, or waited as long as they were told, since their last rejection. */
const firstRejectionsPerCall = 0.2
const maxFirstTokens = 1_000
/** Bound on requests that wait for their rejection, in memory. Further requests are rejected at once. */
const maxWaiting = 4_096

/**
 * Token buckets for rejections, filled by admitted calls. A client that waits as long as it is told is rejected at once. One that
 * sends its next request before is rejected at once while rejections are a small part of the node's work, and at a limited rate
 * otherwise: a node that only writes rejections serves no calls.
 */
export class RejectionPace {
  private readonly timers: TimersShape
  private readonly waiting = new FifoQueue<() => void>()
  /** When the last rejection was written to a connection. */
  private readonly rejectedAtMillis = new WeakMap<object, number>()
  private tokens = maxTokens
  private firstTokens = maxFirstTokens
  private timer: Cancel | undefined
  private isOverloaded = false

  constructor(timers: TimersShape) {
    this.timers = timers
  }

  /** The node has become overloaded, or no longer is: what then still waits displaces no call, and is written in bursts. */
  readonly overloaded = (isOverloaded: boolean): void => {
    this.isOverloaded = isOverloaded
    if (!isOverloaded) this.write(maxTokens)
  }

  /** Runs `reject` for a request on `connection` now or later, in order of arrival; the result cancels the run. */
  add(connection: object, reject: () => void): Cancel {
    const rejectNow = () => {
      this.rejectedAtMillis.set(connection, this.timers.now())
      reject()
    }
    if (this.mayRejectNow(connection)) {
      rejectNow()
      return () => {}
    }
    const entry = this.waiting.add(rejectNow)
    this.timer ??= this.timers.after(tickMillis, this.tick)
    return () => this.waiting.remove(entry)
  }

  /** A call has been admitted. */
  readonly admitted = (): void => {
    this.firstTokens = Math.min(maxFirstTokens, this.firstTokens + firstRejectionsPerCall)
    this.tokens = Math.min(maxTokens, this.tokens + rejectionsPerCall)
  }

  /** Rejects all waiting requests: the node is shutting down. */
  stop(): void {
    this.timer?.()
    this.write(maxWaiting)
  }

  private mayRejectNow(connection: object): boolean {
    if (this.waiting.size >= maxWaiting) return true
    const rejectedAtMillis = this.rejectedAtMillis.get(connection) ?? Number.NEGATIVE_INFINITY
    if (this.firstTokens >= 1 && this.timers.now() - rejectedAtMillis >= overloadRetryMillis) {
      this.firstTokens -= 1
      return true
    }
    if (this.waiting.size > 0 || this.tokens < 1) return false
    this.tokens -= 1
    return true
  }

  /** Rejects requests that wait, in order: as many as have become due, and at least `min`. */
  private write(min: number): void {
    if (this.waiting.size === 0) return
    this.tokens = Math.max(this.tokens, min)
    for (let next = this.waiting.first; next !== undefined && this.tokens >= 1; next = this.waiting.first) {
      this.tokens -= 1
      this.waiting.remove(next)
      next.value()
    }
    this.tokens = Math.min(maxTokens, this.tokens)
  }

  private readonly tick = (): void => {
    this.timer = undefined
    this.write(this.isOverloaded ? minRejectionsPerTick : maxTokens)
    if (this.waiting.size > 0) this.timer = this.timers.after(tickMillis, this.tick)
  }
}
