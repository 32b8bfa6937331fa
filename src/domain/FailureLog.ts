import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { whyOf } from "./RootCause.ts"

/** Logs what could not be done, with the `reason` of a failure or the stack of a defect: never the fields of an error. */
export const warn = (message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => Effect.logWarning(message, cause),
    onSome: (error) => Effect.annotateLogs(Effect.logWarning(message), { reason: whyOf(error) })
  })
