import { FifoQueue } from "../../domain/FifoQueue.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"

/** 800 a second: about a twentieth of a core. */
const perTick = 8
const tickMillis = 10
/** Bound on requests that wait for their response, in memory. Further ones are responded to at once. */
const maxWaiting = 4_096

/**
 * Responds to requests evenly, in order of arrival. Clients that send the next request a fixed time after a response come together
 * again when they are responded to together, and delay calls each time.
 */
export class EvenPace {
  private readonly timers: TimersShape
  private readonly waiting = new FifoQueue<() => void>()
  private left = perTick
  private timer: Cancel | undefined

  constructor(timers: TimersShape) {
    this.timers = timers
  }

  /** Runs `respond` now or later; the result cancels the run. */
  add(respond: () => void): Cancel {
    this.timer ??= this.timers.after(tickMillis, this.tick)
    if (this.left > 0 || this.waiting.size >= maxWaiting) {
      this.left -= 1
      respond()
      return () => {}
    }
    const entry = this.waiting.add(respond)
    return () => this.waiting.remove(entry)
  }

  /** Responds to all that wait: the node is shutting down. */
  stop(): void {
    this.timer?.()
    this.timer = undefined
    this.respond(this.waiting.size)
    this.left = perTick
  }

  private respond(count: number): void {
    this.left = count
    for (let next = this.waiting.first; next !== undefined && this.left > 0; next = this.waiting.first) {
      this.left -= 1
      this.waiting.remove(next)
      next.value()
    }
  }

  private readonly tick = (): void => {
    this.timer = undefined
    this.respond(perTick)
    if (this.left < perTick) this.timer = this.timers.after(tickMillis, this.tick)
  }
}
