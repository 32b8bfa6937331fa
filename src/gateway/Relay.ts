import * as Effect from "effect/Effect"
import type { CallError } from "../domain/Call.ts"
import type { ChatEvent, Finish } from "../domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../domain/Completion.ts"
import type { ResponseStart } from "../domain/ResponseStart.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"
import type { TimersShape } from "../domain/Timers.ts"
import type { Usage } from "../domain/Usage.ts"
import { contradictsFinish, type End, type Opened, type Reader } from "./Attempt.ts"
import type { Call } from "./Call.ts"
import type { HoldSlices } from "./HoldSlices.ts"
import { UsageWait } from "./UsageWait.ts"

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
    const relay = new StreamRelay(call, opened, sink, timers, slices, resume)
    opened.relay(relay)
    return Effect.sync(() => relay.stop())
  })

/** One stream on its way into the sink. Events come from a socket's callback, and the end of the stream resumes the call. */
class StreamRelay implements Reader {
  private finish: Finish | undefined
  private isSinkFull = false
  /** What waits for room in the sink. */
  private next: (() => void) | undefined
  private isOver = false
  private readonly usageWait: UsageWait
  private readonly call: Call
  private readonly opened: Opened
  private readonly sink: Sink
  private readonly slices: HoldSlices
  private readonly resume: (end: Effect.Effect<void>) => void

  constructor(
    call: Call,
    opened: Opened,
    sink: Sink,
    timers: TimersShape,
    slices: HoldSlices,
    resume: (end: Effect.Effect<void>) => void
  ) {
    this.call = call
    this.opened = opened
    this.sink = sink
    this.slices = slices
    this.resume = resume
    this.usageWait = new UsageWait(timers, () => this.endWithoutUpstream())
  }

  event(event: ChatEvent): boolean {
    if (this.isOver) return true
    this.call.received(this.opened.attempt, event)
    switch (event._tag) {
      case "Finish":
        if (this.finish !== undefined) return true
        this.finish = event
        this.usageWait.finished()
        return true
      case "Usage":
        if (this.finish === undefined) this.sink.event(event)
        else this.usageWait.reported()
        return true
      default:
        if (!this.sink.event(event)) this.sinkIsFull()
        return this.isCovered() && !this.isSinkFull
    }
  }

  /** Goes on once there is room in the sink, and money for what comes. */
  drained(next: () => void): void {
    if (this.isOver) return
    if (this.isSinkFull) this.next = next
    else if (this.isCovered()) next()
    else this.slices.decided(() => this.drained(next))
  }

  /** The sink is asked at once when it will have room: it tells only once, and may do so while money is waited for. */
  private sinkIsFull(): void {
    if (this.isSinkFull) return
    this.isSinkFull = true
    this.sink.drained(() => {
      this.isSinkFull = false
      const { next } = this
      this.next = undefined
      if (next !== undefined) this.drained(next)
    })
  }

  end(end: End): void {
    if (this.isOver) return
    this.stop()
    const held = this.finish === undefined ? undefined : this.slices.settled()
    if (held !== undefined) {
      this.resume(
        Effect.zipRight(
          held,
          Effect.suspend(() => this.close(end))
        )
      )
      return
    }
    try {
      this.resume(this.close(end))
    } catch (defect) {
      this.resume(Effect.die(defect))
    }
  }

  /** Nothing is passed on any more. */
  stop(): void {
    this.isOver = true
    this.usageWait.stop()
  }

  /** The response is complete, and its upstream goes on. */
  private endWithoutUpstream(): void {
    this.call.disown()
    this.opened.closeAfter(lingerMillis)
    this.end({ _tag: "Ended" })
  }

  private isCovered(): boolean {
    if (this.finish !== undefined) return true
    const verdict = this.slices.check()
    if (verdict === "exhausted") this.cut()
    else if (verdict === "died") this.end({ _tag: "Died", defect: this.slices.defect })
    return verdict !== "waiting"
  }

  /** What is held is used up: the answer ends here, as at an output cap. */
  private cut(): void {
    if (this.isOver) return
    this.opened.attempt.tally.isCutByFunds = true
    this.finish = { _tag: "Finish", reason: "length", native: "length" }
    this.call.received(this.opened.attempt, this.finish)
    this.end({ _tag: "Ended" })
  }

  private close(end: End): Effect.Effect<void> {
    const { call, finish, opened, sink } = this
    if (end._tag === "Died") return Effect.die(end.defect)
    if (finish !== undefined && (end._tag === "Ended" || !contradictsFinish(end.error))) {
      call.complete(opened.attempt, ({ metadata, usage }) => sink.complete(finish, usage, metadata))
      return Effect.void
    }
    if (end._tag === "Ended") return Effect.dieMessage("a stream has ended well without a finish")
    call.failed(end.error)
    sink.fail(end.error.callError)
    return Effect.void
  }
}
