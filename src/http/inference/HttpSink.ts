import * as NodeResponse from "../server/NodeResponse.ts"
import { StreamSink, type StreamSinkOptions, streamHeaders } from "./StreamSink.ts"

export interface HttpSinkOptions extends StreamSinkOptions {
  readonly exchange: NodeResponse.HttpExchange
  readonly headers: Readonly<Record<string, string>>
  /** Called when the client has stopped reading for too long. */
  readonly abandon: () => void
}

/** A streamed response on a node response. */
export class HttpSink extends StreamSink<HttpSinkOptions> {
  protected isOver = false
  /** Of a kept stream; any other ends with its client. */
  protected isUnread = false

  constructor(options: HttpSinkOptions) {
    super(options)
    if (options.isKept) {
      const { response } = options.exchange
      // it may have left while its key was claimed: "close" is not emitted again, nor "drain" ever
      if (response.closed) this.clientLeft()
      else response.once("close", () => this.clientLeft())
    }
  }

  get headSent(): boolean {
    return this.options.exchange.response.headersSent
  }

  override drained(resume: () => void): void {
    super.drained(resume)
    if (!this.isUnread) this.options.exchange.response.once("drain", () => this.hasRoom())
  }

  /** Stops all timers; another writer now owns the response. */
  dispose(): void {
    this.isOver = true
    this.stop()
  }

  protected sendHead(): void {
    if (!this.isUnread) NodeResponse.head(this.options.exchange, 200, streamHeaders, this.options.headers)
  }

  protected push(frame: string): boolean {
    return this.options.exchange.response.write(frame)
  }

  protected finish(): void {
    this.options.exchange.response.end()
  }

  protected cut(): void {
    this.dispose()
    this.options.exchange.response.destroy()
  }

  protected stalled(): void {
    this.options.abandon()
  }

  private clientLeft(): void {
    this.isUnread = true
    this.hasRoom()
    this.stop()
  }
}
