// @ts-check
// One keep-alive HTTP connection on a bare socket: the least that a load generator can cost.
import net from "node:net"

export const nowMicros = () => Number(process.hrtime.bigint() / 1000n)

/**
 * One request as it goes over the wire.
 *
 * @param {{ body: string, headers?: Readonly<Record<string, string>>, path: string, port: number }} request
 */
export const requestBytes = ({ body, headers = {}, path, port }) => {
  const bytes = Buffer.from(body)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n`
  return Buffer.concat([Buffer.from(`${head}${lines.join("")}\r\n`), bytes])
}

const endOfHead = Buffer.from("\r\n\r\n")
const endOfChunks = "0\r\n\r\n"

/**
 * One request and its answer, timed in microseconds; `delays` are those of the marks in its body.
 *
 * @typedef {{
 *   status: number
 *   startedAt: number
 *   firstAt: number
 *   endedAt: number
 *   delays: Array<number>
 *   error: string | undefined
 *   onFirst: (exchange: Exchange) => void
 * }} Exchange
 */

export class Connection {
  #socket
  /** @type {(exchange: Exchange) => void} */
  #onEnd = () => {}
  /** @type {Exchange | undefined} */
  #exchange
  /** Bytes until it is whole. @type {Buffer | string | undefined} */
  #head
  #left = -1
  #tail = ""
  dead = false

  /** @param {number} port */
  constructor(port) {
    this.#socket = net.connect({ port, host: "127.0.0.1", noDelay: true })
    this.#socket.on("data", (bytes) => this.#read(bytes))
    this.#socket.on("error", (error) => this.#broken(error.message))
    this.#socket.on("close", () => this.#broken("closed"))
  }

  /**
   * Sends one request, one at a time.
   *
   * @param {Buffer} bytes
   * @param {(exchange: Exchange) => void} onEnd
   * @param {(exchange: Exchange) => void} [onFirst]
   */
  send(bytes, onEnd, onFirst = () => {}) {
    this.#onEnd = onEnd
    this.#head = undefined
    this.#left = -1
    this.#tail = ""
    this.#exchange = {
      status: 0,
      startedAt: nowMicros(),
      firstAt: 0,
      endedAt: 0,
      delays: [],
      error: undefined,
      onFirst
    }
    this.#socket.write(bytes)
  }

  /** Leaves, as a client that has lost interest. */
  destroy() {
    this.dead = true
    this.#exchange = undefined
    this.#socket.destroy()
  }

  /** @param {Buffer} bytes */
  #read(bytes) {
    const exchange = this.#exchange
    if (exchange === undefined) return
    const now = nowMicros()
    let body = bytes
    if (typeof this.#head !== "string") {
      const whole = this.#head === undefined ? bytes : Buffer.concat([this.#head, bytes])
      const end = whole.indexOf(endOfHead)
      if (end < 0) {
        this.#head = whole
        return
      }
      this.#head = whole.toString("latin1", 0, end)
      exchange.status = Number(this.#head.slice(9, 12))
      const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head)
      this.#left = length === null ? -1 : Number(length[1])
      body = whole.subarray(end + endOfHead.length)
      if (body.length === 0 && this.#left !== 0) return
    }
    if (exchange.firstAt === 0) {
      exchange.firstAt = now
      exchange.onFirst(exchange)
    }
    collectDelays(body, now, exchange.delays)
    if (this.#left >= 0) {
      this.#left -= body.length
      if (this.#left <= 0) this.#finish(exchange, this.#head, now)
    } else {
      this.#tail = (this.#tail + body.toString("latin1", Math.max(0, body.length - 7))).slice(-7)
      if (this.#tail.endsWith(endOfChunks)) this.#finish(exchange, this.#head, now)
    }
  }

  /** @param {Exchange} exchange @param {string} head @param {number} now */
  #finish(exchange, head, now) {
    this.#exchange = undefined
    exchange.endedAt = now
    if (/\r\nconnection: *close/i.test(head)) this.destroy()
    this.#onEnd(exchange)
  }

  /** @param {string} message */
  #broken(message) {
    if (this.dead) return
    this.dead = true
    const exchange = this.#exchange
    this.#exchange = undefined
    if (exchange === undefined) return
    exchange.error = message
    exchange.endedAt = nowMicros()
    this.#onEnd(exchange)
  }
}

/**
 * The time that each `~T<microseconds>~` was under way; a mark that is cut in two is left out.
 *
 * @param {Buffer} bytes
 * @param {number} now
 * @param {Array<number>} delays
 */
const collectDelays = (bytes, now, delays) => {
  for (let at = bytes.indexOf("~T"); at >= 0; at = bytes.indexOf("~T", at + 2)) {
    let sentAt = 0
    let index = at + 2
    for (; index < bytes.length; index++) {
      const digit = (bytes[index] ?? 0) - 48
      if (digit < 0 || digit > 9) break
      sentAt = sentAt * 10 + digit
    }
    if (bytes[index] === 126) delays.push(now - sentAt)
  }
}
