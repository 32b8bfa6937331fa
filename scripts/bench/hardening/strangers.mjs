// @ts-check
// `npm run bench:strangers`: what a valid key's calls take while strangers with well-formed keys that do not exist hold many
// connections. PostgreSQL is the one of TEST_DATABASE_URL; --against measures a second build beside the first.
import { parseArgs } from "node:util"
import { crc32 } from "node:zlib"
import { builtBundle } from "../../lib/built.mjs"
import { killAll, pinSelf, stopServer } from "../../lib/processes.mjs"
import { Connection, requestBytes } from "../lib/connection.mjs"
import { bodyOf, scenarios } from "../lib/scenarios.mjs"
import { cleanUp, startGateway, startUpstream } from "../lib/servers.mjs"

/** @import { Running } from "../../lib/processes.mjs" */
/** @import { Exchange } from "../lib/connection.mjs" */

const { values: options } = parseArgs({
  options: {
    databases: { type: "string", default: "postgres,embedded" },
    strangers: { type: "string", default: "1500" },
    secs: { type: "string", default: "10" },
    against: { type: "string" }
  }
})
const strangers = Number(options.strangers)
const seconds = Number(options.secs)
const callEveryMillis = 20
const strangerPauseMillis = 1_000
const connectPauseMillis = 5
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** @param {number} millis @returns {Promise<void>} */
const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis))

/** Well formed, and in nobody's hands. @param {number} nth */
const unknownKey = (nth) => {
  const body = `mrg_sk_${`STRANGER${nth}`.padEnd(32, "0")}`
  let checksum = ""
  for (let rest = crc32(body), digit = 0; digit < 6; digit++, rest = Math.floor(rest / 62)) {
    checksum = base62[rest % 62] + checksum
  }
  return body + checksum
}

/** @param {ReadonlyArray<number>} sorted @param {number} share */
const percentile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN

/** @param {Connection} connection @param {Buffer} bytes @returns {Promise<Exchange>} */
const exchanged = (connection, bytes) => new Promise((resolve) => connection.send(bytes, resolve))

/** @param {{ port: number }} gateway @param {Buffer} bytes */
const calling = async (gateway, bytes) => {
  const connection = new Connection(gateway.port)
  /** @type {Array<number>} */
  const took = []
  /** @type {Record<string, number>} */
  const statuses = {}
  for (const until = performance.now() + seconds * 1_000; performance.now() < until; await pause(callEveryMillis)) {
    const { endedAt, startedAt, status } = await exchanged(connection, bytes)
    took.push((endedAt - startedAt) / 1_000)
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  connection.destroy()
  took.sort((a, b) => a - b)
  return { p50: percentile(took, 0.5), p99: percentile(took, 0.99), statuses: JSON.stringify(statuses) }
}

/** @param {string} database @param {Running} upstream @param {string} bundle @param {string} name */
const measure = async (database, upstream, bundle, name) => {
  const gateway = await startGateway({ name, database, upstream, bundle })
  if (gateway === undefined) return console.log("No PostgreSQL (TEST_DATABASE_URL): that form is left out.")
  const body = bodyOf(scenarios.c64, gateway.model)
  const request = { port: gateway.port, path: gateway.path, body }
  const bytes = requestBytes({ ...request, headers: gateway.headers })
  await calling(gateway, bytes)
  const alone = await calling(gateway, bytes)
  let isOver = false
  /** @type {Record<string, number>} */
  const seen = {}
  const stranger = async (/** @type {number} */ nth) => {
    const connection = new Connection(gateway.port)
    for (let round = 0; !isOver && !connection.dead; round++) {
      const own = requestBytes({
        ...request,
        headers: { authorization: `Bearer ${unknownKey(nth * 1_000 + round)}` }
      })
      const { error, status } = await exchanged(connection, own)
      const answer = error ?? String(status)
      seen[answer] = (seen[answer] ?? 0) + 1
      await pause(strangerPauseMillis)
    }
    connection.destroy()
  }
  const all = []
  for (let nth = 0; nth < strangers; nth++) {
    all.push(stranger(nth))
    if (nth % 10 === 0) await pause(connectPauseMillis)
  }
  const flooded = await calling(gateway, bytes)
  isOver = true
  await Promise.race([Promise.all(all), pause(3_000)])
  console.log(`\n## ${name}: ${strangers} strangers, answered ${JSON.stringify(seen)}`)
  console.table({ alone, flooded })
  await gateway.stop()
}

try {
  const upstream = await startUpstream()
  pinSelf()
  for (const database of options.databases.split(",")) {
    await measure(database, upstream, builtBundle, database)
    if (options.against !== undefined) await measure(database, upstream, options.against, `${database} other`)
  }
  await stopServer(upstream)
} finally {
  killAll()
  await cleanUp()
}
