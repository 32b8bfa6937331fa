import cluster, { type Worker } from "node:cluster"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Signals from "./Signals.ts"

/** A worker that ends on its own is replaced after this long, so that one that cannot start does not spin. */
const restartMillis = 1_000

/** This process only looks after workers that share its port; each of them is a whole gateway. */
export const isSupervisor = (workers: number): boolean => workers > 1 && cluster.isPrimary

/** Keeps so many workers running until it is interrupted; then they are told to stop and waited for. */
export const supervise = (workers: number): Effect.Effect<never> =>
  Signals.hurryWorkers.pipe(
    Effect.zipRight(
      Effect.forEach(Array.from({ length: workers }), () => Effect.forever(runOne), {
        concurrency: "unbounded",
        discard: true
      })
    ),
    Effect.zipRight(Effect.never)
  )

const runOne: Effect.Effect<void> = Effect.acquireUseRelease(
  Effect.sync(() => cluster.fork()),
  (worker) => ended(worker),
  (worker, exit) =>
    exit._tag === "Failure" && Cause.isInterrupted(exit.cause) && !worker.isDead()
      ? Effect.zipRight(
          Effect.sync(() => worker.process.kill("SIGTERM")),
          ended(worker)
        )
      : Effect.void
).pipe(
  Effect.flatMap(() => Effect.logWarning("a worker has ended on its own and is replaced")),
  Effect.zipRight(Effect.sleep(restartMillis))
)

const ended = (worker: Worker): Effect.Effect<void> =>
  Effect.async((resume) => {
    if (worker.isDead()) return resume(Effect.void)
    worker.once("exit", () => resume(Effect.void))
  })
