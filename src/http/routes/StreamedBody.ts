import { Readable } from "node:stream"
import type { CallError } from "../../domain/Call.ts"
import type { ChatEvent, Finish } from "../../domain/ChatEvent.ts"
import type { ResponseStart } from "../../domain/ResponseStart.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import type { Usage } from "../../domain/Usage.ts"
import type { Sink } from "../../gateway/Relay.ts"
import type { WireError } from "../../wire/ErrorBody.ts"
import * as Errors from "../Errors.ts"
import type { StreamEncoder } from "../inference/HttpSink.ts"
import { KeptStream, shutdownCode } from "../inference/KeptStream.ts"

export interface StreamedBodyOptions {
  readonly timers: TimersShape
  readonly headHoldMillis: number
  readonly heartbeatMillis: number
  readonly heartbeat: string
  readonly encoder: (start: ResponseStart, write: (frame: string) => boolean) => StreamEncoder
  /** The response start for a failure before any provider has started a response. */
  readonly startBeforeResponse: ResponseStart
  /** The response has to begin: content is there, or the head was held for long enough. Called once. */
  readonly opened: () => void
  /** The body is over; `isWhole` is false where its reader has left or it had to be cut off. */
  readonly closed: (isWhole: boolean) => void
  /**
   * The stream is kept for a repetition of its request: it is received up to its end even if its reader leaves, and its last
   * frames wait for `deliver`.
   */
  readonly isKept: boolean
}

/** A client that reads nothing for this long counts as disconnected, even if its connection is open. */
const readStallMillis = 60_000

/**
 * A streamed response as the body of a platform response. A `Stream` would not do on Node.js: the platform ends a response whose
 * stream has failed as if it were complete. A readable that is destroyed with an error resets the connection instead, so that no
 * client takes a part for the whole; an expected failure ends it as an error frame without the format's end.
 */
export class StreamedBody implements Sink {
  readonly readable: Readable
  /** The model that answers; before one does, as requested. */
  private model: string
  private readonly options: StreamedBodyOptions
  private encoder: StreamEncoder | undefined
  private cancelHeartbeat: Cancel
  private cancelStall: Cancel | undefined
  private resumeReading: (() => void) | undefined
  private lastWriteAtMillis: number
  private readonly repetition: KeptStream | undefined
  private isOpen = false
  private isEnded = false
  private isClosed = false

  constructor(options: StreamedBodyOptions) {
    this.options = options
    this.repetition = options.isKept ? new KeptStream() : undefined
    this.lastWriteAtMillis = options.timers.now()
    this.readable = new Readable({
      read: () => this.wanted(),
      destroy: (error, done) => {
        const resume = this.resumeReading
        this.stop()
        if (options.isKept) resume?.()
        options.closed(this.isEnded && error === null)
        done(error)
      }
    })
    this.model = options.startBeforeResponse.model
    // without a listener an error would end the process where nothing reads the body any more
    this.readable.on("error", () => {})
    this.cancelHeartbeat = options.timers.after(options.headHoldMillis, () => this.beat())
  }

  readonly begin = (start: ResponseStart): void => {
    this.model = start.model
    this.encoder = this.options.encoder(start, this.write)
    this.open()
    this.cancelHeartbeat()
    if (!this.readable.destroyed) this.beatAfter(this.options.heartbeatMillis)
  }

  readonly event = (event: ChatEvent): boolean => this.encoder?.event(event) ?? true

  readonly drained = (resume: () => void): void => {
    if (this.readable.destroyed) {
      resume()
      return
    }
    this.resumeReading = resume
    this.cancelStall = this.options.timers.after(readStallMillis, () =>
      this.cutOff(new Error("the client has stopped reading"))
    )
  }

  readonly complete = (finish: Finish, usage: Usage, metadata: RouterMetadata): void => {
    this.repetition?.holdTail()
    this.encoder?.complete(finish, usage, metadata)
    this.ended()
  }

  readonly fail = (error: CallError): void => {
    // what the end of the application has cut short can be run again
    if (error.code === shutdownCode) this.repetition?.giveUp()
    this.failWith(Errors.inBand(error, this.model))
  }

  /** The stream for a repetition of the request, once it has ended; without it the request is run again. */
  get kept(): string | undefined {
    return this.isEnded ? this.repetition?.text : undefined
  }

  /** Sends the last frames of a kept stream, once its settlement is written. */
  deliver(): void {
    const tail = this.isEnded ? this.repetition?.takeTail() : undefined
    if (tail === undefined || this.readable.destroyed) return
    for (const frame of tail) this.readable.push(frame)
    this.close()
  }

  /** Nobody reads any more, or will; without effect where everything was written. */
  abandon(): void {
    if (!this.isClosed) this.readable.destroy()
  }

  /** The head has been sent, or will be: an error cannot have a status any more. */
  get headSent(): boolean {
    return this.isOpen
  }

  /** Ends the response with an error, so that no client takes it for a complete one. */
  failWith(error: WireError): void {
    if (this.isEnded || (this.readable.destroyed && !this.options.isKept)) return
    try {
      this.repetition?.holdTail()
      const encoder = this.encoder ?? this.options.encoder(this.options.startBeforeResponse, this.write)
      encoder.fail(error)
      this.ended()
    } catch (defect) {
      this.cutOff(defect instanceof Error ? defect : new Error(String(defect)))
    }
  }

  /** Resets the connection: what was sent is a part of a response, and nothing can say so any more. */
  cutOff(reason: Error): void {
    if (!this.isEnded) this.readable.destroy(reason)
  }

  /** Nothing is written any more, and no timer runs. */
  stop(): void {
    this.cancelHeartbeat()
    this.cancelStall?.()
    this.resumeReading = undefined
  }

  private open(): void {
    if (this.isOpen) return
    this.isOpen = true
    this.options.opened()
  }

  private ended(): void {
    this.isEnded = true
    this.stop()
    if (this.repetition === undefined) this.close()
  }

  private close(): void {
    this.isClosed = true
    this.readable.push(null)
  }

  private wanted(): void {
    const resume = this.resumeReading
    this.resumeReading = undefined
    this.cancelStall?.()
    resume?.()
  }

  private readonly write = (frame: string): boolean =>
    this.repetition?.add(frame) === true || this.readable.destroyed ? true : this.send(frame)

  private send(frame: string): boolean {
    this.lastWriteAtMillis = this.options.timers.now()
    return this.readable.push(frame)
  }

  private beatAfter(millis: number): void {
    this.cancelHeartbeat = this.options.timers.after(millis, () => this.beat())
  }

  private beat(): void {
    if (this.isEnded || this.readable.destroyed) return
    const { heartbeat, heartbeatMillis, timers } = this.options
    const silentMillis = timers.now() - this.lastWriteAtMillis
    const isFirst = !this.isOpen
    this.open()
    if (isFirst || silentMillis >= heartbeatMillis) {
      this.send(heartbeat)
      this.beatAfter(heartbeatMillis)
    } else this.beatAfter(heartbeatMillis - silentMillis)
  }
}
