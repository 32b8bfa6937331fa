import { Worker } from "node:worker_threads"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { FromCaptureWorker, Sealed, ToCaptureWorker, WorkerJob } from "./captureWorker.js"

/** The thread has ended, or does not answer. */
export class SealerFailed extends Data.TaggedError("SealerFailed")<{ readonly cause: unknown }> {}

export type SealedOrError = FromCaptureWorker["sealed"][number]
export const isSealed = (one: SealedOrError): one is Sealed => !("error" in one)

export interface Sealer {
  /** Bodies are handed over: they are empty afterwards. The answer is in the order of the jobs. */
  readonly seal: (jobs: ReadonlyArray<WorkerJob>) => Effect.Effect<ReadonlyArray<SealedOrError>, SealerFailed>
  /** The last sample of these conversations was not kept: the next one stands for itself. */
  readonly forget: (chains: ReadonlyArray<string>) => void
}

/** A batch takes some hundred milliseconds at most. */
const maxMillis = 30_000

interface Waiting {
  readonly resume: (answer: Effect.Effect<ReadonlyArray<SealedOrError>, SealerFailed>) => void
}

/** One thread, started at the first sample; started again after it has failed. */
export const make: Effect.Effect<Sealer, never, Scope.Scope> = Effect.gen(function* () {
  const waiting = new Map<number, Waiting>()
  let thread: Worker | undefined
  let lastBatch = 0

  const failed = (own: Worker, cause: unknown) => {
    if (thread !== own) return
    thread = undefined
    const error = Effect.fail(new SealerFailed({ cause }))
    for (const { resume } of waiting.values()) resume(error)
    waiting.clear()
    void own.terminate()
  }
  const started = (): Worker => {
    if (thread !== undefined) return thread
    // both builds put it beside this file
    const own = new Worker(new URL("./captureWorker.js", import.meta.url))
    thread = own
    own.unref()
    own.on("message", ({ batch, sealed }: FromCaptureWorker) => {
      waiting.get(batch)?.resume(Effect.succeed(sealed))
      waiting.delete(batch)
    })
    own.on("error", (cause) => failed(own, cause))
    own.on("exit", (code) => failed(own, new Error(`the thread ended with code ${code}`)))
    return own
  }
  const post = (message: ToCaptureWorker, transfer: ReadonlyArray<ArrayBuffer> = []) =>
    started().postMessage(message, [...transfer])

  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      const own = thread
      thread = undefined
      await own?.terminate()
    })
  )

  return {
    seal: (jobs) =>
      Effect.async<ReadonlyArray<SealedOrError>, SealerFailed>((resume) => {
        lastBatch += 1
        const batch = lastBatch
        waiting.set(batch, { resume })
        post(
          { type: "encode", batch, jobs },
          jobs.flatMap(({ body }) => (body?.buffer instanceof ArrayBuffer ? [body.buffer] : []))
        )
        return Effect.sync(() => waiting.delete(batch))
      }).pipe(
        Effect.timeoutFail({ duration: maxMillis, onTimeout: () => new SealerFailed({ cause: "no answer in time" }) }),
        Effect.tapError(({ cause }) => Effect.sync(() => thread !== undefined && failed(thread, cause)))
      ),
    forget: (chains) => {
      if (thread !== undefined && chains.length > 0) post({ type: "forget", chains })
    }
  }
})
