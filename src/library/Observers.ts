import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CallObservers } from "../domain/CallObserver.ts"
import * as AttemptLog from "../observe/AttemptLog.ts"
import * as CallMetrics from "../observe/CallMetrics.ts"

/** The application's observers, metrics, and the log of failed attempts. */
export const observers = Layer.scoped(
  CallObservers,
  Effect.zipWith(CallObservers, AttemptLog.make({ variableOf: () => undefined }), (own, attemptLog) => [
    ...own,
    CallMetrics.make(),
    attemptLog
  ])
)
