// @ts-check
// What a client that asks for activity without a pause adds to the latency of calls: `npm run bench:beside`, or
//   node scripts/bench/activity/beside.mjs [--calls 200000] [--perSecond 60] [--clients 4] [--rounds 10] [--seconds 4]
// One built gateway on PostgreSQL (TEST_DATABASE_URL) is called at a fixed rate, in turns with and without the client beside it.
import { createHash, randomBytes, randomUUID } from "node:crypto"
import { Agent, request } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import { parseArgs } from "node:util"
import { killAll, stopServer } from "../../lib/processes.mjs"
import { run } from "../lib/loops.mjs"
import { bodyOf } from "../lib/scenarios.mjs"
import { cleanUp, startGateway, startUpstream } from "../lib/servers.mjs"
import { fill, library } from "./filled.mjs"

const { values: options } = parseArgs({
  options: {
    calls: { type: "string", default: "200000" },
    perSecond: { type: "string", default: "60" },
    clients: { type: "string", default: "4" },
    rounds: { type: "string", default: "10" },
    seconds: { type: "string", default: "4" }
  }
})
const token = `mrg_st_${randomBytes(32).toString("base64url")}`
let project = ""

/** A past for the default project, and a session for its owner. @param {{ url: string | undefined, dataDir: string }} database */
const prepare = async (database) => {
  await fill(database, Number(options.calls))
  const programs = await library.open(database.url, database.dataDir)
  const [found] = await programs.query("select id from project where is_default")
  project = String(found?.["id"])
  await programs.query(
    `insert into session (id, user_id, token_hash, transport, address, created_at, seen_at, expires_at)
      select $1::uuid, id, decode($2, 'hex'), 'bearer', '127.0.0.1', now(), now(), now() + interval '1 day' from app_user`,
    [randomUUID(), createHash("sha256").update(token).digest("hex")]
  )
  await programs.close()
}

/** Asks again and again on each of its connections; `stop` returns how many answers there were. @param {number} port */
const hammer = (port) => {
  const agent = new Agent({ keepAlive: true })
  let isStopped = false
  /** @type {Map<number, number>} */
  const statuses = new Map()
  const once = () =>
    /** @type {Promise<void>} */ (
      new Promise((resolve, reject) => {
        const path = `/api/projects/${project}/activity?days=30`
        request({ port, path, agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
          const status = response.statusCode ?? 0
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          response.resume().on("end", resolve)
        })
          .on("error", reject)
          .end()
      })
    )
  const clients = Array.from({ length: Number(options.clients) }, async () => {
    while (!isStopped) await once()
  })
  return async () => {
    isStopped = true
    await Promise.all(clients)
    agent.destroy()
    return Object.fromEntries(statuses)
  }
}

/** What a person may ask at once is over by then. */
const untilPacedMillis = 3_000

/** @param {ReadonlyArray<number>} values */
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const compare = async () => {
  const upstream = await startUpstream()
  const gateway = await startGateway({ name: "gateway", database: "postgres", upstream, prepare })
  if (gateway === undefined) throw new Error("there is no PostgreSQL: set TEST_DATABASE_URL")
  const scenario = {
    about: "2 KB at a fixed rate",
    perSecond: Number(options.perSecond),
    bytes: 2_048,
    stream: false,
    mock: "mock;size=1000"
  }
  const body = bodyOf(scenario, gateway.model)
  const { headers, path, port } = gateway
  const turn = (/** @type {number} */ seconds) => run({ port, path, headers, scenario, body, seconds, warmSeconds: 0 })
  await turn(4)
  /** @type {Record<"without" | "beside", Array<{ readonly p50: number, readonly p99: number }>>} */
  const latencies = { without: [], beside: [] }
  for (let round = 0; round < 2 * Number(options.rounds); round++) {
    const isBeside = round % 4 === 1 || round % 4 === 2
    const stop = isBeside ? hammer(port) : undefined
    if (isBeside) await delay(untilPacedMillis)
    const { failures, totalMicros } = await turn(Number(options.seconds))
    latencies[isBeside ? "beside" : "without"].push(totalMicros)
    const answers = await stop?.()
    console.log(
      `${isBeside ? "beside " : "without"} p50 ${(totalMicros.p50 / 1_000).toFixed(2)} p99 ${(totalMicros.p99 / 1_000).toFixed(2)} ms`,
      ...(answers === undefined ? [] : [`activity ${JSON.stringify(answers)}`]),
      ...(Object.keys(failures).length === 0 ? [] : [`failures ${JSON.stringify(failures)}`])
    )
  }
  for (const share of /** @type {const} */ (["p50", "p99"])) {
    const [without, beside] = [latencies.without, latencies.beside].map((all) => median(all.map((one) => one[share])))
    console.log(
      `${share}: ${((without ?? 0) / 1_000).toFixed(2)} ms without, ${((beside ?? 0) / 1_000).toFixed(2)} ms beside; ratio ${((beside ?? 0) / (without ?? 0)).toFixed(2)} of the medians`
    )
  }
  await gateway.stop()
  await stopServer(upstream)
}

try {
  await compare()
} finally {
  killAll()
  await cleanUp()
}
