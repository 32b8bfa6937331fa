// @ts-check
// What becomes of the gateway at a multiple of its capacity: `npm run bench:overload`, or
//   node scripts/bench/hardening/overload.mjs [--databases postgres,embedded] [--times 3] [--secs 20] [--bundle OTHER/dist/main.js]
//     [--cycles 3] [--bursts 500,1000,2000] [--quota 0.35] [--connected]
// In each cycle first the capacity in a closed loop of 64 connections; then an open loop at a multiple of it, on a bounded number
// of connections and without retries, while a second tenant calls five times a second; then the time until a fresh call is
// answered as fast as one alone; then the capacity again, since the speed of a machine changes: the overload is compared with
// the mean of the two. After the cycles, bursts at an idle node. The first two seconds of an overload are told apart: they
// are a burst of as many calls as there are connections, which a node accepts. Connections are opened when they are needed, or
// with --connected before. PostgreSQL is the one of TEST_DATABASE_URL. --quota gives the gateway that share of a core (Linux, root,
// cgroup v1), so that client and provider, which share the other core, are not the bound.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { cpuMillis, killAll, limitations, pinSelf, residentMegabytes, stopServer } from "../../lib/processes.mjs"
import { Connection, nowMicros, requestBytes } from "../lib/connection.mjs"
import { run } from "../lib/loops.mjs"
import { bodyOf, scenarios } from "../lib/scenarios.mjs"
import { cleanUp, startGateway, startUpstream } from "../lib/servers.mjs"
import { addSecondTenant, secondKey } from "./secondTenant.mjs"

/** @import { Running } from "../../lib/processes.mjs" */
/** @import { Exchange } from "../lib/connection.mjs" */
/** @import { Gateway } from "../lib/servers.mjs" */

const { values: options } = parseArgs({
  options: {
    databases: { type: "string", default: "postgres,embedded" },
    times: { type: "string", default: "3" },
    secs: { type: "string", default: "20" },
    cycles: { type: "string", default: "3" },
    bundle: { type: "string" },
    quota: { type: "string" },
    bursts: { type: "string", default: "500,1000,2000" },
    connected: { type: "boolean", default: false }
  }
})
const times = Number(options.times)
const seconds = Number(options.secs)
const capacitySeconds = 4
const warmUpSeconds = 6
const maxConnections = 1_000
const secondEveryMillis = 200
const beginningMicros = 2_000_000
const lastAnswersMillis = 31_000
const maxRecoveryMillis = 30_000
const connectAtOnce = 20
const connectPauseMillis = 50
const restMillis = 3_000

/** @param {number} millis @returns {Promise<void>} */
const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis))

/** A bounded pool of connections; what finds none is not sent. */
class Pool {
  #port
  /** @type {Array<Connection>} */
  #idle = []
  #open = 0
  #max
  /** @param {number} port @param {number} max */
  constructor(port, max) {
    this.#port = port
    this.#max = max
  }
  /** libuv accepts one connection in a turn of the event loop, so that connecting under load measures that alone. @param {number} each */
  async connect(each) {
    for (; this.#open < this.#max; this.#open++) {
      this.#idle.push(new Connection(this.#port))
      if (this.#open % each === 0) await pause(connectPauseMillis)
    }
    await pause(connectPauseMillis)
  }
  /** @param {Buffer} bytes @param {(exchange: Exchange) => void} onEnd @returns {boolean} whether it was sent */
  send(bytes, onEnd) {
    let connection = this.#idle.pop()
    while (connection?.dead) {
      this.#open--
      connection = this.#idle.pop()
    }
    if (connection === undefined) {
      if (this.#open >= this.#max) return false
      this.#open++
      connection = new Connection(this.#port)
    }
    const used = connection
    used.send(bytes, (exchange) => {
      this.#idle.push(used)
      onEnd(exchange)
    })
    return true
  }
  close() {
    for (const connection of this.#idle) connection.destroy()
  }
}

/** @param {ReadonlyArray<number>} values @param {number} share */
const percentile = (values, share) => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
}

/** Answers by kind, timed from the intended send. */
class Answers {
  /** @type {Array<number>} */
  ok = []
  /** Of those in `ok` that were sent after the beginning. @type {Array<number>} */
  sustained = []
  /** @type {Array<number>} */
  refused = []
  /** @type {Map<string | number, number>} */
  others = new Map()
  unsent = 0
  waiting = 0
  /** @param {Pool} pool @param {Buffer} bytes @param {number} intendedAt @param {number} [sustainedFrom] */
  send(pool, bytes, intendedAt, sustainedFrom = Number.POSITIVE_INFINITY) {
    this.waiting++
    const sent = pool.send(bytes, ({ endedAt, error, status }) => {
      this.waiting--
      const millis = (endedAt - intendedAt) / 1_000
      if (error === undefined && status === 200) {
        this.ok.push(millis)
        if (intendedAt >= sustainedFrom) this.sustained.push(millis)
      } else if (error === undefined && status === 503) this.refused.push(millis)
      else this.others.set(error ?? status, (this.others.get(error ?? status) ?? 0) + 1)
    })
    if (!sent) {
      this.waiting--
      this.unsent++
    }
  }
  async settled() {
    const until = performance.now() + lastAnswersMillis
    while (this.waiting > 0 && performance.now() < until) await pause(20)
  }
  row() {
    const total = this.ok.length + this.refused.length
    return {
      200: this.ok.length,
      p50: round(percentile(this.ok, 0.5)),
      p99: round(percentile(this.ok, 0.99)),
      503: this.refused.length,
      "503 %": round((100 * this.refused.length) / total),
      "503 p99": round(percentile(this.refused, 0.99)),
      "no connection": this.unsent,
      unanswered: this.waiting,
      others: JSON.stringify(Object.fromEntries(this.others))
    }
  }
}

/** @param {ReadonlyArray<number>} values */
const median = (values) => percentile(values, 0.5)

/** @param {number | undefined} value */
const round = (value = Number.NaN) => Math.round(value * 10) / 10

/** @typedef {Gateway & { bytes: Buffer, secondBytes: Buffer, aloneMillis: number }} Tested */

/** @param {Tested} gateway @param {number} perSecond */
const overload = async (gateway, perSecond) => {
  const [first, second] = [new Pool(gateway.port, maxConnections), new Pool(gateway.port, 64)]
  const [load, fair] = [new Answers(), new Answers()]
  if (options.connected) {
    await first.connect(connectAtOnce)
    await second.connect(connectAtOnce)
  }
  const gap = 1e6 / perSecond
  const begin = nowMicros()
  let sent = 0
  let fairSent = 0
  let okAtEnd = 0
  await new Promise((resolve) => {
    const tick = () => {
      const passed = nowMicros() - begin
      if (passed >= seconds * 1e6) return resolve(undefined)
      for (; sent * gap <= passed; sent++) load.send(first, gateway.bytes, begin + sent * gap, begin + beginningMicros)
      for (; fairSent * secondEveryMillis * 1_000 <= passed; fairSent++) {
        fair.send(second, gateway.secondBytes, begin + fairSent * secondEveryMillis * 1_000)
      }
      setTimeout(tick, 1)
    }
    tick()
  })
  okAtEnd = load.ok.length
  const recoveryMillis = await recovery(gateway)
  await load.settled()
  await fair.settled()
  first.close()
  second.close()
  return { load, fair, goodput: okAtEnd / seconds, offered: sent / seconds, recoveryMillis }
}

/** Until three fresh calls in a row are answered within twice the time of a call alone. @param {Tested} gateway */
const recovery = async (gateway) => {
  const begin = performance.now()
  const pool = new Pool(gateway.port, 8)
  let good = 0
  let goodSince = begin
  while (good < 3 && performance.now() - begin < maxRecoveryMillis) {
    const { millis, status } = await once(pool, gateway.bytes)
    if (status === 200 && millis <= 2 * gateway.aloneMillis) {
      if (good++ === 0) goodSince = performance.now()
    } else good = 0
    await pause(10)
  }
  pool.close()
  return good < 3 ? Number.NaN : Math.round(goodSince - begin)
}

/** @param {Pool} pool @param {Buffer} bytes @returns {Promise<{ millis: number, status: number }>} */
const once = (pool, bytes) =>
  new Promise((resolve) => {
    const startedAt = nowMicros()
    const sent = pool.send(bytes, ({ endedAt, status }) => resolve({ millis: (endedAt - startedAt) / 1_000, status }))
    if (!sent) resolve({ millis: Number.POSITIVE_INFINITY, status: 0 })
  })

/** @param {Gateway} gateway @param {Buffer} bytes */
const callAlone = async (gateway, bytes) => {
  const pool = new Pool(gateway.port, 1)
  const took = []
  for (let n = 0; n < 50; n++) {
    took.push((await once(pool, bytes)).millis)
    await pause(5)
  }
  pool.close()
  return percentile(took, 0.9)
}

/** @param {Tested} gateway @param {number} size */
const burst = async (gateway, size) => {
  const pool = new Pool(gateway.port, size)
  await pool.connect(connectAtOnce)
  const answers = new Answers()
  const begin = nowMicros()
  for (let n = 0; n < size; n++) answers.send(pool, gateway.bytes, begin)
  await answers.settled()
  pool.close()
  return answers
}

const cgroup = `/sys/fs/cgroup/cpu/gateway_bench_${process.pid}`
const periodMicros = 10_000

/** @param {number} pid @param {number} share */
const throttle = (pid, share) => {
  mkdirSync(cgroup, { recursive: true })
  writeFileSync(`${cgroup}/cpu.cfs_period_us`, String(periodMicros))
  writeFileSync(`${cgroup}/cpu.cfs_quota_us`, String(Math.round(share * periodMicros)))
  writeFileSync(`${cgroup}/cgroup.procs`, String(pid))
}

/** @param {string} database @param {Running} upstream */
const measure = async (database, upstream) => {
  const started = await startGateway({
    ...(options.bundle === undefined ? {} : { bundle: options.bundle }),
    name: database,
    database,
    upstream,
    prepare: addSecondTenant
  })
  if (started === undefined) {
    console.log("No PostgreSQL (TEST_DATABASE_URL): that form is left out.")
    return
  }
  const body = bodyOf(scenarios.c64, started.model)
  const request = { port: started.port, path: started.path, body }
  const bytes = requestBytes({ ...request, headers: started.headers })
  const secondBytes = requestBytes({ ...request, headers: { authorization: `Bearer ${secondKey}` } })
  const closed = (/** @type {number} */ secs) =>
    run({
      ...started,
      scenario: scenarios.c64,
      body,
      seconds: secs,
      warmSeconds: 0.3,
      readCpuMillis: () => cpuMillis(started.pid)
    })
  await closed(warmUpSeconds)
  // compiled code first: at a third of a core the compiler alone would be what is measured
  if (options.quota !== undefined) throttle(started.pid, Number(options.quota))
  const gateway = { ...started, bytes, secondBytes, aloneMillis: await callAlone(started, bytes) }
  const capacityNow = async () => {
    const { perSecond, totalMicros } = await closed(capacitySeconds)
    await pause(restMillis)
    return { perSecond, p99: totalMicros.p99 / 1_000 }
  }
  console.log(`\n## ${database}\none call alone ${round(gateway.aloneMillis)} ms (p90)`)
  const cycles = []
  let before = await capacityNow()
  for (let cycle = 1; cycle <= Number(options.cycles); cycle++) {
    const cpuBefore = cpuMillis(gateway.pid)
    const { fair, goodput, load, offered, recoveryMillis } = await overload(gateway, times * before.perSecond)
    const cpu = (cpuMillis(gateway.pid) - cpuBefore) / 1_000 / seconds
    await pause(restMillis)
    const after = await capacityNow()
    const p99 = (before.p99 + after.p99) / 2
    cycles.push({
      "capacity/s before": Math.round(before.perSecond),
      "and after": Math.round(after.perSecond),
      "p99 ms": round(p99),
      "offered/s": Math.round(offered),
      "goodput/s": Math.round(goodput),
      "goodput %": round((200 * goodput) / (before.perSecond + after.perSecond)),
      "p99 x": round(percentile(load.sustained, 0.99) / p99),
      [`with first ${beginningMicros / 1e6} s`]: round(percentile(load.ok, 0.99) / p99),
      "recovered ms": recoveryMillis,
      "CPU s/s": round(cpu)
    })
    console.table({ [`load ${cycle}`]: load.row(), "second tenant": fair.row() })
    before = after
  }
  console.table(cycles)
  console.log(
    `medians: goodput ${median(cycles.map((each) => each["goodput %"]))} % of capacity, p99 of accepted calls ${median(cycles.map((each) => each["p99 x"]))} x that at capacity; RSS ${Math.round(residentMegabytes(gateway.pid))} MB`
  )
  /** @type {Record<string, ReturnType<Answers["row"]>>} */
  const bursts = {}
  for (const size of options.bursts.split(",").map(Number)) {
    await pause(restMillis)
    bursts[`burst of ${size}`] = (await burst(gateway, size)).row()
  }
  console.table(bursts)
  await gateway.stop()
}

for (const limitation of limitations) console.log(`Note: ${limitation}.`)
try {
  const upstream = await startUpstream()
  pinSelf()
  for (const database of options.databases.split(",")) await measure(database, upstream)
  await stopServer(upstream)
} finally {
  killAll()
  await cleanUp()
  if (existsSync(cgroup)) rmdirSync(cgroup)
}
