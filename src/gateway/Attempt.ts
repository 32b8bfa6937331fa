import * as Effect from "effect/Effect"
import { type ChatEvent, isContent } from "../domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../domain/Completion.ts"
import { ProviderError, type ProviderFailure } from "../domain/ProviderError.ts"
import type { TimersShape } from "../domain/Timers.ts"
import type { ProviderCall } from "../provider/Provider.ts"
import type { ProvidersShape } from "../provider/Providers.ts"
import type { Deadlines } from "./Deadlines.ts"
import type { Slot } from "./Slot.ts"
import { Watch } from "./Watch.ts"

export interface AttemptOptions {
  readonly call: ProviderCall
  /** Already stretched for this candidate. */
  readonly deadlines: Deadlines
  /** When the whole call has to be over, by `Timers`. */
  readonly endsAtMillis: number
  /** An answer without any content is better than none: there is no other candidate to ask. */
  readonly acceptEmpty: boolean
}

/** How a stream is over. */
export type End =
  | { readonly _tag: "Ended" }
  | { readonly _tag: "Failed"; readonly error: ProviderError }
  /** Something of ours has thrown while an event was passed on. */
  | { readonly _tag: "Died"; readonly defect: unknown }

/** An upstream stream that has shown its first content; what came so far is kept, and it is paused until `relay`. */
export interface Opened {
  /**
   * Called once: delivers what was kept, then what comes. `onEvent` answers false to be paused until `resume`. `onEnd` is
   * called exactly once, also when `onEvent` throws.
   */
  readonly relay: (
    onEvent: (event: ChatEvent) => boolean,
    drained: (resume: () => void) => void,
    onEnd: (end: End) => void
  ) => void
}

/** Start-up events before the first content: more than this many is no stream of ours. */
const maxStartupEvents = 64

/** Opens a stream up to its first content. Whoever is interrupted meanwhile closes the slot, and nothing is left behind. */
export const open = (
  providers: ProvidersShape,
  timers: TimersShape,
  slot: Slot,
  { acceptEmpty, call, deadlines, endsAtMillis }: AttemptOptions
): Effect.Effect<Opened, ProviderError> =>
  Effect.async((resume) => {
    const providerId = call.model.providerId
    const kept: Array<ChatEvent> = []
    const order = new Order()
    let phase: "opening" | "open" | "relaying" | "over" = "opening"
    let ended: End | undefined
    let deliver: (event: ChatEvent) => void = () => {}
    let finish: (end: End) => void = () => {}
    const fail = (reason: ProviderFailure) => over({ _tag: "Failed", error: failure(providerId, reason) })
    const watch = new Watch({
      timers,
      firstMillis: deadlines.firstContentMillis,
      late: firstContentTimeout,
      idleMillis: deadlines.idleMillis,
      endsAtMillis,
      // silence before any content is just another way of being late with it
      expire: (reason) => fail(reason._tag === "Stalled" && phase === "opening" ? firstContentTimeout : reason)
    })

    const over = (end: End) => {
      if (ended !== undefined) return
      ended = end
      watch.stop()
      if (end._tag !== "Ended") upstream.close()
      if (phase === "opening") {
        phase = "over"
        slot.release()
        resume(beforeContent(end, providerId))
      } else if (phase === "relaying") {
        phase = "over"
        finish(end)
      }
    }
    const opened: Opened = {
      relay: (onEvent, drained, onEnd) => {
        phase = "relaying"
        finish = onEnd
        let isHeldBack = false
        deliver = guarded(over, (event: ChatEvent) => {
          // what has come already is still delivered: the reader is asked once when it will go on
          if (onEvent(event) || isHeldBack) return
          isHeldBack = true
          upstream.pause()
          watch.pause()
          drained(() => {
            isHeldBack = false
            watch.resume()
            upstream.resume()
          })
        })
        for (const event of kept) {
          if (phase === "relaying") deliver(event)
        }
        kept.length = 0
        if (phase !== "relaying") return
        if (ended !== undefined) {
          phase = "over"
          onEnd(ended)
          return
        }
        watch.resume()
        upstream.resume()
      }
    }
    const receive = guarded(over, (event: ChatEvent) => {
      if (ended !== undefined) return
      if (order.isBroken(event)) return fail(contentAfterFinish)
      if (phase === "relaying") return deliver(event)
      kept.push(event)
      if (phase !== "opening") return
      if (isContent(event)) {
        if (event._tag === "Finish" && isEmptyFinish(event, acceptEmpty)) return fail({ _tag: "EmptyCompletion" })
        phase = "open"
        watch.pause()
        upstream.pause()
        resume(Effect.succeed(opened))
      } else if (kept.length > maxStartupEvents) {
        fail({ _tag: "BadResponse", detail: "too many events before the first content" })
      }
    })
    const upstream = providers.open(call, {
      activity: () => watch.mark(),
      event: receive,
      end: () => (order.isFinished ? over({ _tag: "Ended" }) : fail({ _tag: "Disconnected" })),
      fail: (error) => over({ _tag: "Failed", error })
    })
    const close = () => {
      watch.stop()
      upstream.close()
    }
    slot.hold(close, fail)
    watch.start()
  })

/** What a stream that is over before its first content has come to. */
const beforeContent = (end: End, providerId: string): Effect.Effect<never, ProviderError> => {
  switch (end._tag) {
    case "Ended":
      return Effect.fail(failure(providerId, { _tag: "Disconnected" }))
    case "Failed":
      return Effect.fail(end.error)
    case "Died":
      return Effect.die(end.defect)
  }
}

/**
 * A callback that is run from a socket or a timer, where nobody waits for what it throws: without this the call would neither
 * go on nor end.
 */
const guarded =
  (over: (end: End) => void, run: (event: ChatEvent) => void) =>
  (event: ChatEvent): void => {
    try {
      run(event)
    } catch (defect) {
      over({ _tag: "Died", defect })
    }
  }

/** The order of an answer's events: after its finish no part of it may follow. */
class Order {
  isFinished = false

  isBroken(event: ChatEvent): boolean {
    switch (event._tag) {
      case "Finish":
        this.isFinished = true
        return false
      case "Served":
      case "Usage":
        return false
      default:
        return this.isFinished && (isContent(event) || event._tag === "Annotation")
    }
  }
}

/** A plain answer, whole. As with a stream, closing the slot ends it. */
export const answer = (
  providers: ProvidersShape,
  timers: TimersShape,
  slot: Slot,
  { acceptEmpty, call, deadlines, endsAtMillis }: AttemptOptions
): Effect.Effect<Answer, ProviderError> =>
  Effect.async((resume) => {
    const providerId = call.model.providerId
    const whole = new Accumulator()
    const order = new Order()
    let isOver = false
    const watch = new Watch({
      timers,
      firstMillis: deadlines.plainAnswerMillis,
      late: answerTimeout,
      idleMillis: deadlines.idleMillis,
      endsAtMillis,
      expire: (reason) => over(Effect.fail(failure(providerId, reason._tag === "Stalled" ? answerTimeout : reason)))
    })
    const over = (result: Effect.Effect<Answer, ProviderError>) => {
      if (isOver) return
      isOver = true
      slot.release()
      resume(result)
    }
    const upstream = providers.open(call, {
      activity: () => watch.mark(),
      event: guarded(
        (end) => over(beforeContent(end, providerId)),
        (event) => {
          if (order.isBroken(event)) over(Effect.fail(failure(providerId, contentAfterFinish)))
          else whole.add(event)
        }
      ),
      end: () => {
        const { answer } = whole
        if (answer === undefined) over(Effect.fail(failure(providerId, { _tag: "Disconnected" })))
        else if (whole.isEmpty && isEmptyFinish({ reason: answer.finish, native: answer.nativeFinish }, acceptEmpty)) {
          over(Effect.fail(failure(providerId, { _tag: "EmptyCompletion" })))
        } else over(Effect.succeed(answer))
      },
      fail: (error) => over(Effect.fail(error))
    })
    const close = () => {
      watch.stop()
      upstream.close()
    }
    slot.hold(close, (reason) => over(Effect.fail(failure(providerId, reason))))
    watch.start()
  })

/** `length` and `content_filter` explain why there is nothing; `stop` does not, and a blank reason never does. */
const isEmptyFinish = (finish: { readonly reason: string; readonly native: string }, acceptEmpty: boolean): boolean =>
  finish.native === "" || ((finish.reason === "stop" || finish.reason === "tool_calls") && !acceptEmpty)

const firstContentTimeout: ProviderFailure = { _tag: "FirstContentTimeout" }
const answerTimeout: ProviderFailure = { _tag: "AnswerTimeout" }
const contentAfterFinish: ProviderFailure = { _tag: "BadResponse", detail: "content after the finish" }

const failure = (providerId: string, reason: ProviderFailure) => new ProviderError({ providerId, reason })
