// @ts-check
// Load: a closed loop of `connections`, or an open loop of `perSecond` that counts from the intended send.
/** @import { Exchange } from "./connection.mjs" */
/** @import { Scenario } from "./scenarios.mjs" */
import { Connection, nowMicros, requestBytes } from "./connection.mjs"

/**
 * A scenario against a server; `readCpuMillis` is asked at the edges of the measured time.
 *
 * @param {{
 *   port: number
 *   path: string
 *   headers: Readonly<Record<string, string>>
 *   scenario: Scenario
 *   body: string
 *   seconds: number
 *   warmSeconds: number
 *   readCpuMillis?: (() => number) | undefined
 * }} options
 */
export const run = async ({ port, path, headers, scenario, body, seconds, warmSeconds, readCpuMillis }) => {
  const bytes = requestBytes({ port, path, headers, body })
  const recorder = new Recorder(readCpuMillis)
  const times = { warmMicros: warmSeconds * 1e6, totalMicros: (warmSeconds + seconds) * 1e6 }
  if (scenario.perSecond === undefined) await closedLoop(port, bytes, scenario.connections ?? 1, times, recorder)
  else await openLoop(port, bytes, scenario.perSecond, times, recorder)
  return recorder.summary()
}

class Recorder {
  #readCpuMillis
  #startedAt = 0
  /** @type {number | undefined} */
  #cpuAtStart
  #cpuMillis = Number.NaN
  #endedAt = 0
  /** @type {Array<number>} */
  #totals = []
  /** @type {Array<number>} */
  #firsts = []
  /** @type {Array<number>} */
  #delays = []
  /** @type {Map<string | number, number>} */
  #failures = new Map()

  /** @param {(() => number) | undefined} readCpuMillis */
  constructor(readCpuMillis) {
    this.#readCpuMillis = readCpuMillis
  }

  get started() {
    return this.#startedAt > 0
  }

  start() {
    if (this.started) return
    this.#startedAt = nowMicros()
    this.#cpuAtStart = this.#readCpuMillis?.()
  }

  stop() {
    if (this.#endedAt > 0) return
    this.#endedAt = nowMicros()
    if (this.#readCpuMillis !== undefined && this.#cpuAtStart !== undefined) {
      this.#cpuMillis = this.#readCpuMillis() - this.#cpuAtStart
    }
  }

  /** @param {Exchange} exchange @param {number} intendedAt */
  add(exchange, intendedAt) {
    if (!this.started || this.#endedAt > 0) return
    if (exchange.error !== undefined || exchange.status >= 400) {
      const what = exchange.error ?? exchange.status
      this.#failures.set(what, (this.#failures.get(what) ?? 0) + 1)
      return
    }
    this.#totals.push(exchange.endedAt - intendedAt)
    this.#firsts.push(exchange.firstAt - intendedAt)
    for (const delay of exchange.delays) this.#delays.push(delay)
  }

  summary() {
    const requests = this.#totals.length
    return {
      requests,
      perSecond: requests / ((this.#endedAt - this.#startedAt) / 1e6),
      totalMicros: percentiles(this.#totals),
      firstMicros: percentiles(this.#firsts),
      delayMicros: percentiles(this.#delays),
      cpuMicrosPerRequest: (this.#cpuMillis * 1000) / requests,
      failures: Object.fromEntries(this.#failures)
    }
  }
}

/** @param {ReadonlyArray<number>} values */
const percentiles = (values) => {
  const sorted = Float64Array.from(values).sort()
  const at = (/** @type {number} */ share) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

/** @typedef {{ warmMicros: number, totalMicros: number }} Times */

/**
 * @param {number} port
 * @param {Buffer} bytes
 * @param {number} count
 * @param {Times} times
 * @param {Recorder} recorder
 * @returns {Promise<void>}
 */
const closedLoop = (port, bytes, count, { totalMicros, warmMicros }, recorder) =>
  new Promise((resolve) => {
    const begin = nowMicros()
    let live = count
    const loop = (/** @type {Connection} */ connection) => {
      const now = nowMicros()
      if (now - begin >= totalMicros) {
        recorder.stop()
        connection.destroy()
        if (--live === 0) resolve()
        return
      }
      if (now - begin >= warmMicros) recorder.start()
      const usable = connection.dead ? new Connection(port) : connection
      usable.send(bytes, (exchange) => {
        recorder.add(exchange, exchange.startedAt)
        if (exchange.error === undefined) loop(usable)
        else setTimeout(loop, 5, usable)
      })
    }
    for (let n = 0; n < count; n++) loop(new Connection(port))
  })

/** What the last requests may take after the last was sent. */
const openLoopGraceMillis = 10_000

/**
 * Every stream is counted from its first byte to its last, so there is no warming up whose tail would be counted too.
 *
 * @param {number} port
 * @param {Buffer} bytes
 * @param {number} perSecond
 * @param {Pick<Times, "totalMicros">} times
 * @param {Recorder} recorder
 * @returns {Promise<void>}
 */
const openLoop = (port, bytes, perSecond, { totalMicros }, recorder) =>
  new Promise((resolve) => {
    const begin = nowMicros() + 10_000
    const gap = 1e6 / perSecond
    const total = Math.floor(totalMicros / gap)
    /** @type {Array<Connection>} */
    const idle = []
    let sent = 0
    let running = 0
    const finish = () => {
      clearTimeout(limit)
      recorder.stop()
      for (const connection of idle) connection.destroy()
      resolve()
    }
    const send = (/** @type {number} */ index) => {
      const intendedAt = begin + index * gap
      let connection = idle.pop()
      while (connection?.dead) connection = idle.pop()
      connection ??= new Connection(port)
      running++
      connection.send(bytes, (exchange) => {
        running--
        recorder.add(exchange, intendedAt)
        idle.push(connection)
        if (sent === total && running === 0) finish()
      })
    }
    const tick = () => {
      while (sent < total && begin + sent * gap <= nowMicros()) {
        send(sent)
        sent++
      }
      if (sent < total) setTimeout(tick, 1)
    }
    const limit = setTimeout(finish, totalMicros / 1000 + openLoopGraceMillis)
    recorder.start()
    tick()
  })
