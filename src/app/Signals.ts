import cluster from "node:cluster"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { Drain } from "../http/Drain.ts"

/** Ask for an orderly end: the running calls may finish. */
const stopSignals = ["SIGTERM", "SIGINT", "SIGQUIT"] as const
/** Would end the process without draining it. A listener on SIGUSR1 keeps node from opening its inspector. */
const ignoredSignals = ["SIGHUP", "SIGUSR1", "SIGUSR2"] as const
/** What a supervisor sends its workers when it is signalled again. */
const hurryMessage = "hurry"

/** An operator who signals a process that has not got as far as draining wants it gone. */
let hurry = (): void => process.exit(1)

/**
 * Calls `stop` at the first signal, and hurries at the second. A worker gets the same signal from its process group, from
 * a service manager and from its supervisor, so only the supervisor tells it to hurry.
 */
export const onStop = (stop: () => void): void => {
  let isStopping = false
  const signalled = (): void => {
    if (isStopping && !cluster.isWorker) hurry()
    if (!isStopping) stop()
    isStopping = true
  }
  for (const signal of stopSignals) process.on(signal, signalled)
  if (cluster.isWorker) process.on("message", (message) => message === hurryMessage && hurry())
}

/** From now on hurrying ends the running calls. */
export const hurryDrain: Effect.Effect<void, never, Drain> = Effect.map(Drain, (drain) => {
  hurry = () => void Effect.runFork(drain.hurry)
})

/** From now on hurrying is passed on to the workers. */
export const hurryWorkers: Effect.Effect<void> = Effect.sync(() => {
  hurry = () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.send(hurryMessage)
  }
})

/** Takes the signals that would end the process and says so in the log. */
export const ignoreOthers: Effect.Effect<void> = Effect.map(Effect.runtime<never>(), (runtime) => {
  const log = Runtime.runFork(runtime)
  for (const signal of ignoredSignals) {
    process.on(signal, () => log(Effect.logWarning(`${signal} was received and is ignored`)))
  }
})
