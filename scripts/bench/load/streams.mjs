// @ts-check
// What open, silent streams cost, and whether the provider is let go when their readers leave.
//   node scripts/bench/load/streams.mjs [--count 2000] [--peers proxy,postgres,embedded]
import { parseArgs } from "node:util"
import { killAll, limitations, pinSelf, residentMegabytes, stopServer } from "../../lib/processes.mjs"
import { Connection, nowMicros, requestBytes } from "../lib/connection.mjs"
import { run } from "../lib/loops.mjs"
import { bodyOf, scenarios } from "../lib/scenarios.mjs"
import { cleanUp, startGateway, startProxy, startUpstream } from "../lib/servers.mjs"
import { median, streamsTable } from "./report.mjs"

/** @import { Running } from "../../lib/processes.mjs" */
/** @import { Server } from "../lib/servers.mjs" */
/** @import { OpenStreams } from "./report.mjs" */

const { values: options } = parseArgs({
  options: { count: { type: "string", default: "2000" }, peers: { type: "string", default: "proxy,postgres,embedded" } }
})
const count = Number(options.count)

const silent = { bytes: 1024, stream: true, mock: "mock;chunks=1;hold=1" }
const openAtOnce = 20
const openEveryMillis = 15
const openMillis = 15_000
const settleMillis = 2_500
const leaveMillis = 10_000
const lookEveryMillis = 25

/** @param {number} millis @returns {Promise<void>} */
const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis))

/** @param {string} name @param {Running} upstream @returns {Promise<Server | undefined>} */
const start = async (name, upstream) => {
  if (name === "proxy") return startProxy(upstream)
  const gateway = await startGateway({ name, database: name, upstream })
  if (gateway === undefined) console.log("No PostgreSQL (TEST_DATABASE_URL): that form is left out.")
  return gateway
}

/** @param {Server} server */
const openStreams = async (server) => {
  const bytes = requestBytes({ ...server, body: bodyOf(silent, server.model) })
  /** @type {Array<Connection>} */
  const connections = []
  /** @type {Array<number>} */
  const firsts = []
  let ended = 0
  while (connections.length < count) {
    for (let n = 0; n < openAtOnce && connections.length < count; n++) {
      const connection = new Connection(server.port)
      /** @param {import("../lib/connection.mjs").Exchange} exchange */
      const onFirst = ({ startedAt, status }) => {
        if (status === 200) firsts.push((nowMicros() - startedAt) / 1000)
      }
      connection.send(bytes, () => ended++, onFirst)
      connections.push(connection)
    }
    await pause(openEveryMillis)
  }
  const deadline = performance.now() + openMillis
  while (firsts.length + ended < count && performance.now() < deadline) await pause(lookEveryMillis)
  return { connections, failed: count - firsts.length, firstMillis: median(firsts) }
}

/** How many streams are open at the provider. @param {Running} upstream */
const openAt = async (upstream) => {
  const response = await fetch(`http://127.0.0.1:${upstream.port}/stats`)
  const { open } = /** @type {{ open: number }} */ (await response.json())
  return open
}

/** @param {string} name @returns {Promise<OpenStreams | undefined>} */
const measure = async (name) => {
  const upstream = await startUpstream()
  const server = await start(name, upstream)
  if (server?.pid === undefined) {
    await stopServer(upstream)
    return undefined
  }
  const idleMegabytes = residentMegabytes(server.pid)
  const warm = { ...scenarios.fire, connections: 16 }
  await run({ ...server, scenario: warm, body: bodyOf(warm, server.model), seconds: 2, warmSeconds: 0 })
  await pause(settleMillis)
  const warmMegabytes = residentMegabytes(server.pid)

  const { connections, failed, firstMillis } = await openStreams(server)
  await pause(settleMillis)
  const openMegabytes = residentMegabytes(server.pid)
  const upstreamOpen = await openAt(upstream)
  const leftAt = performance.now()
  for (const connection of connections) connection.destroy()
  let upstreamLeft = await openAt(upstream)
  while (upstreamLeft > 0 && performance.now() - leftAt < leaveMillis) {
    await pause(lookEveryMillis)
    upstreamLeft = await openAt(upstream)
  }
  const goneMillis = upstreamLeft === 0 ? performance.now() - leftAt : Number.NaN
  await server.stop()
  await stopServer(upstream)
  return {
    name,
    idleMegabytes,
    warmMegabytes,
    openMegabytes,
    firstMillis,
    failed,
    upstreamOpen,
    upstreamLeft,
    goneMillis
  }
}

for (const limitation of limitations) console.log(`Note: ${limitation}.`)
pinSelf()
try {
  /** @type {Array<OpenStreams>} */
  const results = []
  for (const name of options.peers.split(",")) {
    const result = await measure(name)
    if (result !== undefined) results.push(result)
  }
  console.log(streamsTable(count, results))
} finally {
  killAll()
  await cleanUp()
}
