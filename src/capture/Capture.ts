import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Runtime from "effect/Runtime"
import type { CallObserver } from "../domain/CallObserver.ts"
import type { Timers } from "../domain/Timers.ts"
import type { CaptureKeys } from "./CaptureKeys.ts"
import * as CaptureLoss from "./CaptureLoss.ts"
import { CaptureQueue } from "./CaptureQueue.ts"
import type { CaptureStore } from "./CaptureStore.ts"
import { CaptureWindows } from "./CaptureWindows.ts"
import { make as makeWriter } from "./CaptureWriter.ts"

export interface CaptureShape {
  /** Follows the calls that opt in. */
  readonly observer: CallObserver
  /** Everything that was taken by now is written or dropped. */
  readonly flushed: Effect.Effect<void>
}

/**
 * Keeps calls that their clients and their project have opted in. It works behind the calls: what cannot be kept is dropped and
 * counted, and no call waits for it.
 */
export class Capture extends Context.Tag("gateway/capture/Capture")<Capture, CaptureShape>() {
  static readonly layer: Layer.Layer<Capture, never, CaptureKeys | CaptureStore | CaptureWindows | Timers> =
    Layer.scoped(
      this,
      Effect.suspend(() => make)
    )
}

/** Sealed and written together. */
const perBatch = 32
/** At the end of the process, what is in the queue is written within this time or dropped. */
const closingTime = Duration.seconds(2)

const make = Effect.gen(function* () {
  const windows = yield* CaptureWindows
  const loss = yield* CaptureLoss.make
  const writer = yield* makeWriter(loss)
  const runtime = yield* Effect.runtime<never>()
  const signal = yield* Queue.sliding<void>(1)

  const queue = new CaptureQueue({
    peek: windows.peek,
    lookUp: (project) => Runtime.runFork(runtime)(Effect.ignore(windows.of(project))),
    added: () => signal.unsafeOffer(undefined),
    lost: loss.lost
  })

  const next = Effect.suspend(() => {
    const taken = queue.take(perBatch)
    if (taken.length === 0) return Queue.take(signal)
    return Effect.ensuring(
      writer.write(taken),
      Effect.sync(() => queue.done(taken))
    )
  })
  const flushed = Effect.async<void>((resume) => {
    const cancel = queue.whenEmpty(() => resume(Effect.void))
    return Effect.sync(cancel)
  })

  yield* Effect.forkScoped(Effect.forever(next))
  yield* Effect.addFinalizer(() => Effect.asVoid(Effect.timeoutOption(Effect.interruptible(flushed), closingTime)))
  return Capture.of({ observer: queue.observer, flushed })
})
