// @effect-diagnostics globalTimers:off
// @effect-diagnostics globalTimersInEffect:off
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

export type Cancel = () => void

export interface TimersShape {
  /** Milliseconds since the epoch, with a fraction; never goes back. */
  readonly now: () => number
  /** Runs `run` once after `millis`, unless cancelled before. Cancelling twice is harmless. */
  readonly after: (millis: number, run: () => void) => Cancel
}

/** Asked for once: it is a getter, and a call reads the clock twenty times. */
const startMillis = performance.timeOrigin

/**
 * Deadlines of the hot path. Effect's Clock offers no callback timer and `Effect.timeout` costs a fiber; this is what the
 * transport, the gateway's deadlines and the scripted providers share, so that a virtual clock moves all of them.
 */
export class Timers extends Context.Tag("gateway/domain/Timers")<Timers, TimersShape>() {
  static readonly layer: Layer.Layer<Timers> = Layer.succeed(this, {
    now: () => startMillis + performance.now(),
    after: (millis, run) => {
      const timer = setTimeout(run, millis)
      return () => clearTimeout(timer)
    }
  })
}
