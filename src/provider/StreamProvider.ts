import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import type { ChatEvent } from "../domain/ChatEvent.ts"
import { ProviderError } from "../domain/ProviderError.ts"
import type { Provider, ProviderCall, Receiver } from "./Provider.ts"

/**
 * A provider written as a stream: each call runs `answer` on its own fiber, which waits while the reader is paused and is
 * interrupted when the call is closed; `close` waits for the finalizers of all of them. A stream that ends without a Finish event
 * was cut off. An error that is not a `ProviderError`, and a defect, become one with the reason `Failed`, which keeps it as its
 * cause for `CallObservers` and lets the call fall back. A defect is logged whole, of an error the log has only the name.
 *
 * @example
 * const provider = makeProvider("echo", ({ request }) =>
 *   Stream.make(textEvent(`${request.messages.length} messages`), finishEvent(), usageEvent({ outputTokens: 2 }))
 * )
 */
export const make = <E = never, R = never>(
  id: string,
  answer: (call: ProviderCall) => Stream.Stream<ChatEvent, E, R>
): Effect.Effect<Provider, never, R> =>
  Effect.map(Effect.runtime<R>(), (runtime) => {
    const running = new Set<Fiber.RuntimeFiber<boolean, E>>()
    return {
      id,
      close: Effect.suspend(() => Fiber.interruptAll(running)),
      open: (call, receiver) => {
        const reading = Effect.unsafeMakeLatch(true)
        let isPaused = false
        let isOver = false
        /** An open latch is not awaited: each await resets the fiber's operation count, so that the fiber would never yield. */
        const turn = Effect.suspend(() => (isPaused ? reading.await : Effect.void))
        const run = Effect.suspend(() => deliver(answer(call), turn, receiver, () => isOver)).pipe(
          Effect.tapDefect((cause) =>
            Effect.annotateLogs(Effect.logError("a provider of the application ended in a defect", cause), {
              provider: id
            })
          )
        )
        // the runtime is as its maker was, also where that could not be interrupted
        const fiber = Runtime.runFork(runtime, Effect.interruptible(traced(call, run)), { immediate: false })
        running.add(fiber)
        fiber.addObserver((exit) => {
          running.delete(fiber)
          if (isOver) return
          isOver = true
          const failure = failureOf(id, exit)
          if (failure === undefined) receiver.end()
          else receiver.fail(failure)
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
    }
  })

/** Spans of the provider are children of the attempt's. */
const traced = <A, E, R>({ span }: ProviderCall, run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  span === undefined ? run : Effect.withTracer(Effect.withParentSpan(run, span.span), span.tracer)

/** Succeeds with whether a Finish event was delivered. */
const deliver = <E, R>(
  events: Stream.Stream<ChatEvent, E, R>,
  turn: Effect.Effect<void>,
  receiver: Receiver,
  isOver: () => boolean
): Effect.Effect<boolean, E, R> => {
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

const failureOf = <E>(providerId: string, exit: Exit.Exit<boolean, E>): ProviderError | undefined => {
  if (Exit.isSuccess(exit)) {
    return exit.value ? undefined : new ProviderError({ providerId, reason: { _tag: "Disconnected" } })
  }
  const cause = Cause.squash(exit.cause)
  return cause instanceof ProviderError ? cause : new ProviderError({ providerId, reason: { _tag: "Failed", cause } })
}
