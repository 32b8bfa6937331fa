import type { Cancel, TimersShape } from "../../domain/Timers.ts"

/** How long a settlement waits for others to be written with. */
const flushMillis = 20
/** Between two batches that fail because of a lock. */
const lockedPauseMillis = 100

/** The waits after which a batcher writes: at most one of each kind at a time. */
export class FlushTimers {
  private readonly timers: TimersShape
  private readonly flush: () => void
  private isInMicrotask = false
  private hasWaited = false
  private laterTimer: Cancel | undefined
  private retryTimer: Cancel | undefined
  private pauseTimer: Cancel | undefined

  constructor(timers: TimersShape, flush: () => void) {
    this.timers = timers
    this.flush = flush
  }

  /** Settlements wait for their next attempt after a failed batch. */
  get isRetrying(): boolean {
    return this.retryTimer !== undefined
  }

  /** Settlements have waited for their time since some were written last. */
  get isLate(): boolean {
    return this.hasWaited
  }

  /** Nothing is written meanwhile. */
  get isPaused(): boolean {
    return this.pauseTimer !== undefined
  }

  /** What arrives in one turn of the event loop is written together. */
  inMicrotask(): void {
    if (this.isInMicrotask) return
    this.isInMicrotask = true
    queueMicrotask(() => {
      this.isInMicrotask = false
      this.flush()
    })
  }

  /** Within the time that a settlement waits for others to be written with. */
  later(): void {
    this.laterTimer ??= this.timers.after(flushMillis, () => {
      this.hasWaited = true
      this.flush()
    })
  }

  /** What waited is being written. */
  cancelLater(): void {
    this.laterTimer?.()
    this.laterTimer = undefined
    this.hasWaited = false
  }

  retryAfter(millis: number): void {
    this.retryTimer = this.timers.after(millis, () => {
      this.retryTimer = undefined
      this.flush()
    })
  }

  /** For as long as a lock may take. */
  pause(): void {
    this.pauseTimer = this.timers.after(lockedPauseMillis, () => {
      this.pauseTimer = undefined
      this.flush()
    })
  }
}
