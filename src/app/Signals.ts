import cluster from "node:cluster"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { Drain } from "../http/server/Drain.ts"

/** Signals for a graceful stop: running calls may finish. */
const stopSignals = ["SIGTERM", "SIGINT", "SIGQUIT"] as const
/** Signals that would end the process without draining. A listener on SIGUSR1 keeps node from opening its inspector. */
const ignoredSignals = ["SIGUSR1", "SIGUSR2"] as const
/** Sent by service managers to reload, and by a terminal that is closed. */
const reloadSignal = "SIGHUP"
/** The message of a supervisor to its workers at the second signal. */
const forceMessage = "force"
/** Its message to reload: it waits for a worker that has only begun to start, which a signal would end. */
const reloadMessage = "reload"

/** The default, before draining is set up: a second signal ends the process. */
let force = (): void => process.exit(1)

/**
 * Calls `stop` at the first signal, and forces the stop at the second. A worker gets the same signal from its process group, a
 * service manager and its supervisor, so only a message of the supervisor forces a worker.
 */
export const onStop = (stop: () => void): void => {
  let isStopping = false
  const signalled = (): void => {
    if (isStopping && !cluster.isWorker) force()
    if (!isStopping) stop()
    isStopping = true
  }
  for (const signal of stopSignals) process.on(signal, signalled)
  if (!cluster.isWorker) return
  process.on("message", (message) => {
    if (message === forceMessage) force()
    else if (message === reloadMessage) reloadSoon()
  })
}

/** From now on a second signal ends the running calls. */
export const forceDrainOnSecondSignal: Effect.Effect<void, never, Drain> = Effect.map(Drain, (drain) => {
  force = () => void Effect.runFork(drain.force)
})

/** From now on a second signal is passed on to the workers. */
export const forceWorkersOnSecondSignal: Effect.Effect<void> = Effect.sync(() => {
  force = () => tellWorkers(forceMessage)
})

const tellWorkers = (message: string): void => {
  for (const worker of Object.values(cluster.workers ?? {})) if (worker?.isConnected()) worker.send(message)
}

/** Ignores the signals that would end the process, with a log line; that to reload waits until the service runs. */
export const ignoreOtherSignals: Effect.Effect<void> = Effect.map(Effect.runtime<never>(), (runtime) => {
  const log = Runtime.runFork(runtime)
  for (const signal of ignoredSignals) {
    process.on(signal, () => log(Effect.logWarning(`${signal} was received and is ignored`)))
  }
  reloadSoon = () => void log(Effect.suspend(() => reload))
  process.on(reloadSignal, () => reloadSoon())
})

let isReloadWaiting = false

/** What was read at the start may be older than the change. */
let reloadSoon = (): void => {
  isReloadWaiting = true
}

/** Until the service runs. */
let reload: Effect.Effect<void> = Effect.suspend(() => {
  isReloadWaiting = true
  return Effect.logInfo(`${reloadSignal} was received during the start: the configuration is reloaded after it`)
})

/** From now on the signal to reload runs the effect; at once where it was received before. */
export const onReload = (effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.suspend(() => {
    reload = effect
    if (!isReloadWaiting) return Effect.void
    isReloadWaiting = false
    return effect
  })

/** From now on the signal to reload is passed on to the workers. */
export const reloadWorkers: Effect.Effect<void> = onReload(Effect.sync(() => tellWorkers(reloadMessage)))
