import type { CallError } from "../../domain/Call.ts"
import type { ChatEvent, Finish } from "../../domain/ChatEvent.ts"
import { shutdownCode } from "../../domain/ProviderError.ts"
import type { ResponseStart } from "../../domain/ResponseStart.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import type { Usage } from "../../domain/Usage.ts"
import type { Sink } from "../../gateway/Relay.ts"
import type { WireError } from "../../wire/ErrorBody.ts"
import * as Errors from "../Errors.ts"
import { KeptStream } from "./KeptStream.ts"

/** The wire format of a streamed response: a state machine from events to frames. */
export interface StreamEncoder {
  readonly event: (event: ChatEvent) => boolean
  readonly complete: (finish: Finish, usage: Usage, metadata: RouterMetadata) => void
  readonly fail: (error: WireError) => void
}

export interface StreamSinkOptions {
  readonly timers: TimersShape
  readonly headHoldMillis: number
  readonly heartbeatMillis: number
  /** The frame that keeps a silent connection alive. */
  readonly heartbeat: string
  readonly encoder: (start: ResponseStart, write: (frame: string) => boolean) => StreamEncoder
  /** The response start for a failure before any provider has started a response. */
  readonly startBeforeResponse: ResponseStart
  /**
   * The stream is kept for a repetition of its request: it is received up to its end even if the client leaves, and its last
   * frames wait for `deliver`.
   */
  readonly isKept: boolean
}

export const streamType = "text/event-stream; charset=utf-8"

export const streamHeaders = {
  "content-type": streamType,
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff"
} as const

/** A client that reads nothing for this long counts as disconnected, even if its connection is open. */
const stallMillis = 60_000

/**
 * A streamed response in frames, whatever writes them. The head is held back, so that a failure before the first content still
 * gets an error status; after `headHoldMillis` the head is sent, heartbeats follow, and failures are reported in-band.
 */
export abstract class StreamSink<Options extends StreamSinkOptions = StreamSinkOptions> implements Sink {
  protected readonly options: Options
  private encoder: StreamEncoder | undefined
  /** The model that answers; before one does, as requested. */
  private model: string
  private cancelHeartbeat: Cancel
  private cancelStall: Cancel | undefined
  private resumeReading: (() => void) | undefined
  private lastWriteAtMillis = 0
  /** All frames are written, or kept until they are delivered. */
  protected isEnded = false
  /** For a repetition of the request. */
  private readonly repetition: KeptStream | undefined

  constructor(options: Options) {
    this.options = options
    this.model = options.startBeforeResponse.model
    this.repetition = options.isKept ? new KeptStream() : undefined
    this.cancelHeartbeat = options.timers.after(options.headHoldMillis, () => this.beat())
  }

  /** The head has been sent, or will be: an error cannot have a status any more. */
  abstract readonly headSent: boolean
  /** Nobody reads any more, but a kept stream goes on to its end. */
  protected abstract readonly isUnread: boolean
  /** Nothing more is to be written: another writer owns the response, or it was cut. */
  protected abstract readonly isOver: boolean
  protected abstract sendHead(): void
  /** False: nothing more is to be written until `hasRoom`. */
  protected abstract push(frame: string): boolean
  /** The last frame has been written. */
  protected abstract finish(): void
  /** Resets the connection: only that keeps clients from taking the response for a complete one. */
  protected abstract cut(reason: Error): void

  /** The stream for a repetition of the request, once it has ended; without it the request is run again. */
  get kept(): string | undefined {
    return this.isEnded ? this.repetition?.text : undefined
  }

  begin(start: ResponseStart): void {
    this.model = start.model
    this.encoder = this.options.encoder(start, this.write)
    if (this.headSent) return
    this.sendHead()
    this.cancelHeartbeat()
    if (this.isUnread) return
    this.lastWriteAtMillis = this.options.timers.now()
    this.beatAfter(this.options.heartbeatMillis)
  }

  event(event: ChatEvent): boolean {
    return this.encoder?.event(event) ?? true
  }

  drained(resume: () => void): void {
    if (this.isUnread) {
      resume()
      return
    }
    this.resumeReading = resume
    this.cancelStall = this.options.timers.after(stallMillis, () => this.stalled())
  }

  complete(finish: Finish, usage: Usage, metadata: RouterMetadata): void {
    this.repetition?.holdTail()
    this.encoder?.complete(finish, usage, metadata)
    this.ended()
  }

  fail(error: CallError): void {
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
    } catch (defect) {
      this.cut(defect instanceof Error ? defect : new Error(String(defect)))
    }
  }

  /** Sends the last frames of a kept stream, once its settlement is written. */
  deliver(): void {
    const tail = this.isEnded ? this.repetition?.takeTail() : undefined
    if (tail === undefined || this.isOver) return
    for (const frame of tail) this.send(frame)
    this.close()
  }

  /** The client has read nothing for `stallMillis`. */
  protected abstract stalled(): void

  /** There is room for more, or nobody reads any more. */
  protected hasRoom(): void {
    this.cancelStall?.()
    const resume = this.resumeReading
    this.resumeReading = undefined
    resume?.()
  }

  /** No timer runs any more, and nothing is resumed. */
  protected stop(): void {
    this.cancelHeartbeat()
    this.cancelStall?.()
    this.resumeReading = undefined
  }

  private ended(): void {
    this.isEnded = true
    this.stop()
    if (this.repetition === undefined) this.close()
  }

  private close(): void {
    if (!this.isUnread) this.finish()
  }

  private readonly write = (frame: string): boolean => (this.repetition?.add(frame) === true ? true : this.send(frame))

  private send(frame: string): boolean {
    if (this.isUnread) return true
    this.lastWriteAtMillis = this.options.timers.now()
    return this.push(frame)
  }

  private beatAfter(millis: number): void {
    this.cancelHeartbeat = this.options.timers.after(millis, () => this.beat())
  }

  private beat(): void {
    if (this.isEnded || this.isUnread) return
    const { heartbeat, heartbeatMillis, timers } = this.options
    const silentMillis = timers.now() - this.lastWriteAtMillis
    const isFirst = !this.headSent
    if (isFirst) this.sendHead()
    if (isFirst || silentMillis >= heartbeatMillis) {
      this.send(heartbeat)
      this.beatAfter(heartbeatMillis)
    } else this.beatAfter(heartbeatMillis - silentMillis)
  }
}
