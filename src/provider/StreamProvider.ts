import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import type { ChatEvent } from "../domain/ChatEvent.ts"
import { ProviderError, type ProviderFailure } from "../domain/ProviderError.ts"
import type { Provider, ProviderCall, Receiver } from "./Provider.ts"

/**
 * A provider written as a stream: each call runs `answer` on its own fiber, which waits while the reader is paused and is
 * interrupted when the call is closed. A stream that ends without a Finish event was cut off; a defect is a bad response.
 */
export const make = <R = never>(
  id: string,
  answer: (call: ProviderCall) => Stream.Stream<ChatEvent, ProviderError, R>
): Effect.Effect<Provider, never, R> =>
  Effect.map(Effect.runtime<R>(), (runtime) => ({
    id,
    open: (call, receiver) => {
      const reading = Effect.unsafeMakeLatch(true)
      let isPaused = false
      let isOver = false
      /** An open latch is not awaited: each await resets the fiber's operation count, so that the fiber would never yield. */
      const turn = Effect.suspend(() => (isPaused ? reading.await : Effect.void))
      const run = Effect.suspend(() => deliver(answer(call), turn, receiver, () => isOver))
      const fiber = Runtime.runFork(runtime, run, { immediate: false })
      fiber.addObserver((exit) => {
        if (isOver) return
        isOver = true
        const failure = failureOf(exit)
        if (failure === undefined) receiver.end()
        else
          receiver.fail(
            failure instanceof ProviderError ? failure : new ProviderError({ providerId: id, reason: failure })
          )
      })
      return {
        pause: () => {
          isPaused = true
          reading.unsafeClose()
        },
        resume: () => {
          isPaused = false
          reading.unsafeOpen()
        },
        close: () => {
          if (isOver) return
          isOver = true
          fiber.unsafeInterruptAsFork(fiber.id())
        }
      }
    }
  }))

/** Succeeds with whether a Finish event was delivered. */
const deliver = <R>(
  events: Stream.Stream<ChatEvent, ProviderError, R>,
  turn: Effect.Effect<void>,
  receiver: Receiver,
  isOver: () => boolean
): Effect.Effect<boolean, ProviderError, R> => {
  let finished = false
  return Stream.runForEach(events, (event) =>
    Effect.map(turn, () => {
      if (isOver()) return
      finished ||= event._tag === "Finish"
      receiver.activity()
      receiver.event(event)
    })
  ).pipe(Effect.map(() => finished))
}

const failureOf = (exit: Exit.Exit<boolean, ProviderError>): ProviderError | ProviderFailure | undefined => {
  if (Exit.isSuccess(exit)) return exit.value ? undefined : { _tag: "Disconnected" }
  return Option.getOrElse(
    Cause.failureOption(exit.cause),
    (): ProviderFailure => ({ _tag: "BadResponse", detail: "the provider's program has died" })
  )
}
