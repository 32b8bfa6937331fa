import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { DatabaseFailed, DirectoryInUse, postgresName, reasonOf } from "../sql/DatabaseError.ts"
import { TransferFailed } from "../sql/transfer/TransferFailed.ts"
import { UsageError } from "./command/Arguments.ts"
import { CommandFailed } from "./command/Operations.ts"

/** Errors that an operator can fix are printed as a message; any other error is a defect and is printed with its cause. */
export const report = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (failure instanceof InvalidConfiguration) {
    const file = failure.file === undefined ? "" : `, with GATEWAY_CONFIG=${failure.file}`
    return Console.error(
      [`Invalid configuration${file}:`, ...failure.issues.map(({ message, path }) => `  ${path} ${message}`)].join("\n")
    )
  }
  // a command that was given a wrong file, or a database that is not empty
  if (failure instanceof TransferFailed || failure instanceof CommandFailed) return Console.error(failure.message)
  if (failure instanceof UsageError) {
    return Console.error(failure.usage === undefined ? failure.message : `${failure.message}\n\n${failure.usage}`)
  }
  return failure instanceof Error
    ? Console.error(`The gateway stopped: ${messageOf(failure)}`)
    : Console.error(`The gateway stopped:\n${Cause.pretty(cause)}`)
}

/** What stopped a command, told as its own failure: the service is another process, or none. */
export const ofCommand = (failure: unknown): unknown =>
  failure instanceof Error && !(failure instanceof InvalidConfiguration) && !(failure instanceof UsageError)
    ? new CommandFailed({ message: messageOf(failure) })
    : failure

/** With the variables to change. The message of a statement's error is generic; the database's message is in the cause. */
const messageOf = (failure: Error): string => {
  if (failure instanceof DirectoryInUse) return `${failure.message}; stop it, or set DATA_DIR or DATABASE_URL`
  if (failure instanceof DatabaseFailed) {
    const { cause, database } = failure
    const variable = database === postgresName ? "DATABASE_URL" : "DATA_DIR"
    return new DatabaseFailed({ database: `${database} of ${variable}`, cause }).message
  }
  return failure.cause === undefined ? failure.message : `the database failed: ${reasonOf(failure)}`
}
