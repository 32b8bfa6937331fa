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

/** An upstream stream that has shown its first content; what came so far is kept, and it is paused until `relay`. */
export interface Opened {
  /** Called once: delivers what was kept, then what comes. `onEvent` answers false to be paused until `resume`. */
  readonly relay: (
    onEvent: (event: ChatEvent) => boolean,
    drained: (resume: () => void) => void,
    onEnd: (error: ProviderError | undefined) => void
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
    let phase: "opening" | "open" | "relaying" | "over" = "opening"
    let ended: { readonly error: ProviderError | undefined } | undefined
    let deliver: (event: ChatEvent) => void = () => {}
    let finish: (error: ProviderError | undefined) => void = () => {}
    const watch = new Watch({
      timers,
      firstMillis: deadlines.firstContentMillis,
      late: firstContentTimeout,
      idleMillis: deadlines.idleMillis,
      endsAtMillis,
      // silence before any content is just another way of being late with it
      expire: (reason) =>
        over(failure(providerId, reason._tag === "Stalled" && phase === "opening" ? firstContentTimeout : reason))
    })

    const over = (error: ProviderError | undefined) => {
      if (ended !== undefined) return
      ended = { error }
      watch.stop()
      if (error !== undefined) upstream.close()
      if (phase === "opening") {
        phase = "over"
        slot.release()
        resume(Effect.fail(error ?? failure(providerId, { _tag: "Disconnected" })))
      } else if (phase === "relaying") {
        phase = "over"
        finish(error)
      }
    }
    const opened: Opened = {
      relay: (onEvent, drained, onEnd) => {
        phase = "relaying"
        finish = onEnd
        let isHeldBack = false
        deliver = (event) => {
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
        }
        for (const event of kept) deliver(event)
        kept.length = 0
        if (ended !== undefined) {
          phase = "over"
          onEnd(ended.error)
          return
        }
        watch.resume()
        upstream.resume()
      }
    }
    const upstream = providers.open(call, {
      activity: () => watch.mark(),
      event: (event) => {
        if (phase === "relaying") return deliver(event)
        kept.push(event)
        if (phase !== "opening") return
        if (isContent(event)) {
          if (event._tag === "Finish" && isEmptyFinish(event, acceptEmpty)) {
            over(failure(providerId, { _tag: "EmptyCompletion" }))
            return
          }
          phase = "open"
          watch.pause()
          upstream.pause()
          resume(Effect.succeed(opened))
        } else if (kept.length > maxStartupEvents) {
          over(failure(providerId, { _tag: "BadResponse", detail: "too many events before the first content" }))
        }
      },
      end: () => over(undefined),
      fail: over
    })
    const close = () => {
      watch.stop()
      upstream.close()
    }
    slot.hold(close, (reason) => over(failure(providerId, reason)))
    watch.start()
  })

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
      event: (event) => whole.add(event),
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

const failure = (providerId: string, reason: ProviderFailure) => new ProviderError({ providerId, reason })
