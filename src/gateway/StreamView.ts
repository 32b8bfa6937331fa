import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Mailbox from "effect/Mailbox"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ChatEvent, Finish } from "../domain/ChatEvent.ts"
import type { CallFailure } from "../domain/GatewayError.ts"
import type { ResponseStart } from "../domain/ResponseStart.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"
import type { Usage } from "../domain/Usage.ts"
import type { Sink } from "./Relay.ts"

/** The last element of a stream that came to its end: the call is complete and settled at this cost. */
export interface Completed {
  /** Tells it from the events. */
  readonly _tag: "Completed"
  /** Why the model stopped. */
  readonly finish: Finish
  /** As reported, else estimated. */
  readonly usage: Usage
  /** `router_metadata` of the response, in the shape of the API. */
  readonly metadata: RouterMetadata
}

/** The stream broke after its first content; what came before is part of an answer, not an answer. */
export class StreamBroken extends Data.TaggedError("StreamBroken")<{
  /** Stable, machine-readable: of the provider's failure, or of the gateway's. */
  readonly code: string
  readonly message: string
}> {}

/** A response whose first content is there. */
export interface StreamedAnswer extends ResponseStart {
  /**
   * What the model answers as it comes, and `Completed` last; fails where the response breaks. A defect of the call, and the end of
   * its scope before the last element, are causes of the stream too: only what ends with `Completed` is whole. It is read once:
   * a second run is a defect. A reader that ends before, having enough or interrupted, cancels the call, as the end of the scope does.
   */
  readonly events: Stream.Stream<ChatEvent | Completed, StreamBroken>
}

/** Events that may wait for the reader before the upstream is held back. */
const window = 64

/** A reader's view of a call that writes into a sink; the call runs in the scope and is cancelled with it. */
export const make = (
  run: (sink: Sink) => Effect.Effect<void, CallFailure>
): Effect.Effect<StreamedAnswer, CallFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<ResponseStart, CallFailure>()
    // unbounded, because adding an event cannot wait here: the window above bounds it by holding the upstream back
    const mailbox = yield* Mailbox.make<ChatEvent | Completed, StreamBroken>()
    let waiting = 0
    let resume: (() => void) | undefined
    const push = (event: ChatEvent | Completed): boolean => {
      mailbox.unsafeOffer(event)
      waiting += 1
      return waiting < window
    }
    const call = run({
      begin: (start) => Deferred.unsafeDone(begun, Effect.succeed(start)),
      // usage comes with the last element
      event: (event) => (event._tag === "Usage" ? true : push(event)),
      drained: (go) => {
        resume = go
      },
      complete: (finish, usage, metadata) => {
        push({ _tag: "Completed", finish, usage, metadata })
      },
      fail: ({ code, message }) => {
        mailbox.unsafeDone(Exit.fail(new StreamBroken({ code, message: message ?? "The provider failed." })))
      }
    })
    // The call alone can be interrupted, even where the program that opens the stream cannot: whoever still reads then reads why
    // it has ended, and not the end of a whole response.
    const running = Effect.uninterruptible(
      Effect.matchCauseEffect(Effect.interruptible(call), {
        onFailure: (cause) =>
          Effect.zipRight(Deferred.failCause(begun, cause), mailbox.failCause(Cause.stripFailures(cause))),
        onSuccess: () => mailbox.end
      })
    )
    // nobody can read what is interrupted while it opens: its call does not last until the scope around it is closed
    const { fiber, start } = yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkScoped(running), (fiber) =>
        Effect.map(
          Effect.onInterrupt(restore(Deferred.await(begun)), () => Fiber.interrupt(fiber)),
          (start) => ({ fiber, start })
        )
      )
    )
    const read = Stream.mapChunks(Mailbox.toStream(mailbox), (chunk) => {
      waiting -= chunk.length
      if (waiting < window && resume !== undefined) {
        const go = resume
        resume = undefined
        go()
      }
      return chunk
    })
    let isRead = false
    const events = Stream.suspend(() => {
      if (isRead) return Stream.dieMessage("the events of a response are read once")
      isRead = true
      // nobody else can read the rest: without this the call would be held back until its deadline
      return Stream.ensuring(read, Fiber.interrupt(fiber))
    })
    return { ...start, events }
  })
