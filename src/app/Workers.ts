import cluster, { type Worker } from "node:cluster"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Signals from "./Signals.ts"
import * as UnacceptedConnection from "./UnacceptedConnection.ts"
import { supervised, WorkerMetrics } from "./WorkerMetrics.ts"

/** Delay before an exited worker is replaced, so that a worker that cannot start does not restart in a tight loop. */
const restartMillis = 1_000

/** As many workers as there are have ended, and none has ever listened: one that is started again would end the same way. */
export class WorkersFailed extends Data.TaggedError("WorkersFailed")<{ readonly workers: number }> {
  override get message(): string {
    return `none of its ${this.workers} worker processes could start, each for the reason above.`
  }
}

/** How the first workers fare, before any listens. */
interface Start {
  hasListened: boolean
  failed: number
}

/** Whether this process only supervises workers; the workers share a port, and each is a complete gateway. */
export const isSupervisor = (workers: number): boolean => workers > 1 && cluster.isPrimary

/** Keeps `workers` workers running until interrupted, then stops them and waits for their exit; fails when none can start. */
export const supervise = (workers: number): Effect.Effect<never, WorkersFailed> =>
  Effect.zipRight(Signals.reloadWorkers, Signals.forceWorkersOnSecondSignal).pipe(
    Effect.zipRight(
      Effect.suspend(() => {
        const metrics = new WorkerMetrics()
        const start: Start = { hasListened: false, failed: 0 }
        const failed = Effect.suspend(() => {
          start.failed++
          return start.hasListened || start.failed < workers ? Effect.void : new WorkersFailed({ workers })
        })
        return Effect.forEach(
          Array.from({ length: workers }, (_, index) => String(index + 1)),
          (name) => Effect.forever(runOne(metrics, name, start, failed)),
          { concurrency: "unbounded", discard: true }
        )
      })
    ),
    Effect.zipRight(Effect.never)
  )

const runOne = (
  metrics: WorkerMetrics,
  name: string,
  start: Start,
  failed: Effect.Effect<void, WorkersFailed>
): Effect.Effect<void, WorkersFailed> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const worker = cluster.fork()
      UnacceptedConnection.closeWithWorker(worker)
      metrics.joined(supervised(worker, name))
      worker.once("listening", () => {
        start.hasListened = true
      })
      worker.on("message", (message) => metrics.received(worker.id, message))
      worker.once("exit", () => metrics.exited(worker.id))
      return worker
    }),
    (worker) => ended(worker),
    (worker, exit) =>
      exit._tag === "Failure" && Cause.isInterrupted(exit.cause) && !worker.isDead()
        ? Effect.zipRight(
            Effect.sync(() => worker.process.kill("SIGTERM")),
            ended(worker)
          )
        : Effect.void
  ).pipe(
    Effect.zipRight(failed),
    Effect.flatMap(() => Effect.logWarning("a worker process exited unexpectedly and is restarted")),
    Effect.zipRight(Effect.sleep(restartMillis))
  )

const ended = (worker: Worker): Effect.Effect<void> =>
  Effect.async((resume) => {
    if (worker.isDead()) return resume(Effect.void)
    worker.once("exit", () => resume(Effect.void))
  })
