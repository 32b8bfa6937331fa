import { monitorEventLoopDelay } from "node:perf_hooks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { type Cancel, Timers } from "../domain/Timers.ts"
import * as Metrics from "./Metrics.ts"

/** No request may hold the event loop longer than this. */
export const stallMillis = 100
const lookEveryMillis = 1_000
const resolutionMillis = 20
/** Of a step that stalls again and again, one line in this time. */
const logEveryMillis = 10_000

interface Stall {
  /** Unknown where no request is known to be at fault. */
  readonly requestId: string | undefined
  readonly step: string
  readonly millis: number
}

let onStall: ((stall: Stall) => void) | undefined
/** The stalls that have been told, as far as they run into each other. */
let toldUntilMillis = 0
let toldMillis = 0

/** Runs a synchronous step of a request; when it holds the event loop for too long, that is counted and logged. */
export const timed = <A>(requestId: string, step: string, run: () => A): A => {
  const fromMillis = performance.now()
  try {
    return run()
  } finally {
    const untilMillis = performance.now()
    if (untilMillis - fromMillis >= stallMillis) stalled(requestId, step, fromMillis, untilMillis)
  }
}

/** Tells of a step that took from here to there, without what steps inside it have told already. */
export const stalled = (requestId: string | undefined, step: string, fromMillis: number, untilMillis: number): void => {
  const isAround = toldUntilMillis > fromMillis
  const millis = untilMillis - fromMillis - (isAround ? toldMillis : 0)
  if (millis < stallMillis) return
  toldMillis = isAround ? toldMillis + millis : millis
  toldUntilMillis = untilMillis
  Metrics.loopStall(step, millis / 1_000)
  onStall?.({ requestId, step, millis: Math.round(millis) })
}

/** Logs stalls, and looks for those of the loop as a whole that no step has told of, such as garbage collection. */
export const layer: Layer.Layer<never, never, Timers> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const timers = yield* Timers
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    const loggedAtMillis = new Map<string, number>()
    let longestToldMillis = 0

    const log = ({ millis, requestId, step }: Stall): void => {
      longestToldMillis = Math.max(longestToldMillis, millis)
      const now = timers.now()
      if (now - (loggedAtMillis.get(step) ?? Number.NEGATIVE_INFINITY) < logEveryMillis) return
      loggedAtMillis.set(step, now)
      const fields = { request_id: requestId ?? null, step, millis }
      fork(Effect.annotateLogs(Effect.logWarning("the event loop was held"), fields))
    }

    const delay = monitorEventLoopDelay({ resolution: resolutionMillis })
    const look = (): void => {
      const untilMillis = performance.now()
      const unexplained = delay.max / 1e6 - resolutionMillis - longestToldMillis
      if (unexplained >= stallMillis) stalled(undefined, "unknown", untilMillis - unexplained, untilMillis)
      longestToldMillis = 0
      delay.reset()
      cancel = timers.after(lookEveryMillis, look)
    }
    let cancel: Cancel = timers.after(lookEveryMillis, look)
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        onStall = log
        delay.enable()
      }),
      () =>
        Effect.sync(() => {
          onStall = undefined
          cancel()
          delay.disable()
        })
    )
  })
)
