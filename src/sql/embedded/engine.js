import { concat, message } from "./messages.js"
import { Statements } from "./statements.js"

/**
 * A minimal PostgreSQL server: many logical connections, each with the wire protocol, over the one session of
 * PGlite. A connection owns the session from its first batch until the session reports that no transaction is open, so
 * that transactions and cursors of several connections never mix.
 *
 * @typedef {(bytes: Uint8Array<ArrayBuffer>) => void} Send
 * @typedef {object} Connection
 * @property {Send} send
 * @property {boolean} started
 * @property {boolean} closed
 * @property {Uint8Array} unread
 * @property {Array<Uint8Array>} read of the batch that has begun, as it is sent to the session
 * @property {Array<Uint8Array>} batches
 * @property {Statements} statements
 *
 * @typedef {object} Session the used part of PGlite
 * @property {<T>(run: () => Promise<T>) => Promise<T>} runExclusive
 * @property {(message: Uint8Array, options: { onRawData: (data: Uint8Array) => void }) => Promise<void>} execProtocolRawStream
 * @property {(query: string) => Promise<unknown>} exec
 */

const sslRequest = 80877103
const gssRequest = 80877104
const cancelRequest = 80877102

const typeSync = 0x53
const typeQuery = 0x51
const typeFlush = 0x48
const typeCopyDone = 0x63
const typeCopyFail = 0x66
const typeTerminate = 0x58
const typeNotification = 0x41
const typeReady = 0x5a
const statusIdle = 0x49

/** Ends a batch of the extended protocol. */
const sync = message("S", new Uint8Array(0))

export class Engine {
  /** @type {Session} */
  #session
  /** @type {Uint8Array<ArrayBuffer>} */
  #greeting
  /** @type {Map<number, Connection>} */
  #connections = new Map()
  /** @type {Connection | undefined} */
  #owner
  /** In order of arrival; bounded by the client's pool. @type {Array<Connection>} */
  #waiting = []
  #running = false

  /**
   * @param {Session} session
   * @param {string} serverVersion
   */
  constructor(session, serverVersion) {
    this.#session = session
    this.#greeting = greeting(serverVersion)
  }

  /**
   * @param {number} id
   * @param {Send} send takes ownership of the bytes
   */
  open(id, send) {
    this.#connections.set(id, {
      send,
      started: false,
      closed: false,
      unread: new Uint8Array(0),
      read: [],
      batches: [],
      statements: new Statements(id)
    })
  }

  /**
   * Bytes from a client, split anywhere. Rejects only when the session itself is broken.
   *
   * @param {number} id
   * @param {Uint8Array} bytes
   * @returns {Promise<void>}
   */
  data(id, bytes) {
    const connection = this.#connections.get(id)
    if (connection === undefined) return Promise.resolve()
    this.#read(connection, bytes)
    return connection.batches.length > 0 ? this.#wake(connection) : Promise.resolve()
  }

  /**
   * @param {number} id
   * @returns {Promise<void>}
   */
  close(id) {
    const connection = this.#connections.get(id)
    if (connection === undefined) return Promise.resolve()
    this.#connections.delete(id)
    connection.closed = true
    return this.#wake(connection)
  }

  /**
   * Splits the received bytes into batches: all messages up to one after which a client waits for a response.
   *
   * @param {Connection} connection
   * @param {Uint8Array} bytes
   */
  #read(connection, bytes) {
    const unread = connection.unread.length === 0 ? bytes : concat(connection.unread, bytes)
    const view = new DataView(unread.buffer, unread.byteOffset, unread.byteLength)
    let at = 0
    let start = 0
    while (true) {
      if (!connection.started) {
        if (unread.length - at < 8) break
        const length = view.getInt32(at)
        if (unread.length - at < length) break
        this.#startUp(connection, view.getInt32(at + 4))
        at += length
        start = at
        continue
      }
      if (unread.length - at < 5) break
      const length = 1 + view.getInt32(at + 1)
      if (unread.length - at < length) break
      const type = unread[at]
      const named = connection.statements.named(unread.subarray(at, at + length))
      if (named !== undefined) {
        connection.read.push(unread.slice(start, at), named)
        start = at + length
      }
      at += length
      if (type === typeTerminate) {
        connection.read = []
        start = at
      } else if (
        type === typeSync ||
        type === typeQuery ||
        type === typeFlush ||
        type === typeCopyDone ||
        type === typeCopyFail
      ) {
        const last = unread.slice(start, at)
        connection.batches.push(connection.read.length === 0 ? last : concat(...connection.read, last))
        connection.read = []
        start = at
      }
    }
    connection.unread = unread.slice(start)
  }

  /**
   * @param {Connection} connection
   * @param {number} code
   */
  #startUp(connection, code) {
    if (code === sslRequest || code === gssRequest) connection.send(Uint8Array.of(0x4e))
    else if (code !== cancelRequest) {
      connection.started = true
      connection.send(this.#greeting.slice())
    }
  }

  /** @param {Connection} connection */
  #wake(connection) {
    if (connection !== this.#owner && !this.#waiting.includes(connection)) this.#waiting.push(connection)
    return this.#run()
  }

  async #run() {
    if (this.#running) return
    this.#running = true
    for (;;) {
      const connection = this.#owner ?? this.#waiting.shift()
      if (connection === undefined) break
      if (connection.closed) {
        if (connection === this.#owner) {
          await this.#session.exec("ROLLBACK")
          this.#owner = undefined
        }
        const closing = connection.statements.close()
        if (closing.length > 0) await this.#execute(concat(...closing, sync), () => {})
        continue
      }
      const batch = connection.batches.shift()
      if (batch === undefined) {
        if (connection === this.#owner) break
        continue
      }
      this.#owner = connection
      const answer = new Response(connection.send, (notification) => this.#notify(notification))
      await this.#execute(batch, (data) => answer.push(data))
      if (answer.status === statusIdle) {
        this.#owner = undefined
        if (connection.batches.length > 0 || connection.closed) this.#waiting.push(connection)
      }
    }
    this.#running = false
  }

  /**
   * @param {Uint8Array} batch
   * @param {(data: Uint8Array) => void} onRawData
   */
  #execute(batch, onRawData) {
    return this.#session.runExclusive(() => this.#session.execProtocolRawStream(batch, { onRawData }))
  }

  /** @param {Uint8Array} notification */
  #notify(notification) {
    for (const connection of this.#connections.values()) {
      if (connection.started) connection.send(notification.slice())
    }
  }
}

/**
 * Passes a response on as it arrives, in pieces split anywhere, keeps the last transaction status, and extracts notifications,
 * which go to every connection that listens.
 */
class Response {
  status = 0
  /** @type {Send} */
  #send
  /** @type {(notification: Uint8Array) => void} */
  #notify
  /** The first part of a message that must be complete to be read. @type {Uint8Array} */
  #kept = new Uint8Array(0)
  /** Bytes still missing of a message that is passed through. */
  #remaining = 0

  /**
   * @param {Send} send
   * @param {(notification: Uint8Array) => void} notify
   */
  constructor(send, notify) {
    this.#send = send
    this.#notify = notify
  }

  /** @param {Uint8Array} piece a view that is valid only during this call */
  push(piece) {
    const data = this.#kept.length === 0 ? piece : concat(this.#kept, piece)
    this.#kept = new Uint8Array(0)
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
    let from = 0
    let at = 0
    while (at < data.length) {
      if (this.#remaining > 0) {
        const passed = Math.min(this.#remaining, data.length - at)
        this.#remaining -= passed
        at += passed
        continue
      }
      const type = data[at]
      const length = data.length - at < 5 ? Number.POSITIVE_INFINITY : 1 + view.getInt32(at + 1)
      if (length === Number.POSITIVE_INFINITY || (isWatched(type) && data.length - at < length)) {
        this.#kept = data.slice(at)
        break
      }
      if (type === typeNotification) {
        this.#pass(data, from, at)
        this.#notify(data.subarray(at, at + length))
        from = at + length
        at = from
      } else if (type === typeReady) {
        this.status = data[at + 5] ?? 0
        at += length
      } else {
        this.#remaining = length
      }
    }
    this.#pass(data, from, data.length - this.#kept.length)
  }

  /**
   * @param {Uint8Array} data
   * @param {number} from
   * @param {number} to
   */
  #pass(data, from, to) {
    if (to > from) this.#send(new Uint8Array(data.subarray(from, to)))
  }
}

/** @param {number | undefined} type */
const isWatched = (type) => type === typeNotification || type === typeReady

/**
 * The server's response to a start-up message: authentication, its parameters, ready.
 *
 * @param {string} serverVersion
 */
const greeting = (serverVersion) => {
  const parameters = {
    server_version: serverVersion,
    server_encoding: "UTF8",
    client_encoding: "UTF8",
    DateStyle: "ISO, MDY",
    integer_datetimes: "on",
    standard_conforming_strings: "on",
    TimeZone: "UTC"
  }
  const encoder = new TextEncoder()
  let bytes = message("R", new Uint8Array(4))
  for (const [name, value] of Object.entries(parameters)) {
    bytes = concat(bytes, message("S", encoder.encode(`${name}\0${value}\0`)))
  }
  return concat(bytes, message("Z", Uint8Array.of(statusIdle)))
}
