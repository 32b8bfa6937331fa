import { Readable } from "node:stream"
import { StreamSink, type StreamSinkOptions } from "../inference/StreamSink.ts"

export interface StreamedBodyOptions extends StreamSinkOptions {
  /** The response has to begin: content is there, or the head was held for long enough. Called once. */
  readonly opened: () => void
  /** The body is over: all of it was read, its reader has left, or it had to be cut. */
  readonly closed: () => void
}

/**
 * A streamed response as the body of a platform response. A `Stream` would not do on Node.js: the platform ends a response whose
 * stream has failed as if it were complete. A readable that is destroyed with an error resets the connection instead, so that no
 * client takes a part for the whole; an expected failure ends it as an error frame without the format's end.
 */
export class StreamedBody extends StreamSink<StreamedBodyOptions> {
  readonly readable: Readable
  headSent = false
  private isFinished = false

  constructor(options: StreamedBodyOptions) {
    super(options)
    this.readable = new Readable({
      read: () => this.hasRoom(),
      destroy: (error, done) => {
        if (options.isKept) this.hasRoom()
        this.stop()
        options.closed()
        done(error)
      }
    })
    // without a listener an error would end the process where nothing reads the body any more
    this.readable.on("error", () => {})
  }

  /** Nobody reads any more, or will; without effect where everything was written. */
  abandon(): void {
    if (!this.isFinished) this.readable.destroy()
  }

  /** What was sent is a part of a response, and nothing can say so any more. */
  cut(reason: Error): void {
    if (!this.isEnded) this.readable.destroy(reason)
  }

  protected get isUnread(): boolean {
    return this.readable.destroyed
  }

  protected get isOver(): boolean {
    return this.readable.destroyed && !this.options.isKept
  }

  protected sendHead(): void {
    this.headSent = true
    this.options.opened()
  }

  protected push(frame: string): boolean {
    return this.readable.push(frame)
  }

  protected finish(): void {
    this.isFinished = true
    this.readable.push(null)
  }

  protected stalled(): void {
    this.cut(new Error("the client has stopped reading"))
  }
}
