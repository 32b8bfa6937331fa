import { Worker } from "node:worker_threads"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { FromCaptureWorker, Sealed, ToCaptureWorker, WorkerJob } from "./captureWorker.js"

export type SealedOrError = FromCaptureWorker["sealed"]
export const isSealed = (one: SealedOrError): one is Sealed => !("error" in one)

export interface Sealer {
  /** One after the other, so that a call which is not sealed in time is lost alone. Bodies are copied: a job may be sealed again. */
  readonly seal: (jobs: ReadonlyArray<WorkerJob>) => Effect.Effect<ReadonlyArray<SealedOrError>>
  /** The last sample of these conversations was not kept: the next one stands for itself. */
  readonly forget: (chains: ReadonlyArray<string>) => void
}

/** A call takes some hundred milliseconds at most. */
const maxDuration = Duration.seconds(10)

/** One thread, started at the first sample; started again after it has failed. */
export const make: Effect.Effect<Sealer, never, Scope.Scope> = Effect.gen(function* () {
  const waiting = new Map<number, (sealed: SealedOrError | undefined) => void>()
  let thread: Worker | undefined
  let lastNumber = 0

  const failed = (own: Worker | undefined) => {
    if (own === undefined || thread !== own) return
    thread = undefined
    for (const resume of waiting.values()) resume(undefined)
    waiting.clear()
    void own.terminate()
  }
  const started = (): Worker => {
    if (thread !== undefined) return thread
    // both builds put it beside this file
    const own = new Worker(new URL("./captureWorker.js", import.meta.url))
    thread = own
    own.unref()
    own.on("message", ({ number, sealed }: FromCaptureWorker) => {
      waiting.get(number)?.(sealed)
      waiting.delete(number)
    })
    own.on("error", () => failed(own))
    own.on("exit", () => failed(own))
    return own
  }
  const post = (message: ToCaptureWorker) => started().postMessage(message)

  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      const own = thread
      thread = undefined
      await own?.terminate()
    })
  )

  const seal = (job: WorkerJob): Effect.Effect<SealedOrError> => {
    const { id } = job
    return Effect.async<SealedOrError>((resume) => {
      lastNumber += 1
      const number = lastNumber
      waiting.set(number, (sealed) => resume(Effect.succeed(sealed ?? { id, error: "ThreadEnded" })))
      post({ type: "encode", number, job })
      return Effect.sync(() => waiting.delete(number))
    }).pipe(
      Effect.timeoutTo({
        duration: maxDuration,
        onSuccess: (sealed) => sealed,
        onTimeout: (): SealedOrError => {
          // it is busy with this call still
          failed(thread)
          return { id, error: "TimedOut" }
        }
      })
    )
  }

  return {
    seal: (jobs) => Effect.forEach(jobs, seal),
    forget: (chains) => {
      if (thread !== undefined && chains.length > 0) post({ type: "forget", chains })
    }
  }
})
