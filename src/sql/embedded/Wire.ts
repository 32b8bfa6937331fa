import { Duplex } from "node:stream"
import { concat } from "./messages.js"

/** Events of a wire. */
export interface WireHandlers {
  readonly opened: (wire: Wire) => void
  /** Takes ownership of the bytes. */
  readonly written: (wire: Wire, bytes: Uint8Array<ArrayBuffer>) => void
  readonly closed: (wire: Wire) => void
}

/** For the driver of a wire, which would take what it is not told from PGSSLMODE and PGSSLNEGOTIATION. */
export const unencrypted = { ssl: false, sslnegotiation: "postgres" } as const

/** Stands for the socket of a `pg` client: bytes go to the embedded database's thread and back. */
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
    // Copied: pg reuses its buffers, and a transferred buffer is no longer usable here.
    this.handlers.written(this, new Uint8Array(chunk))
    done()
  }

  /** A statement is several writes; together they wake the other thread once. */
  override _writev(chunks: ReadonlyArray<{ readonly chunk: Buffer }>, done: () => void): void {
    this.handlers.written(this, concat(...chunks.map(({ chunk }) => chunk)))
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
