import type { CallError } from "../domain/Call.ts"
import type { ChatEvent, Finished } from "../domain/ChatEvent.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"
import type { Cancel, TimersShape } from "../domain/Timers.ts"
import type { Usage } from "../domain/Usage.ts"
import type { AnswerStart, Sink } from "../gateway/Relay.ts"
import type { WireError } from "../wire/ErrorBody.ts"
import * as Errors from "./Errors.ts"
import * as Responder from "./Responder.ts"

/** The wire format of a streamed answer: a state machine from events to frames. */
export interface StreamEncoder {
  readonly event: (event: ChatEvent) => boolean
  readonly complete: (finish: Finished, usage: Usage, metadata: RouterMetadata) => void
  readonly fail: (error: WireError) => void
}

export interface HttpSinkOptions {
  readonly exchange: Responder.Exchange
  readonly timers: TimersShape
  readonly headers: Readonly<Record<string, string>>
  readonly headHoldMillis: number
  readonly heartbeatMillis: number
  readonly encoder: (start: AnswerStart, write: (frame: string) => boolean) => StreamEncoder
  /** What the answer is called when it fails before anyone has begun to answer. */
  readonly unanswered: AnswerStart
  /** The client has stopped reading for too long. */
  readonly abandon: () => void
  /** Takes the whole stream once it has ended well. */
  readonly keep: ((stream: string) => void) | undefined
}

/** A reader that takes nothing for this long has gone, whatever its socket says. */
const writeStallMillis = 60_000

export const streamType = "text/event-stream; charset=utf-8"

const streamHeaders = {
  "content-type": streamType,
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff"
} as const

/**
 * A streamed answer on a node response. The head is held back, so that a failure before the first content still gets a
 * real status; once it has been held for too long it is sent, heartbeats flow, and failures are told in-band.
 */
export class HttpSink implements Sink {
  private readonly options: HttpSinkOptions
  private encoder: StreamEncoder | undefined
  private cancelBeat: Cancel
  private cancelStall: Cancel | undefined
  private lastWriteAtMillis = 0
  private isOver = false
  private readonly frames: Array<string> = []

  constructor(options: HttpSinkOptions) {
    this.options = options
    this.cancelBeat = options.timers.after(options.headHoldMillis, () => this.beat())
  }

  get headSent(): boolean {
    return this.options.exchange.response.headersSent
  }

  readonly begin = (start: AnswerStart): void => {
    this.encoder = this.options.encoder(start, this.write)
    if (!this.headSent) {
      this.sendHead()
      this.cancelBeat()
      this.lastWriteAtMillis = this.options.timers.now()
      this.beatAfter(this.options.heartbeatMillis)
    }
  }

  readonly event = (event: ChatEvent): boolean => this.encoder?.event(event) ?? true

  readonly drained = (resume: () => void): void => {
    const { abandon, exchange, timers } = this.options
    const cancel = timers.after(writeStallMillis, abandon)
    this.cancelStall = cancel
    exchange.response.once("drain", () => {
      cancel()
      resume()
    })
  }

  readonly complete = (finish: Finished, usage: Usage, metadata: RouterMetadata): void => {
    this.encoder?.complete(finish, usage, metadata)
    this.options.keep?.(this.frames.join(""))
    this.end()
  }

  readonly fail = (error: CallError): void => this.failWith(Errors.inBand(error))

  /** Ends a stream whose head has been sent with an error that no client takes for a whole answer. */
  failWith(error: WireError): void {
    if (this.isOver) return
    try {
      const encoder = this.encoder ?? this.options.encoder(this.options.unanswered, this.write)
      encoder.fail(error)
      this.end()
    } catch {
      // not even the error can be written: a cut is the only end left that no client takes for a whole answer
      this.dispose()
      this.options.exchange.response.destroy()
    }
  }

  /** No more timers; the response is somebody else's. */
  dispose(): void {
    this.isOver = true
    this.cancelBeat()
    this.cancelStall?.()
  }

  private end(): void {
    this.dispose()
    this.options.exchange.response.end()
  }

  private readonly write = (frame: string): boolean => {
    if (this.options.keep !== undefined) this.frames.push(frame)
    return this.send(frame)
  }

  private send(text: string): boolean {
    this.lastWriteAtMillis = this.options.timers.now()
    return this.options.exchange.response.write(text)
  }

  private sendHead(): void {
    Responder.head(this.options.exchange, 200, streamHeaders, this.options.headers)
  }

  private beatAfter(millis: number): void {
    this.cancelBeat = this.options.timers.after(millis, () => this.beat())
  }

  private beat(): void {
    if (this.isOver) return
    if (!this.headSent) this.sendHead()
    const silentMillis = this.options.timers.now() - this.lastWriteAtMillis
    if (silentMillis >= this.options.heartbeatMillis || this.lastWriteAtMillis === 0) {
      this.send(": keep-alive\n\n")
      this.beatAfter(this.options.heartbeatMillis)
    } else this.beatAfter(this.options.heartbeatMillis - silentMillis)
  }
}
