import type { ProviderFailure } from "../domain/ProviderError.ts"
import type { Cancel, TimersShape } from "../domain/Timers.ts"

export interface WatchOptions {
  readonly timers: TimersShape
  /** From the start to the first content, or to the whole of a plain answer. */
  readonly firstMillis: number
  /** What it is called when that takes longer. */
  readonly late: ProviderFailure
  /** Silence once bytes have flowed. */
  readonly idleMillis: number
  /** When the whole call has to be over, by `Timers`. */
  readonly endsAtMillis: number
  readonly expire: (reason: ProviderFailure) => void
}

/**
 * The deadlines of one attempt: a first one, then silence, and the end of the whole call over both. One timer stands behind
 * all of them: it never falls due later than any of them could, looks which one has passed, and is set anew if none has. So
 * marking activity costs one clock read.
 */
export class Watch {
  private readonly options: WatchOptions
  private firstAtMillis = Number.POSITIVE_INFINITY
  private markedAtMillis: number | undefined
  private paused = false
  private stopped = false
  private looksAtMillis = 0
  private cancel: Cancel | undefined

  constructor(options: WatchOptions) {
    this.options = options
  }

  start(): void {
    if (this.stopped) return
    const now = this.options.timers.now()
    this.firstAtMillis = now + this.options.firstMillis
    this.lookLater(now)
  }

  /** Silence is measured from here; before the first mark it is not. */
  mark(): void {
    this.markedAtMillis = this.options.timers.now()
  }

  /** The upstream is held back by us: its silence is not its fault, and what came first has come. */
  pause(): void {
    this.paused = true
    this.firstAtMillis = Number.POSITIVE_INFINITY
  }

  resume(): void {
    const now = this.options.timers.now()
    this.paused = false
    this.markedAtMillis = now
    if (!this.stopped && this.looksAtMillis > now + this.options.idleMillis) this.lookLater(now)
  }

  stop(): void {
    this.stopped = true
    this.cancel?.()
  }

  private lookLater(now: number): void {
    const { endsAtMillis, idleMillis, timers } = this.options
    const silentUntilMillis = this.paused ? Number.POSITIVE_INFINITY : (this.markedAtMillis ?? now) + idleMillis
    this.looksAtMillis = Math.min(this.firstAtMillis, endsAtMillis, silentUntilMillis)
    this.cancel?.()
    this.cancel = timers.after(Math.max(0, this.looksAtMillis - now), this.look)
  }

  private readonly look = (): void => {
    const { endsAtMillis, expire, idleMillis, late, timers } = this.options
    const now = timers.now()
    if (now >= endsAtMillis) expire({ _tag: "RequestTimeout" })
    else if (now >= this.firstAtMillis) expire(late)
    else if (!this.paused && now >= (this.markedAtMillis ?? now) + idleMillis) expire({ _tag: "Stalled" })
    else this.lookLater(now)
  }
}
