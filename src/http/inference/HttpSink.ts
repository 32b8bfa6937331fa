import type { CallError } from "../../domain/Call.ts"
import type { ChatEvent, Finish } from "../../domain/ChatEvent.ts"
import type { ResponseStart } from "../../domain/ResponseStart.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import type { Usage } from "../../domain/Usage.ts"
import type { Sink } from "../../gateway/Relay.ts"
import type { WireError } from "../../wire/ErrorBody.ts"
import * as Errors from "../Errors.ts"
import * as NodeResponse from "../server/NodeResponse.ts"
import { KeptStream, shutdownCode } from "./KeptStream.ts"

/** The wire format of a streamed response: a state machine from events to frames. */
export interface StreamEncoder {
  readonly event: (event: ChatEvent) => boolean
  readonly complete: (finish: Finish, usage: Usage, metadata: RouterMetadata) => void
  readonly fail: (error: WireError) => void
}

export interface HttpSinkOptions {
  readonly exchange: NodeResponse.HttpExchange
  readonly timers: TimersShape
  readonly headers: Readonly<Record<string, string>>
  readonly headHoldMillis: number
  readonly heartbeatMillis: number
  /** The frame that keeps a silent connection alive. */
  readonly heartbeat: string
  readonly encoder: (start: ResponseStart, write: (frame: string) => boolean) => StreamEncoder
  /** The response start for a failure before any provider has started a response. */
  readonly startBeforeResponse: ResponseStart
  /** Called when the client has stopped reading for too long. */
  readonly abandon: () => void
  /**
   * The stream is kept for a repetition of its request: it is received up to its end even if the client leaves, and its last
   * frames wait for `deliver`.
   */
  readonly isKept: boolean
}

/** A client that reads nothing for this long counts as disconnected, even if the socket is open. */
const writeStallMillis = 60_000

export const streamType = "text/event-stream; charset=utf-8"

export const streamHeaders = {
  "content-type": streamType,
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff"
} as const

/**
 * A streamed response on a node response. The head is held back, so that a failure before the first content still gets an error
 * status; after `headHoldMillis` the head is sent, heartbeats follow, and failures are reported in-band.
 */
export class HttpSink implements Sink {
  private readonly options: HttpSinkOptions
  private encoder: StreamEncoder | undefined
  /** The model that answers; before one does, as requested. */
  private model: string
  private cancelHeartbeat: Cancel
  private cancelStall: Cancel | undefined
  private lastWriteAtMillis = 0
  private isOver = false
  /** For a repetition of the request. */
  private readonly repetition: KeptStream | undefined
  private isEnded = false
  private hasClientLeft = false
  private resumeReading: (() => void) | undefined

  constructor(options: HttpSinkOptions) {
    this.options = options
    this.model = options.startBeforeResponse.model
    this.cancelHeartbeat = options.timers.after(options.headHoldMillis, () => this.heartbeat())
    if (options.isKept) {
      const { response } = options.exchange
      this.repetition = new KeptStream()
      // it may have left while its key was claimed: "close" is not emitted again, nor "drain" ever
      if (response.closed) this.clientLeft()
      else response.once("close", () => this.clientLeft())
    }
  }

  get headSent(): boolean {
    return this.options.exchange.response.headersSent
  }

  /** The stream for a repetition of the request, once it has ended; without it the request is run again. */
  get kept(): string | undefined {
    return this.isEnded ? this.repetition?.text : undefined
  }

  readonly begin = (start: ResponseStart): void => {
    this.model = start.model
    this.encoder = this.options.encoder(start, this.write)
    if (!this.headSent && !this.hasClientLeft) {
      this.sendHead()
      this.cancelHeartbeat()
      this.lastWriteAtMillis = this.options.timers.now()
      this.heartbeatAfter(this.options.heartbeatMillis)
    }
  }

  readonly event = (event: ChatEvent): boolean => this.encoder?.event(event) ?? true

  readonly drained = (resume: () => void): void => {
    if (this.hasClientLeft) {
      resume()
      return
    }
    this.resumeReading = resume
    const { abandon, exchange, timers } = this.options
    const cancel = timers.after(writeStallMillis, abandon)
    this.cancelStall = cancel
    exchange.response.once("drain", () => {
      cancel()
      this.resumeReading = undefined
      resume()
    })
  }

  readonly complete = (finish: Finish, usage: Usage, metadata: RouterMetadata): void => {
    this.repetition?.holdTail()
    this.encoder?.complete(finish, usage, metadata)
    this.ended()
  }

  readonly fail = (error: CallError): void => {
    // what the shutdown of this node has cut short can be run again
    if (error.code === shutdownCode) this.repetition?.giveUp()
    this.failWith(Errors.inBand(error, this.model))
  }

  /** Ends a stream whose head has been sent with an error, so that no client takes the response for a complete one. */
  failWith(error: WireError): void {
    if (this.isOver || this.isEnded) return
    try {
      this.repetition?.holdTail()
      const encoder = this.encoder ?? this.options.encoder(this.options.startBeforeResponse, this.write)
      encoder.fail(error)
      this.ended()
    } catch {
      // the error cannot be written either: only a reset keeps clients from taking the response for a complete one
      this.dispose()
      this.options.exchange.response.destroy()
    }
  }

  /** Sends the last frames of a kept stream, once its settlement is written. */
  deliver(): void {
    if (!this.isEnded || this.isOver) return
    const tail = this.repetition?.takeTail()
    if (tail === undefined) return
    for (const frame of tail) this.send(frame)
    this.end()
  }

  /** Stops all timers; another writer now owns the response. */
  dispose(): void {
    this.isOver = true
    this.resumeReading = undefined
    this.cancelHeartbeat()
    this.cancelStall?.()
  }

  private ended(): void {
    this.isEnded = true
    if (this.repetition === undefined) this.end()
  }

  private end(): void {
    this.dispose()
    if (!this.hasClientLeft) this.options.exchange.response.end()
  }

  /** Nobody reads any more, but the stream goes on to its end. */
  private clientLeft(): void {
    this.hasClientLeft = true
    this.cancelHeartbeat()
    this.cancelStall?.()
    const resume = this.resumeReading
    this.resumeReading = undefined
    resume?.()
  }

  private readonly write = (frame: string): boolean => (this.repetition?.add(frame) === true ? true : this.send(frame))

  private send(text: string): boolean {
    if (this.hasClientLeft) return true
    this.lastWriteAtMillis = this.options.timers.now()
    return this.options.exchange.response.write(text)
  }

  private sendHead(): void {
    NodeResponse.head(this.options.exchange, 200, streamHeaders, this.options.headers)
  }

  private heartbeatAfter(millis: number): void {
    this.cancelHeartbeat = this.options.timers.after(millis, () => this.heartbeat())
  }

  private heartbeat(): void {
    if (this.isOver || this.hasClientLeft) return
    if (!this.headSent) this.sendHead()
    const silentMillis = this.options.timers.now() - this.lastWriteAtMillis
    if (silentMillis >= this.options.heartbeatMillis || this.lastWriteAtMillis === 0) {
      this.send(this.options.heartbeat)
      this.heartbeatAfter(this.options.heartbeatMillis)
    } else this.heartbeatAfter(this.options.heartbeatMillis - silentMillis)
  }
}
