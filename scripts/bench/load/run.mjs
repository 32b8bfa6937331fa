// @ts-check
// What the gateway costs beside a byte proxy, measured in one run: `npm run bench`, or
//   node scripts/bench/load/run.mjs [--peers proxy,postgres,embedded,auto] [--scen s1,c64,…] [--rounds 3] [--secs 0.8]
//     [--json FILE] [--profile FOLDER] [--against OTHER/dist/main.js]
// A loopback provider, the byte proxy (node:http and undici) and the built gateway with everything on. PostgreSQL is the
// one of TEST_DATABASE_URL; a database is made there and dropped. --against measures a second build beside the first.
// Absolute figures move with the machine: only ratios within one run can be compared.
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { cpuMillis, killAll, limitations, pinSelf, residentMegabytes, stopServer } from "../../lib/processes.mjs"
import { run } from "../lib/loops.mjs"
import { bodyOf, scenarios } from "../lib/scenarios.mjs"
import { choosing, cleanUp, direct, startGateway, startProxy, startUpstream } from "../lib/servers.mjs"
import { processTable, scenarioTable, summarize } from "./report.mjs"

/** @import { Running } from "../../lib/processes.mjs" */
/** @import { Scenario } from "../lib/scenarios.mjs" */
/** @import { Gateway, Server } from "../lib/servers.mjs" */
/** @import { Figures, MeasuredProcess, Round } from "./report.mjs" */

const { values: options } = parseArgs({
  options: {
    peers: { type: "string", default: "proxy,postgres,embedded,auto" },
    scen: { type: "string", default: Object.keys(scenarios).join(",") },
    rounds: { type: "string", default: "3" },
    secs: { type: "string", default: "0.8" },
    json: { type: "string" },
    profile: { type: "string" },
    against: { type: "string" }
  }
})
const peers = options.peers.split(",")
const names = options.scen.split(",")
const rounds = Number(options.rounds)
const seconds = Number(options.secs)
const warmSeconds = 0.3
const settleMillis = 150
const warmUpSeconds = 1
/** Fewer, and what is measured is the compiler; but a slow server may not take forever. */
/** @type {ReadonlyArray<readonly [scenario: Scenario, requests: number]>} */
const warmUpRequests = [
  [scenarios.c64, 4_000],
  [scenarios.fire, 100]
]
const maxWarmUps = 4
/** Choosing differs from a pinned model before the first byte only, so these tell all. */
const choosingScenarios = new Set(["s1", "c64", "pace"])
/** @type {ReadonlyArray<readonly [name: string, scenario: Scenario]>} */
const chosen = names.map((name) => {
  const scenario = Object.entries(scenarios).find(([own]) => own === name)?.[1]
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`)
  return [name, scenario]
})

/** A CPU profile is written when the gateway stops. */
const nodeOptions = options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`]

/** @param {number} millis @returns {Promise<void>} */
const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis))

/** @param {Running} upstream @returns {Promise<ReadonlyArray<MeasuredProcess>>} */
const startAll = async (upstream) => {
  /** @type {Gateway | undefined} */
  let first
  /** @type {Array<Server>} */
  const servers = [direct(upstream)]
  if (peers.includes("proxy")) servers.push(await startProxy(upstream))
  for (const database of ["postgres", "embedded"]) {
    if (!peers.includes(database)) continue
    const gateway = await startGateway({ name: database, database, upstream, nodeOptions })
    if (gateway === undefined) {
      console.log("No PostgreSQL (TEST_DATABASE_URL): that form is left out.")
      continue
    }
    first ??= gateway
    servers.push(gateway)
    if (options.against !== undefined) {
      const other = await startGateway({ name: `${database} other`, database, upstream, bundle: options.against })
      if (other !== undefined) servers.push(other)
    }
  }
  if (peers.includes("auto") && first !== undefined) servers.push(choosing(first))
  return servers
}

/** @param {Server} server @param {Scenario} scenario @param {{ seconds: number, warmSeconds: number }} time */
const measure = ({ pid, ...server }, scenario, time) =>
  run({
    ...server,
    scenario,
    body: bodyOf(scenario, server.model),
    ...time,
    readCpuMillis: pid === undefined ? undefined : () => cpuMillis(pid)
  })

/** Compiles the hot paths, and stops the run if a server does not answer. @param {Server} server */
const warmUp = async (server) => {
  for (const [scenario, wanted] of warmUpRequests) {
    let requests = 0
    for (let times = 0; times < maxWarmUps && requests < wanted; times++) {
      const result = await measure(server, scenario, { seconds: warmUpSeconds, warmSeconds: 0 })
      if (result.requests === 0 || Object.keys(result.failures).length > 0) {
        throw new Error(`${server.name} does not answer: ${JSON.stringify(result.failures)}`)
      }
      requests += result.requests
    }
  }
}

/** @param {Server} server */
const megabytesOf = ({ pid }) => (pid === undefined ? Number.NaN : residentMegabytes(pid))

const main = async () => {
  const upstream = await startUpstream()
  const servers = await startAll(upstream)
  pinSelf()
  const processes = servers.filter((server) => server.pid !== undefined && server.model !== "auto")
  for (const server of processes) server.idleMegabytes = megabytesOf(server)
  for (const server of servers) await warmUp(server)

  /** @type {Record<string, Record<string, Figures>>} */
  const results = {}
  for (const [name, scenario] of chosen) {
    const measured = servers.filter((server) => server.model !== "auto" || choosingScenarios.has(name))
    /** @type {Map<string, Array<Round>>} */
    const byServer = new Map(measured.map((server) => [server.name, []]))
    for (let round = 0; round < rounds; round++) {
      for (const server of measured) {
        byServer.get(server.name)?.push(await measure(server, scenario, { seconds, warmSeconds }))
        await pause(settleMillis)
      }
    }
    const figures = Object.fromEntries([...byServer].map(([server, own]) => [server, summarize(own)]))
    results[name] = figures
    console.log(`\n${scenarioTable(name, scenario, figures)}`)
  }
  for (const server of processes) server.loadedMegabytes = megabytesOf(server)
  console.log(`\n${processTable(processes)}`)
  if (options.json !== undefined) writeFileSync(options.json, JSON.stringify({ rounds, seconds, results }, null, 2))
  for (const server of servers) await server.stop()
  await stopServer(upstream)
}

for (const limitation of limitations) console.log(`Note: ${limitation}.`)
try {
  await main()
} finally {
  killAll()
  await cleanUp()
}
