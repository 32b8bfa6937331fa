// @effect-diagnostics globalTimers:off
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import { ConfigurationFault } from "../config/Fault.ts"
import { report } from "./Report.ts"
import * as Signals from "./Signals.ts"

/** EX_CONFIG: the operator has to change something before a restart makes sense. */
const configurationExitCode = 78
const mostTimerMillis = 2 ** 31 - 1

/** Runs the program as this process: its log, its signals, its last words and its exit code. */
export const run = (program: Effect.Effect<never, unknown>): void => {
  outliveReaders()
  const fiber = Effect.runFork(
    program.pipe(
      Effect.tapErrorCause(report),
      Effect.provide(Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.jsonLogger)))
    )
  )
  // a fiber that waits keeps no process alive
  const alive = setInterval(() => {}, mostTimerMillis)
  Signals.onStop(() => fiber.unsafeInterruptAsFork(fiber.id()))
  fiber.addObserver((exit) => {
    clearInterval(alive)
    process.exit(exitCode(exit))
  })
}

/** Whoever reads the log or the output may go away; without a listener the next line would then end the process. */
const outliveReaders = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})
}

const exitCode = (exit: Exit.Exit<never, unknown>): number => {
  if (Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause)) return 0
  return Option.getOrUndefined(Cause.failureOption(exit.cause)) instanceof ConfigurationFault
    ? configurationExitCode
    : 1
}
