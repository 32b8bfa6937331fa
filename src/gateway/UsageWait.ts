import type { Cancel, TimersShape } from "../domain/Timers.ts"

/** A finish waits this long for the usage that should follow it. */
const usageWaitMillis = 2_000
/** Usage may be corrected: the last report within this time, or before the end, counts. */
const usageRepeatMillis = 25

/** How long a response that has finished waits for its usage, where its upstream does not end by itself. */
export class UsageWait {
  /** When the usage has to be there. */
  private untilMillis = 0
  /** When the wait is over, as far as is known. */
  private endsAtMillis = 0
  /** A timer is set at the end of this turn. */
  private isScheduled = false
  private isStopped = false
  private cancel: Cancel | undefined
  private readonly timers: TimersShape
  private readonly over: () => void

  /** `over` is called at the end of the wait, unless it is stopped before. */
  constructor(timers: TimersShape, over: () => void) {
    this.timers = timers
    this.over = over
  }

  /** The model has finished. */
  finished(): void {
    this.untilMillis = this.timers.now() + usageWaitMillis
    this.waitUntil(this.untilMillis)
  }

  /** Usage has come after the finish. */
  reported(): void {
    this.waitUntil(Math.min(this.untilMillis, this.timers.now() + usageRepeatMillis))
  }

  stop(): void {
    this.isStopped = true
    this.cancel?.()
  }

  /**
   * Most responses finish, report their usage and end in one turn of the event loop: timers that are set and cancelled in it cost a
   * twentieth of a call.
   */
  private waitUntil(endsAtMillis: number): void {
    this.endsAtMillis = endsAtMillis
    this.cancel?.()
    if (this.isScheduled) return
    this.isScheduled = true
    queueMicrotask(() => {
      this.isScheduled = false
      if (this.isStopped) return
      this.cancel = this.timers.after(Math.max(0, this.endsAtMillis - this.timers.now()), this.over)
    })
  }
}
