import cluster, { type Worker } from "node:cluster"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Configuration } from "./Configuration.ts"
import { LastValid } from "./reload/LastValid.ts"
import * as Signals from "./Signals.ts"
import { rowsMadeOrEnded, StartParts } from "./StartPart.ts"
import * as UnacceptedConnection from "./UnacceptedConnection.ts"
import { supervised, WorkerMetrics } from "./WorkerMetrics.ts"

/** Delay before an exited worker is replaced. */
const restartMillis = 1_000
/** Where it ends again and again before it listens, the delay is doubled up to this: each start costs seconds of CPU. */
const maxRestartMillis = 30_000

/** As many workers as there are have ended, and none has ever listened: one that is started again would end the same way. */
export class WorkersFailed extends Data.TaggedError("WorkersFailed")<{ readonly workers: number }> {
  override get message(): string {
    return `none of its ${this.workers} worker processes could start, each for the reason above.`
  }
}

/** What all workers share; how the first ones fare, before any listens. */
interface Start {
  hasListened: boolean
  failed: number
  readonly parts: StartParts
  /** While a worker makes the first rows, no other is started. */
  readonly turn: Effect.Semaphore
  readonly configuration: LastValid
}

/** One of the workers, and those that replace it. */
interface Place {
  readonly name: string
  /** How many in a row have ended before they listened. */
  failedStarts: number
}

/** How a worker process has ended; one of the two is `null`. */
interface Ended {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** Whether this process only supervises workers; the workers share a port, and each is a complete gateway. */
export const isSupervisor = (workers: number): boolean => workers > 1 && cluster.isPrimary

/**
 * Keeps as many workers as are configured running until interrupted, then stops them and waits for their exit; fails when none can
 * start.
 */
export const supervise = (configuration: Configuration): Effect.Effect<never, WorkersFailed> =>
  Effect.zipRight(Signals.reloadWorkers, Signals.forceWorkersOnSecondSignal).pipe(
    Effect.zipRight(
      Effect.suspend(() => {
        const { workers } = configuration.settings
        const metrics = new WorkerMetrics()
        const start: Start = {
          hasListened: false,
          failed: 0,
          parts: new StartParts(),
          turn: Effect.unsafeMakeSemaphore(1),
          configuration: new LastValid(configuration)
        }
        const failed = Effect.suspend(() => {
          start.failed++
          return start.hasListened || start.failed < workers ? Effect.void : new WorkersFailed({ workers })
        })
        return Effect.forEach(
          Array.from({ length: workers }, (_, index): Place => ({ name: String(index + 1), failedStarts: 0 })),
          (place) => Effect.forever(Effect.zipRight(start.turn.take(1), runOne(metrics, place, start, failed))),
          { concurrency: "unbounded", discard: true }
        )
      })
    ),
    Effect.zipRight(Effect.never)
  )

/** Gives its turn back. */
const runOne = (
  metrics: WorkerMetrics,
  place: Place,
  start: Start,
  failed: Effect.Effect<void, WorkersFailed>
): Effect.Effect<void, WorkersFailed> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const { part, worker } = start.parts.fork()
      place.failedStarts++
      UnacceptedConnection.closeWithWorker(worker)
      metrics.joined(supervised(worker, place.name))
      worker.once("listening", () => {
        start.hasListened = true
        place.failedStarts = 0
      })
      worker.on("message", (message) => {
        metrics.received(worker.id, message)
        start.configuration.received(worker, message)
      })
      worker.once("exit", () => metrics.exited(worker.id))
      return { part, worker }
    }),
    ({ part, worker }) =>
      Effect.zipRight(part === "first" ? rowsMadeOrEnded(worker) : Effect.void, start.turn.release(1)).pipe(
        Effect.zipRight(ended(worker)),
        Effect.map((how) => ({ worker: place.name, pid: worker.process.pid, ...how }))
      ),
    ({ worker }, exit) =>
      exit._tag === "Failure" && Cause.isInterrupted(exit.cause) && !worker.isDead()
        ? Effect.zipRight(
            Effect.sync(() => worker.process.kill("SIGTERM")),
            ended(worker)
          )
        : Effect.void
  ).pipe(
    Effect.tap(() => failed),
    Effect.flatMap((how) => {
      const restartAfterMillis = restartDelayMillis(place.failedStarts)
      const restarted = Effect.logWarning("a worker process exited unexpectedly and is restarted")
      return Effect.zipRight(
        Effect.annotateLogs(restarted, { ...how, restartAfterMillis }),
        Effect.sleep(restartAfterMillis)
      )
    })
  )

/** By the number of starts in a row that have failed. */
export const restartDelayMillis = (failedStarts: number): number =>
  Math.min(maxRestartMillis, restartMillis * 2 ** Math.max(0, failedStarts - 1))

const ended = (worker: Worker): Effect.Effect<Ended> =>
  Effect.async((resume) => {
    const { exitCode, signalCode } = worker.process
    if (worker.isDead()) return resume(Effect.succeed({ exitCode, signal: signalCode }))
    worker.once("exit", (code: number | null, signal: string | null) =>
      resume(Effect.succeed({ exitCode: code, signal }))
    )
  })
