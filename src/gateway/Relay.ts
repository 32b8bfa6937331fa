import * as Effect from "effect/Effect"
import type { CallError } from "../domain/Call.ts"
import type { ChatEvent, Finished } from "../domain/ChatEvent.ts"
import type { RequestId } from "../domain/Ids.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"
import type { Cancel, TimersShape } from "../domain/Timers.ts"
import type { Usage } from "../domain/Usage.ts"
import type { End, Opened } from "./Attempt.ts"
import type { Meter } from "./Meter.ts"
import type { Slot } from "./Slot.ts"

/** Facts of an answer that its first byte already carries. */
export interface AnswerStart {
  readonly requestId: RequestId
  readonly createdSeconds: number
  /** The concrete model that answers. */
  readonly model: string
}

/**
 * Where a streamed answer goes: an HTTP response, or the queue behind a Stream. `begin` comes first, then events, then one
 * of `complete` and `fail`. Finish and usage are not among the events: they come with `complete`.
 */
export interface Sink {
  readonly begin: (start: AnswerStart) => void
  /** False: the reader is slow, hold back until `drained` calls. */
  readonly event: (event: ChatEvent) => boolean
  readonly drained: (resume: () => void) => void
  readonly complete: (finish: Finished, usage: Usage, metadata: RouterMetadata) => void
  readonly fail: (error: CallError) => void
}

/** A finish waits this long for the usage that should follow it. */
const usageWaitMillis = 2_000
/** Usage may be corrected: the last one that comes within this time, or before the end, counts. */
const usageRepeatMillis = 25
/** A whole answer's socket may take this long to end by itself, so that it can be used again. */
const lingerMillis = 1_000

/**
 * Moves an opened stream into the sink until it is complete or broken; both are told to the sink and to the meter. Whatever
 * the sink throws is a defect of the call, which then ends like any other.
 */
export const pump = (
  opened: Opened,
  sink: Sink,
  { meter, slot, timers }: { readonly meter: Meter; readonly slot: Slot; readonly timers: TimersShape }
): Effect.Effect<ProviderError | undefined> =>
  Effect.async((resume) => {
    let finish: Finished | undefined
    let isOver = false
    let cancelWait: Cancel | undefined
    let waitsUntilMillis = 0

    const over = (end: End) => {
      if (isOver) return
      isOver = true
      cancelWait?.()
      try {
        resume(told(end))
      } catch (defect) {
        resume(Effect.die(defect))
      }
    }
    const told = (end: End): Effect.Effect<ProviderError | undefined> => {
      if (end._tag === "Died") return Effect.die(end.defect)
      if (finish !== undefined && (end._tag === "Ended" || !contradicts(end.error))) {
        const metadata = meter.complete()
        sink.complete(finish, meter.usageOrEstimate, metadata)
        meter.end({ _tag: "Complete" })
        return Effect.succeed(undefined)
      }
      if (end._tag === "Ended") return Effect.dieMessage("a stream that has not finished has ended well")
      const { error } = end
      meter.end({ _tag: "Failed", status: error.facts.status, error: error.callError })
      sink.fail(error.callError)
      return Effect.succeed(error)
    }
    /** The answer is whole, but its upstream has not said that it has ended. */
    const waited = () => {
      slot.linger((close) => timers.after(lingerMillis, close))
      over({ _tag: "Ended" })
    }
    opened.relay(
      (event) => {
        if (isOver) return true
        meter.saw(event)
        switch (event._tag) {
          case "Finish":
            if (finish !== undefined) return true
            finish = event
            waitsUntilMillis = timers.now() + usageWaitMillis
            cancelWait = timers.after(usageWaitMillis, waited)
            return true
          case "Usage":
            if (finish !== undefined) {
              cancelWait?.()
              const leftMillis = Math.max(0, waitsUntilMillis - timers.now())
              cancelWait = timers.after(Math.min(usageRepeatMillis, leftMillis), waited)
            }
            return true
          default:
            return sink.event(event)
        }
      },
      sink.drained,
      over
    )
    return Effect.sync(() => {
      isOver = true
      cancelWait?.()
    })
  })

/**
 * Once the model has finished, a break of the connection takes nothing away any more; an answer that goes on after its
 * finish, or says what cannot be read, was never whole.
 */
const contradicts = (error: ProviderError): boolean => error.reason._tag === "BadResponse"
