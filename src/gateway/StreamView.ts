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

/** A reader's view of a call that writes into a sink; the call runs in the scope and is cancelled with it. */
export const make = (
  run: (sink: Sink) => Effect.Effect<void, CallFailure>
): Effect.Effect<StreamedAnswer, CallFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<ResponseStart, CallFailure>()
    const mailbox = yield* Mailbox.make<ChatEvent | Completed, StreamBroken>()
    const events = new EventWindow(mailbox)
    const call = run(sinkOf(begun, events))
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
    // nobody else can read the rest: without the interruption the call would be held back until its deadline
    return { ...start, events: readOnce(Stream.ensuring(events.read, Fiber.interrupt(fiber))) }
  })

/** Writes for the reader; the end of the call ends the reading. */
const sinkOf = (begun: Deferred.Deferred<ResponseStart, CallFailure>, events: EventWindow): Sink => ({
  begin: (start) => Deferred.unsafeDone(begun, Effect.succeed(start)),
  // usage comes with the last element
  event: (event) => (event._tag === "Usage" ? true : events.push(event)),
  drained: (resume) => events.drained(resume),
  complete: (finish, usage, metadata) => {
    events.push({ _tag: "Completed", finish, usage, metadata })
  },
  fail: ({ code, message }) => events.fail(new StreamBroken({ code, message: message ?? "The provider failed." }))
})

const readOnce = <A, E>(events: Stream.Stream<A, E>): Stream.Stream<A, E> => {
  let isRead = false
  return Stream.suspend(() => {
    if (isRead) return Stream.dieMessage("the events of a response are read once")
    isRead = true
    return events
  })
}

/** Events that may wait for the reader before the upstream is held back. */
const maxWaiting = 64

/**
 * The events that wait for the reader. The mailbox is unbounded, because adding an event cannot wait here: what bounds it is that
 * the upstream is held back.
 */
class EventWindow {
  readonly read: Stream.Stream<ChatEvent | Completed, StreamBroken>
  private readonly mailbox: Mailbox.Mailbox<ChatEvent | Completed, StreamBroken>
  private waiting = 0
  private resume: (() => void) | undefined

  constructor(mailbox: Mailbox.Mailbox<ChatEvent | Completed, StreamBroken>) {
    this.mailbox = mailbox
    this.read = Stream.mapChunks(Mailbox.toStream(mailbox), (chunk) => {
      this.taken(chunk.length)
      return chunk
    })
  }

  /** False: nothing more is to be added until `drained` calls back. */
  push(event: ChatEvent | Completed): boolean {
    this.mailbox.unsafeOffer(event)
    this.waiting += 1
    return this.waiting < maxWaiting
  }

  drained(resume: () => void): void {
    this.resume = resume
  }

  /** After what waits the reader gets the error. */
  fail(error: StreamBroken): void {
    this.mailbox.unsafeDone(Exit.fail(error))
  }

  private taken(count: number): void {
    this.waiting -= count
    const { resume } = this
    if (this.waiting >= maxWaiting || resume === undefined) return
    this.resume = undefined
    resume()
  }
}
