// @ts-check
// How long a project's activity and its request log take beside many calls: `npm run bench:activity`, or
//   node scripts/bench/activity/run.mjs [--calls 1000000] [--peers postgres,embedded] [--rounds 200] [--throughput]
// Each database is made, filled and removed; PostgreSQL is the one of TEST_DATABASE_URL. --throughput compares calls of a
// built gateway whose database is filled with those of one whose database is empty, in turns: only their ratio says something.
import { randomUUID } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { killAll, stopServer } from "../../lib/processes.mjs"
import { createDatabase } from "../lib/database.mjs"
import { run } from "../lib/loops.mjs"
import { bodyOf, scenarios } from "../lib/scenarios.mjs"
import { cleanUp, startGateway, startUpstream } from "../lib/servers.mjs"
import { fill, library } from "./filled.mjs"
import { generate, generatedDays } from "./generate.mjs"

/** @typedef {import("./filled.mjs").Programs} Programs */

const { values: options } = parseArgs({
  options: {
    calls: { type: "string", default: "1000000" },
    peers: { type: "string", default: "postgres,embedded" },
    rounds: { type: "string", default: "200" },
    throughput: { type: "boolean", default: false }
  }
})
const calls = Number(options.calls)
const rounds = Number(options.rounds)

/** @template A @param {() => Promise<A>} work @returns {Promise<readonly [millis: number, result: A]>} */
const timed = async (work) => {
  const started = performance.now()
  const result = await work()
  return [performance.now() - started, result]
}

/** @param {string} name @param {() => Promise<unknown>} question */
const measure = async (name, question) => {
  for (let index = 0; index < 5; index++) await question()
  /** @type {Array<number>} */
  const millis = []
  for (let index = 0; index < rounds; index++) millis.push((await timed(question))[0])
  millis.sort((a, b) => a - b)
  const at = (/** @type {number} */ share) => (millis[Math.ceil(share * rounds) - 1] ?? Number.NaN).toFixed(1)
  console.log(`  ${name.padEnd(42)} p50 ${at(0.5).padStart(7)} ms   p95 ${at(0.95).padStart(7)} ms`)
}

/** @param {string} name @param {Programs} programs */
const report = async (name, programs) => {
  const tenant = {
    account: randomUUID(),
    project: randomUUID(),
    keys: Array.from({ length: 20 }, () => randomUUID())
  }
  const { project } = tenant
  const [filled] = await timed(() => generate(programs, calls, tenant))
  console.log(
    `${name}: ${calls} calls of one project in ${generatedDays} days (written in ${(filled / 1_000).toFixed(0)} s)`
  )
  const [summed] = await timed(programs.sumUp)
  console.log(`  summed up: ${((summed * 1_000) / calls).toFixed(1)} µs a call`)
  await measure("activity, 30 days", () => programs.activity(project, 30, "day"))
  await measure("activity, 31 days by the hour", () => programs.activity(project, 31, "hour"))
  await measure("request list, newest 20", () => programs.requests(project, {}))
  await measure("request list, errors", () => programs.requests(project, { status: "error" }))
  await measure("request list, one of 20 keys", () => programs.requests(project, { key: tenant.keys[3] }))
  await measure("request list, a rare model", () => programs.requests(project, { model: "p5/m10" }))
  const [exported, rows] = await timed(() => programs.exported(project))
  console.log(`  exported: ${((rows / exported) * 1_000).toFixed(0)} calls a second`)
  // nothing was checked yet, so what the holds have spent is in no base
  await programs.query("update ledger_check set holds_through = now()")
  const [deleted] = await timed(() => programs.retain(29))
  console.log(`  a day deleted: ${((calls / generatedDays / deleted) * 1_000).toFixed(0)} calls a second, with pauses`)
  await measure("activity, 30 days, a day deleted", () => programs.activity(project, 30, "day"))
}

const reports = async () => {
  if (options.peers.includes("postgres")) {
    const postgres = await createDatabase()
    if (postgres === undefined) console.log("No PostgreSQL (TEST_DATABASE_URL): that form is left out.")
    else {
      try {
        const programs = await library.open(postgres.url, ":memory:")
        await report("PostgreSQL", programs)
        await programs.close()
      } finally {
        await postgres.drop()
      }
    }
  }
  if (options.peers.includes("embedded")) {
    const folder = await mkdtemp(join(tmpdir(), "gateway-bench-"))
    try {
      const programs = await library.open(undefined, join(folder, "data"))
      await report("embedded", programs)
      await programs.close()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** @param {ReadonlyArray<number>} values */
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** @param {string} database */
const compareThroughput = async (database) => {
  const upstream = await startUpstream()
  const empty = await startGateway({ name: "empty", database, upstream })
  const full = await startGateway({ name: "full", database, upstream, prepare: (opened) => fill(opened, calls) })
  if (empty === undefined || full === undefined) return
  const scenario = scenarios.c64
  /** @type {Map<string, Array<number>>} */
  const perSecond = new Map([empty, full].map(({ name }) => [name, []]))
  const turn = async (/** @type {typeof empty} */ { pid: _, ...server }, /** @type {number} */ seconds) => {
    const body = bodyOf(scenario, server.model)
    const result = await run({ ...server, scenario, body, seconds, warmSeconds: 0.3, readCpuMillis: undefined })
    return result.requests / seconds
  }
  for (const server of [empty, full]) await turn(server, 6)
  for (let round = 0; round < 15; round++) {
    for (const server of round % 2 === 0 ? [empty, full] : [full, empty]) {
      perSecond.get(server.name)?.push(await turn(server, 1.5))
    }
  }
  const [ofEmpty, ofFull] = [perSecond.get(empty.name) ?? [], perSecond.get(full.name) ?? []]
  const ratios = ofFull.map((beside, round) => (100 * beside) / (ofEmpty[round] ?? Number.NaN))
  console.log(
    `${database}: 64 callers at once, ${median(ofEmpty).toFixed(0)} calls a second with an empty database, ` +
      `${median(ofFull).toFixed(0)} beside ${calls} calls; ${median(ratios).toFixed(1)} % in the median round`
  )
  for (const server of [empty, full]) await server.stop()
  await stopServer(upstream)
}

try {
  if (!options.throughput) await reports()
  else for (const database of options.peers.split(",")) await compareThroughput(database)
} finally {
  killAll()
  await cleanUp()
}
