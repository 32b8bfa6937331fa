// What the gateway costs beside a byte proxy, measured in one run: `npm run bench`, or
//   node scripts/bench/bench.mjs [--peers proxy,postgres,embedded,auto] [--scen s1,c64,…] [--rounds 3] [--secs 0.8]
//     [--json FILE] [--profile FOLDER] [--against OTHER/dist/main.js]
// A loopback provider, the byte proxy (node:http and undici) and the built gateway with everything on. PostgreSQL is the
// one of TEST_DATABASE_URL; a database is made there and dropped. --against measures a second build beside the first.
// Absolute figures move with the machine: only ratios within one run can be compared.
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { run } from "./load.mjs"
import { cpuMillis, killAll, limitations, pinSelf, residentMegabytes, stopServer } from "./processes.mjs"
import { processTable, scenarioTable, summarize } from "./report.mjs"
import { bodyOf, scenarios } from "./scenarios.mjs"
import { choosing, cleanUp, direct, startGateway, startProxy, startUpstream } from "./servers.mjs"

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
/** Fewer, and what is measured is the compiler; but a slow server may not take for ever. */
const warmUpRequests = { c64: 4_000, fire: 100 }
const mostWarmUps = 4
/** Choosing differs from a pinned model before the first byte only, so these tell all. */
const choosingScenarios = new Set(["s1", "c64", "pace"])
for (const name of names) if (!(name in scenarios)) throw new Error(`there is no scenario ${name}`)

/** A CPU profile is written when the gateway stops. */
const nodeOptions = options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`]

const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis))

const startAll = async (upstream) => {
  const servers = [direct(upstream)]
  if (peers.includes("proxy")) servers.push(await startProxy(upstream))
  for (const database of ["postgres", "embedded"]) {
    if (!peers.includes(database)) continue
    const gateway = await startGateway({ name: database, database, upstream, nodeOptions })
    if (gateway === undefined) {
      console.log("No PostgreSQL (TEST_DATABASE_URL): that form is left out.")
      continue
    }
    servers.push(gateway)
    if (options.against !== undefined) {
      servers.push(await startGateway({ name: `${database} other`, database, upstream, bundle: options.against }))
    }
  }
  const gateway = servers.find((server) => "startMillis" in server)
  if (peers.includes("auto") && gateway !== undefined) servers.push(choosing(gateway))
  return servers
}

const measure = (server, scenario, time) =>
  run({
    ...server,
    scenario,
    body: bodyOf(scenario, server.model),
    ...time,
    readCpuMillis: server.pid === undefined ? undefined : () => cpuMillis(server.pid)
  })

/** Compiles the hot paths, and stops the run if a server does not answer. */
const warmUp = async (server) => {
  for (const [name, wanted] of Object.entries(warmUpRequests)) {
    let requests = 0
    for (let times = 0; times < mostWarmUps && requests < wanted; times++) {
      const result = await measure(server, scenarios[name], { seconds: warmUpSeconds, warmSeconds: 0 })
      if (result.requests === 0 || Object.keys(result.failures).length > 0) {
        throw new Error(`${server.name} does not answer: ${JSON.stringify(result.failures)}`)
      }
      requests += result.requests
    }
  }
}

const main = async () => {
  const upstream = await startUpstream()
  const servers = await startAll(upstream)
  pinSelf()
  const processes = servers.filter((server) => server.pid !== undefined && server.model !== "auto")
  for (const server of processes) server.idleMegabytes = residentMegabytes(server.pid)
  for (const server of servers) await warmUp(server)

  const results = {}
  for (const name of names) {
    const measured = servers.filter((server) => server.model !== "auto" || choosingScenarios.has(name))
    const byServer = Object.fromEntries(measured.map((server) => [server.name, []]))
    for (let round = 0; round < rounds; round++) {
      for (const server of measured) {
        byServer[server.name].push(await measure(server, scenarios[name], { seconds, warmSeconds }))
        await pause(settleMillis)
      }
    }
    results[name] = Object.fromEntries(Object.entries(byServer).map(([server, own]) => [server, summarize(own)]))
    console.log(`\n${scenarioTable(name, scenarios[name], results[name])}`)
  }
  for (const server of processes) server.loadedMegabytes = residentMegabytes(server.pid)
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
