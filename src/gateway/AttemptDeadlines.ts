import type { ProviderFailure } from "../domain/ProviderError.ts"
import type { Cancel, TimersShape } from "../domain/Timers.ts"

export interface AttemptDeadlinesOptions {
  readonly timers: TimersShape
  /** From the start to the first content, or to the end of a non-streaming response. */
  readonly firstMillis: number
  /** The failure that is reported when the first deadline passes. */
  readonly late: ProviderFailure
  /** Silence once bytes have flowed. */
  readonly idleMillis: number
  /** When the whole call has to be over, by `Timers`. */
  readonly endsAtMillis: number
  readonly expire: (reason: ProviderFailure) => void
}

/**
 * The deadlines of one attempt: a first one, then the idle one, and the end of the whole call over both. One timer serves
 * all of them: it never fires later than any of them could fall due, checks which one has passed, and is set anew if none
 * has. So marking activity costs one clock read.
 */
export class AttemptDeadlines {
  private readonly options: AttemptDeadlinesOptions
  private firstAtMillis = Number.POSITIVE_INFINITY
  private markedAtMillis: number | undefined
  private paused = false
  private stopped = false
  private checksAtMillis = 0
  private cancel: Cancel | undefined

  constructor(options: AttemptDeadlinesOptions) {
    this.options = options
  }

  start(): void {
    if (this.stopped) return
    const now = this.options.timers.now()
    this.firstAtMillis = now + this.options.firstMillis
    this.scheduleCheck(now)
  }

  /** Idle time is measured from here; before the first mark it is not measured. */
  mark(): void {
    this.markedAtMillis = this.options.timers.now()
  }

  /** The gateway has paused the upstream, so idle time does not count; the first deadline has been met. */
  pause(): void {
    this.paused = true
    this.firstAtMillis = Number.POSITIVE_INFINITY
  }

  resume(): void {
    const now = this.options.timers.now()
    this.paused = false
    this.markedAtMillis = now
    if (!this.stopped && this.checksAtMillis > now + this.options.idleMillis) this.scheduleCheck(now)
  }

  stop(): void {
    this.stopped = true
    this.cancel?.()
  }

  private scheduleCheck(now: number): void {
    const { endsAtMillis, idleMillis, timers } = this.options
    const idleUntilMillis = this.paused ? Number.POSITIVE_INFINITY : (this.markedAtMillis ?? now) + idleMillis
    this.checksAtMillis = Math.min(this.firstAtMillis, endsAtMillis, idleUntilMillis)
    this.cancel?.()
    this.cancel = timers.after(Math.max(0, this.checksAtMillis - now), this.check)
  }

  private readonly check = (): void => {
    const { endsAtMillis, expire, idleMillis, late, timers } = this.options
    const now = timers.now()
    if (now >= endsAtMillis) expire({ _tag: "RequestTimeout" })
    else if (now >= this.firstAtMillis) expire(late)
    else if (!this.paused && now >= (this.markedAtMillis ?? now) + idleMillis) expire({ _tag: "Stalled" })
    else this.scheduleCheck(now)
  }
}
