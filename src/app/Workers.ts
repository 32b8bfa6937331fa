import cluster, { type Worker } from "node:cluster"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Signals from "./Signals.ts"
import { supervised, WorkerMetrics } from "./WorkerMetrics.ts"

/** Delay before an exited worker is replaced, so that a worker that cannot start does not restart in a tight loop. */
const restartMillis = 1_000

/** Whether this process only supervises workers; the workers share a port, and each is a complete gateway. */
export const isSupervisor = (workers: number): boolean => workers > 1 && cluster.isPrimary

/** Keeps `workers` workers running until interrupted, then stops them and waits for their exit. */
export const supervise = (workers: number): Effect.Effect<never> =>
  Signals.forceWorkersOnSecondSignal.pipe(
    Effect.zipRight(
      Effect.suspend(() => {
        const metrics = new WorkerMetrics()
        return Effect.forEach(
          Array.from({ length: workers }, (_, index) => String(index + 1)),
          (name) => Effect.forever(runOne(metrics, name)),
          { concurrency: "unbounded", discard: true }
        )
      })
    ),
    Effect.zipRight(Effect.never)
  )

const runOne = (metrics: WorkerMetrics, name: string): Effect.Effect<void> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const worker = cluster.fork()
      metrics.joined(supervised(worker, name))
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
    Effect.flatMap(() => Effect.logWarning("a worker process exited unexpectedly and is restarted")),
    Effect.zipRight(Effect.sleep(restartMillis))
  )

const ended = (worker: Worker): Effect.Effect<void> =>
  Effect.async((resume) => {
    if (worker.isDead()) return resume(Effect.void)
    worker.once("exit", () => resume(Effect.void))
  })
