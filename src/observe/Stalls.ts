import { monitorEventLoopDelay } from "node:perf_hooks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { type Cancel, Timers } from "../domain/Timers.ts"
import * as Metrics from "./Metrics.ts"

/** No request may block the event loop longer than this. */
export const stallMillis = 100
const checkEveryMillis = 1_000
const resolutionMillis = 20
/** At most one log line per step in this time. */
const logEveryMillis = 10_000

interface Stall {
  /** `undefined` if the stall is not attributed to a request. */
  readonly requestId: string | undefined
  readonly step: string
  readonly millis: number
}

let onStall: ((stall: Stall) => void) | undefined
/** End and length of the last reported stalls, for stalls that overlap. */
let reportedUntilMillis = 0
let reportedMillis = 0

/** Runs a synchronous step of a request; a step that blocks the event loop for too long is counted and logged. */
export const timed = <A>(requestId: string, step: string, run: () => A): A => {
  const fromMillis = performance.now()
  try {
    return run()
  } finally {
    const untilMillis = performance.now()
    if (untilMillis - fromMillis >= stallMillis) stalled(requestId, step, fromMillis, untilMillis)
  }
}

/** Reports a long step, without the time that steps inside it have already reported. */
export const stalled = (requestId: string | undefined, step: string, fromMillis: number, untilMillis: number): void => {
  const isAround = reportedUntilMillis > fromMillis
  const millis = untilMillis - fromMillis - (isAround ? reportedMillis : 0)
  if (millis < stallMillis) return
  reportedMillis = isAround ? reportedMillis + millis : millis
  reportedUntilMillis = untilMillis
  Metrics.loopStall(step, millis / 1_000)
  onStall?.({ requestId, step, millis: Math.round(millis) })
}

/** Logs stalls, and detects stalls of the event loop that no step has reported, such as garbage collection. */
export const layer: Layer.Layer<never, never, Timers> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const timers = yield* Timers
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    const loggedAtMillis = new Map<string, number>()
    let maxReportedMillis = 0

    const log = ({ millis, requestId, step }: Stall): void => {
      maxReportedMillis = Math.max(maxReportedMillis, millis)
      const now = timers.now()
      if (now - (loggedAtMillis.get(step) ?? Number.NEGATIVE_INFINITY) < logEveryMillis) return
      loggedAtMillis.set(step, now)
      const fields = { request_id: requestId ?? null, step, millis }
      fork(Effect.annotateLogs(Effect.logWarning("the event loop was blocked"), fields))
    }

    const delay = monitorEventLoopDelay({ resolution: resolutionMillis })
    const check = (): void => {
      const untilMillis = performance.now()
      const unexplained = delay.max / 1e6 - resolutionMillis - maxReportedMillis
      if (unexplained >= stallMillis) stalled(undefined, "unknown", untilMillis - unexplained, untilMillis)
      maxReportedMillis = 0
      delay.reset()
      cancel = timers.after(checkEveryMillis, check)
    }
    let cancel: Cancel = timers.after(checkEveryMillis, check)
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
