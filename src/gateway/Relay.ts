import * as Effect from "effect/Effect"
import type { CallError } from "../domain/Call.ts"
import type { ChatEvent, Finish } from "../domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../domain/Completion.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { ResponseStart } from "../domain/ResponseStart.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"
import type { Cancel, TimersShape } from "../domain/Timers.ts"
import type { Usage } from "../domain/Usage.ts"
import type { End, Opened } from "./Attempt.ts"
import type { Call } from "./Call.ts"
import type { HoldSlices } from "./HoldSlices.ts"

/**
 * Where a streamed response goes: an HTTP response, or the queue behind a Stream. `begin` comes first, then events, then
 * one of `complete` and `fail`. The finish is not among the events, and usage only as far as it is known before: both come with
 * `complete`.
 */
export interface Sink {
  /** The response begins; called once, before everything else. */
  readonly begin: (start: ResponseStart) => void
  /** False: the reader is slow; nothing more is read until `drained` calls back. */
  readonly event: (event: ChatEvent) => boolean
  /** Called after `event` was false: `resume` is to be called once there is room. */
  readonly drained: (resume: () => void) => void
  /** The response is whole; nothing follows. */
  readonly complete: (finish: Finish, usage: Usage, metadata: RouterMetadata) => void
  /** The response has broken; nothing follows. */
  readonly fail: (error: CallError) => void
}

/** A finish waits this long for the usage that should follow it. */
const usageWaitMillis = 2_000
/** Usage may be corrected: the last report within this time, or before the end, counts. */
const usageRepeatMillis = 25
/** How long the socket of a complete response may take to end by itself, so that it can be used again. */
const lingerMillis = 1_000

/** The complete response of an attempt that was opened up to its end. */
export const collect = (call: Call, opened: Opened): Answer => {
  const response = new Accumulator()
  opened.relay({
    event: (event) => {
      call.received(opened.attempt, event)
      response.add(event)
      return true
    },
    drained: () => {},
    end: (end) => {
      if (end._tag === "Died") throw end.defect
    }
  })
  const { answer } = response
  if (answer === undefined) throw new Error("a response has ended without a finish")
  return answer
}

/**
 * Moves an opened stream into the sink until it is complete or has failed; either is the sink's last event. What the sink
 * throws is a defect of the call, which then ends like any other.
 */
export const pump = (
  call: Call,
  opened: Opened,
  sink: Sink,
  timers: TimersShape,
  slices: HoldSlices
): Effect.Effect<void> =>
  Effect.async((resume) => {
    let isSinkFull = false
    let finish: Finish | undefined
    let isOver = false
    let cancelWait: Cancel | undefined
    let waitsUntilMillis = 0

    const over = (end: End): void => {
      if (isOver) return
      isOver = true
      cancelWait?.()
      const held = finish === undefined ? undefined : slices.settled()
      if (held !== undefined)
        resume(
          Effect.zipRight(
            held,
            Effect.suspend(() => close(end))
          )
        )
      else {
        try {
          resume(close(end))
        } catch (defect) {
          resume(Effect.die(defect))
        }
      }
    }
    /** What is held is used up: the answer ends here, as at an output cap. */
    const cut = (): void => {
      if (isOver) return
      opened.attempt.tally.isCutByFunds = true
      finish = { _tag: "Finish", reason: "length", native: "length" }
      call.received(opened.attempt, finish)
      over({ _tag: "Ended" })
    }
    const isCovered = (): boolean => {
      if (finish !== undefined) return true
      const verdict = slices.check()
      if (verdict === "exhausted") cut()
      return verdict !== "waiting"
    }
    /** Goes on once there is room in the sink, and money for what comes. */
    const goOn = (next: () => void): void => {
      if (isOver) return
      if (isSinkFull) {
        sink.drained(() => {
          isSinkFull = false
          goOn(next)
        })
      } else if (isCovered()) next()
      else slices.decided(() => goOn(next))
    }
    const close = (end: End): Effect.Effect<void> => {
      if (end._tag === "Died") return Effect.die(end.defect)
      if (finish !== undefined && (end._tag === "Ended" || !contradicts(end.error))) {
        const reason = finish
        call.complete(opened.attempt, ({ metadata, usage }) => sink.complete(reason, usage, metadata))
        return Effect.void
      }
      if (end._tag === "Ended") return Effect.dieMessage("a stream has ended well without a finish")
      call.failed(end.error)
      sink.fail(end.error.callError)
      return Effect.void
    }
    /** The response is complete, but its upstream has not ended. */
    const waited = (): void => {
      call.disown()
      opened.closeAfter(lingerMillis)
      over({ _tag: "Ended" })
    }
    opened.relay({
      event: (event) => {
        if (isOver) return true
        call.received(opened.attempt, event)
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
            } else sink.event(event)
            return true
          default:
            isSinkFull = !sink.event(event)
            return isCovered() && !isSinkFull
        }
      },
      drained: goOn,
      end: over
    })
    return Effect.sync(() => {
      isOver = true
      cancelWait?.()
    })
  })

/**
 * Once the model has finished, a broken connection takes nothing away; a response that goes on after its finish, or whose
 * events cannot be read, was never complete.
 */
const contradicts = (error: ProviderError): boolean => error.reason._tag === "BadResponse"
