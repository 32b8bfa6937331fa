// @ts-check
// Minutes of load, with what the service does periodically beside it: `npm run bench:steady`, or
//   node scripts/bench/load/steady.mjs [--databases postgres,embedded] [--secs 150] [--bundle OTHER/dist/main.js]
// 64 connections in a closed loop, while one stream is open all the time: a call that lasts must not make the others dearer. What
// reads all calls of the last minutes shows as seconds whose slowest call waited; the longest of them are printed.
// PostgreSQL is the one of TEST_DATABASE_URL.
import { parseArgs } from "node:util"
import { cpuMillis, killAll, limitations, pinSelf, stopServer } from "../../lib/processes.mjs"
import { Connection, nowMicros, requestBytes } from "../lib/connection.mjs"
import { bodyOf, scenarios } from "../lib/scenarios.mjs"
import { cleanUp, startGateway, startUpstream } from "../lib/servers.mjs"

/** @import { Running } from "../../lib/processes.mjs" */
/** @import { Gateway } from "../lib/servers.mjs" */

const { values: options } = parseArgs({
  options: {
    databases: { type: "string", default: "postgres,embedded" },
    secs: { type: "string", default: "150" },
    bundle: { type: "string" }
  }
})
const seconds = Number(options.secs)
const connections = 64
/** Code is compiled in it. */
const warmUpSeconds = 10
const shownSeconds = 8
const endless = { bytes: 2_048, stream: true, mock: "mock;chunks=100000;gap=1000;size=8" }

/** @param {Gateway} gateway @param {Parameters<typeof bodyOf>[0]} scenario */
const bytesFor = ({ headers, model, path, port }, scenario) =>
  requestBytes({ port, path, headers, body: bodyOf(scenario, model) })

/** @param {ReadonlyArray<number>} sorted @param {number} share */
const at = (sorted, share) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN

/** Milliseconds of each call by the second in which it ended. @param {Gateway} gateway @returns {Promise<ReadonlyArray<Array<number>>>} */
const load = (gateway) =>
  new Promise((resolve) => {
    const bytes = bytesFor(gateway, scenarios.c64)
    /** @type {Array<Array<number>>} */
    const bySecond = Array.from({ length: warmUpSeconds + seconds }, () => [])
    const begin = nowMicros()
    let live = connections
    const loop = (/** @type {Connection} */ connection) => {
      connection.send(bytes, ({ endedAt, error, startedAt, status }) => {
        if (error !== undefined || status !== 200) throw new Error(`a call ended with ${error ?? status}`)
        const second = bySecond[Math.floor((endedAt - begin) / 1e6)]
        if (second !== undefined) {
          second.push((endedAt - startedAt) / 1_000)
          return loop(connection)
        }
        connection.destroy()
        if (--live === 0) resolve(bySecond)
      })
    }
    for (let n = 0; n < connections; n++) loop(new Connection(gateway.port))
  })

/** @param {string} database @param {Running} upstream */
const measure = async (database, upstream) => {
  const gateway = await startGateway({
    ...(options.bundle === undefined ? {} : { bundle: options.bundle }),
    name: database,
    database,
    upstream
  })
  if (gateway === undefined) return console.log("No PostgreSQL (TEST_DATABASE_URL): that form is left out.")
  const stream = new Connection(gateway.port)
  stream.send(bytesFor(gateway, endless), () => {})
  const cpuBefore = cpuMillis(gateway.pid)
  const bySecond = await load(gateway)
  const cpu = cpuMillis(gateway.pid) - cpuBefore
  stream.destroy()
  const calls = bySecond.flat().length
  const measured = bySecond.slice(warmUpSeconds)
  const sorted = measured.flat().sort((a, b) => a - b)
  const slowest = measured
    .map((millis, second) => ({
      second: warmUpSeconds + second,
      calls: millis.length,
      max: Math.round(Math.max(0, ...millis))
    }))
    .sort((a, b) => b.max - a.max)
    .slice(0, shownSeconds)
  const rounded = (/** @type {number} */ share) => Math.round(at(sorted, share) * 10) / 10
  console.log(`
## ${database}: ${seconds} s at ${connections} connections
${Math.round(sorted.length / seconds)} calls/s, ${Math.round((cpu * 1_000) / calls)} µs CPU a call; ms: p50 ${rounded(0.5)}, p99 ${rounded(0.99)}, p99.9 ${rounded(0.999)}, max ${rounded(1)}
seconds with the slowest calls, in ms:`)
  console.table(slowest)
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
}
