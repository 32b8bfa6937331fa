import type { CallError } from "../../domain/Call.ts"
import type { ChatEvent, Finish } from "../../domain/ChatEvent.ts"
import type { ResponseStart } from "../../domain/ResponseStart.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import type { Usage } from "../../domain/Usage.ts"
import type { Sink } from "../../gateway/Relay.ts"
import type { WireError } from "../../wire/ErrorBody.ts"
import { heartbeat } from "../../wire/framing/Sse.ts"
import * as Errors from "../Errors.ts"
import * as NodeResponse from "../server/NodeResponse.ts"

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
  readonly encoder: (start: ResponseStart, write: (frame: string) => boolean) => StreamEncoder
  /** The response start for a failure before any provider has started a response. */
  readonly startBeforeResponse: ResponseStart
  /** Called when the client has stopped reading for too long. */
  readonly abandon: () => void
  /** Receives the complete stream after success. */
  readonly keep: ((stream: string) => void) | undefined
}

/** A client that reads nothing for this long counts as disconnected, even if the socket is open. */
const writeStallMillis = 60_000

export const streamType = "text/event-stream; charset=utf-8"

const streamHeaders = {
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
  private cancelHeartbeat: Cancel
  private cancelStall: Cancel | undefined
  private lastWriteAtMillis = 0
  private isOver = false
  private readonly frames: Array<string> = []

  constructor(options: HttpSinkOptions) {
    this.options = options
    this.cancelHeartbeat = options.timers.after(options.headHoldMillis, () => this.heartbeat())
  }

  get headSent(): boolean {
    return this.options.exchange.response.headersSent
  }

  readonly begin = (start: ResponseStart): void => {
    this.encoder = this.options.encoder(start, this.write)
    if (!this.headSent) {
      this.sendHead()
      this.cancelHeartbeat()
      this.lastWriteAtMillis = this.options.timers.now()
      this.heartbeatAfter(this.options.heartbeatMillis)
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

  readonly complete = (finish: Finish, usage: Usage, metadata: RouterMetadata): void => {
    this.encoder?.complete(finish, usage, metadata)
    this.options.keep?.(this.frames.join(""))
    this.end()
  }

  readonly fail = (error: CallError): void => this.failWith(Errors.inBand(error))

  /** Ends a stream whose head has been sent with an error, so that no client takes the response for a complete one. */
  failWith(error: WireError): void {
    if (this.isOver) return
    try {
      const encoder = this.encoder ?? this.options.encoder(this.options.startBeforeResponse, this.write)
      encoder.fail(error)
      this.end()
    } catch {
      // the error cannot be written either: only a reset keeps clients from taking the response for a complete one
      this.dispose()
      this.options.exchange.response.destroy()
    }
  }

  /** Stops all timers; another writer now owns the response. */
  dispose(): void {
    this.isOver = true
    this.cancelHeartbeat()
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
    NodeResponse.head(this.options.exchange, 200, streamHeaders, this.options.headers)
  }

  private heartbeatAfter(millis: number): void {
    this.cancelHeartbeat = this.options.timers.after(millis, () => this.heartbeat())
  }

  private heartbeat(): void {
    if (this.isOver) return
    if (!this.headSent) this.sendHead()
    const silentMillis = this.options.timers.now() - this.lastWriteAtMillis
    if (silentMillis >= this.options.heartbeatMillis || this.lastWriteAtMillis === 0) {
      this.send(heartbeat)
      this.heartbeatAfter(this.options.heartbeatMillis)
    } else this.heartbeatAfter(this.options.heartbeatMillis - silentMillis)
  }
}
