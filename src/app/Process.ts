// @effect-diagnostics globalTimers:off
import { setFlagsFromString } from "node:v8"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import { InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { report } from "./Report.ts"
import * as Signals from "./Signals.ts"

/** EX_CONFIG: the configuration must be changed before a restart can succeed. */
const configurationExitCode = 78
const maxTimerMillis = 2 ** 31 - 1
/**
 * V8 allocates what has often survived directly in the old generation. Objects of a call survive while the call runs; allocated
 * there, they keep the rest of an ended call alive until a major collection, which makes more objects survive: a fifth more CPU
 * per call at 64 connections.
 */
const noPretenuring = "--no-allocation-site-pretenuring"

/** Runs the program as this process, with its log, signals, error output and exit code. */
export const run = (program: Effect.Effect<void, unknown>): void => {
  setFlagsFromString(noPretenuring)
  ignoreOutputErrors()
  const fiber = Effect.runFork(
    program.pipe(
      Effect.tapErrorCause(report),
      Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.jsonLogger)))
    )
  )
  // a waiting fiber does not keep the process alive
  const alive = setInterval(() => {}, maxTimerMillis)
  Signals.onStop(() => fiber.unsafeInterruptAsFork(fiber.id()))
  fiber.addObserver((exit) => {
    clearInterval(alive)
    process.exit(exitCode(exit))
  })
}

/** The reader of the log or the output may exit; without a listener the next line would then end the process. */
const ignoreOutputErrors = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})
}

const exitCode = (exit: Exit.Exit<void, unknown>): number => {
  if (Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause)) return 0
  const failure = Option.getOrUndefined(Cause.failureOption(exit.cause))
  return failure instanceof InvalidConfiguration ? configurationExitCode : 1
}
