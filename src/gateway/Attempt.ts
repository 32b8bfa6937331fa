import * as Effect from "effect/Effect"
import { type ChatEvent, isContent } from "../domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../domain/Completion.ts"
import { ProviderError, type ProviderFailure } from "../domain/ProviderError.ts"
import type { Cancel, TimersShape } from "../domain/Timers.ts"
import type { ProviderCall } from "../provider/Provider.ts"
import type { ProvidersShape } from "../provider/Providers.ts"
import type { Deadlines } from "./Deadlines.ts"
import type { Slot } from "./Slot.ts"

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

/** Opens a stream up to its first content. The slot closes it; an interruption leaves nothing behind. */
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
    const watch = new Watch(timers, deadlines.idleMillis, endsAtMillis, (reason) =>
      // silence before any content is just another way of being late with it
      over(
        failure(providerId, reason._tag === "Stalled" && phase === "opening" ? { _tag: "FirstContentTimeout" } : reason)
      )
    )

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
        deliver = (event) => {
          if (onEvent(event)) return
          upstream.pause()
          watch.pause()
          drained(() => {
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
    watch.start(deadlines.firstContentMillis, { _tag: "FirstContentTimeout" }, () => phase === "opening")
    return Effect.sync(() => {
      watch.stop()
      slot.release()
    })
  })

/** A plain answer, whole. */
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
    const watch = new Watch(timers, deadlines.idleMillis, endsAtMillis, (reason) =>
      over(Effect.fail(failure(providerId, reason._tag === "Stalled" ? { _tag: "AnswerTimeout" } : reason)))
    )
    const over = (result: Effect.Effect<Answer, ProviderError>) => {
      if (isOver) return
      isOver = true
      watch.stop()
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
    slot.hold(
      () => upstream.close(),
      (reason) => over(Effect.fail(failure(providerId, reason)))
    )
    watch.start(deadlines.plainAnswerMillis, { _tag: "AnswerTimeout" }, () => true)
    return Effect.sync(() => {
      watch.stop()
      slot.release()
    })
  })

/** `length` and `content_filter` explain why there is nothing; `stop` does not, and a blank reason never does. */
const isEmptyFinish = (finish: { readonly reason: string; readonly native: string }, acceptEmpty: boolean): boolean =>
  finish.native === "" || ((finish.reason === "stop" || finish.reason === "tool_calls") && !acceptEmpty)

const failure = (providerId: string, reason: ProviderFailure) => new ProviderError({ providerId, reason })

/**
 * The deadlines of one attempt behind one timer each: a first deadline, then silence, and the end of the whole call over
 * both. Marking activity costs one clock read, not a timer.
 */
class Watch {
  private readonly timers: TimersShape
  private readonly idleMillis: number
  private readonly endsAtMillis: number
  private readonly expire: (reason: ProviderFailure) => void
  private cancelFirst: Cancel | undefined
  private cancelIdle: Cancel | undefined
  private cancelTotal: Cancel | undefined
  private markedAt = 0
  private paused = false
  private stopped = false

  constructor(
    timers: TimersShape,
    idleMillis: number,
    endsAtMillis: number,
    expire: (reason: ProviderFailure) => void
  ) {
    this.timers = timers
    this.idleMillis = idleMillis
    this.endsAtMillis = endsAtMillis
    this.expire = expire
  }

  start(firstMillis: number, reason: ProviderFailure, applies: () => boolean): void {
    if (this.stopped) return
    const leftMillis = this.endsAtMillis - this.timers.now()
    this.cancelTotal = this.timers.after(Math.max(0, leftMillis), () => this.expire({ _tag: "RequestTimeout" }))
    if (firstMillis < leftMillis) {
      this.cancelFirst = this.timers.after(firstMillis, () => {
        if (applies()) this.expire(reason)
      })
    }
  }

  /** Silence is measured from here; the first mark starts the watch for it. */
  mark(): void {
    this.markedAt = this.timers.now()
    if (this.cancelIdle === undefined && !this.stopped && !this.paused) this.watchIdle(this.idleMillis)
  }

  /** The upstream is held back by us: its silence is not its fault. */
  pause(): void {
    this.paused = true
    this.cancelFirst?.()
    this.cancelIdle?.()
    this.cancelIdle = undefined
  }

  resume(): void {
    this.paused = false
    this.mark()
  }

  stop(): void {
    this.stopped = true
    this.cancelFirst?.()
    this.cancelIdle?.()
    this.cancelTotal?.()
  }

  private watchIdle(millis: number): void {
    this.cancelIdle = this.timers.after(millis, () => {
      const leftMillis = this.markedAt + this.idleMillis - this.timers.now()
      if (leftMillis <= 0) this.expire({ _tag: "Stalled" })
      else this.watchIdle(leftMillis)
    })
  }
}
