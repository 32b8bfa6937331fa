import { Duplex } from "node:stream"

/** What a wire says to the other side. */
export interface WireHandlers {
  readonly opened: (wire: Wire) => void
  /** Takes ownership of the bytes. */
  readonly written: (wire: Wire, bytes: Uint8Array<ArrayBuffer>) => void
  readonly closed: (wire: Wire) => void
}

/** The socket that a `pg` client believes it has: its bytes go to the embedded database's thread and back. */
export class Wire extends Duplex {
  private readonly handlers: WireHandlers

  constructor(handlers: WireHandlers) {
    super()
    this.handlers = handlers
  }

  connect(): this {
    this.handlers.opened(this)
    process.nextTick(() => {
      if (!this.destroyed) this.emit("connect")
    })
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    // Copied: the buffers that pg writes are shared, and what is handed over is lost to this side.
    this.handlers.written(this, new Uint8Array(chunk))
    done()
  }

  override _final(done: () => void): void {
    this.handlers.closed(this)
    this.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.handlers.closed(this)
    done(error)
  }
}
