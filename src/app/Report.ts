import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ConfigurationFault } from "../config/Fault.ts"
import { DatabaseFailed, reasonOf } from "../sql/DatabaseError.ts"

/** What an operator can do something about is said in words; anything else is a defect with its cause. */
export const report = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (failure instanceof ConfigurationFault) {
    return Console.error(
      [
        "The gateway cannot start. Put these right:",
        ...failure.faults.map(({ message, path }) => `  ${path} ${message}`)
      ].join("\n")
    )
  }
  return failure instanceof Error
    ? Console.error(`The gateway cannot go on: ${messageOf(failure)}`)
    : Console.error(`The gateway cannot go on:\n${Cause.pretty(cause)}`)
}

/** An error of a statement says only that the statement has failed; what the database has said is in its cause. */
const messageOf = (failure: Error): string =>
  failure.cause === undefined || failure instanceof DatabaseFailed
    ? failure.message
    : `the database failed: ${reasonOf(failure)}`
