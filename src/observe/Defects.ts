import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Metrics from "./Metrics.ts"

/** The message of a call, at whichever endpoint. */
export const ofCall = "a call ended in a defect"

/** The message of a request that is no call. */
export const ofRequest = "a request ended in a defect"

/** Counts and logs a defect that nobody is told otherwise. */
export const report = (message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    Metrics.defect()
    return Effect.logError(message, cause)
  })

/** The same for callbacks that run in no fiber, with the loggers of the fiber that makes it; `about` annotates the log. */
export const reporter = (
  message: string
): Effect.Effect<(cause: Cause.Cause<unknown>, about?: Readonly<Record<string, unknown>>) => void> =>
  Effect.map(Effect.runtime<never>(), (runtime) => (cause, about = {}) => {
    Runtime.runFork(runtime)(Effect.annotateLogs(report(message, cause), about))
  })
