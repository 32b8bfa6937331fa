// @ts-check
// The spend cap of an analysis, and that no comparison is paid for twice, when its process is killed again and again:
//   DATABASE_URL=postgres://… npm run doctor:cap -- [--kills 50] [--parallel 100] [--cap 3000000]
// Needs a PostgreSQL server on which a database may be made. Each process replays with simulated providers until SIGKILL.
import { spawn } from "node:child_process"
import { randomBytes, randomUUID } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import Pg from "pg"
import { random } from "../random.mjs"

const { values: options } = parseArgs({
  options: {
    kills: { type: "string", default: "50" },
    parallel: { type: "string", default: "100" },
    cap: { type: "string", default: "3000000" },
    seed: { type: "string", default: "1" }
  }
})
const server = process.env["DATABASE_URL"]
if (server === undefined) throw new Error("DATABASE_URL: a PostgreSQL server")
const [kills, parallel, cap] = [Number(options.kills), Number(options.parallel), Number(options.cap)]
const rng = random(options.seed, "kills")
const name = `cap_${randomBytes(6).toString("hex")}`
const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
const folder = mkdtempSync(join(tmpdir(), "cap-"))
const log = join(folder, "requests")
writeFileSync(log, "")

/** @param {string} database @param {string} statement @param {ReadonlyArray<unknown>} [values] @returns {Promise<Array<Record<string, string>>>} */
const query = async (database, statement, values = []) => {
  const client = new Pg.Client({ connectionString: database })
  await client.connect()
  try {
    return (await client.query(statement, [...values])).rows
  } finally {
    await client.end()
  }
}

/** The lines that a process has written, once it has ended. @param {ReadonlyArray<string>} args @param {number | null} killAfterMillis */
const child = (args, killAfterMillis) =>
  new Promise((/** @type {(lines: Array<string>) => void} */ resolve) => {
    const started = spawn(process.execPath, [new URL("./child.mjs", import.meta.url).pathname, ...args], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    let text = ""
    started.stdout.on("data", (chunk) => {
      const wasRunning = text.includes("running")
      text += chunk
      if (killAfterMillis !== null && !wasRunning && text.includes("running")) {
        setTimeout(() => started.kill("SIGKILL"), killAfterMillis)
      }
    })
    started.once("close", () => resolve(text.trim().split("\n")))
  })

/** @type {Array<string>} */
const violations = []
await query(server, `create database ${name}`)
try {
  const payer = JSON.parse((await child(["setUp", url], null)).at(-1) ?? "{}")
  const analysisId = randomUUID()
  const run = JSON.stringify({ ...payer, url, analysisId, maxSpendMicroUsd: cap, parallel, log })
  const scopeNow = async () => {
    const [scope] = await query(
      url,
      "select spent_micro_usd as spent, held_micro_usd as held from scope where id = $1",
      [analysisId]
    )
    return { spent: Number(scope?.["spent"] ?? 0), held: Number(scope?.["held"] ?? 0) }
  }
  for (let kill = 1; kill <= kills; kill++) {
    await child(["replay", run], rng.int(20, 900))
    const { held, spent } = await scopeNow()
    if (spent + held > cap) violations.push(`after kill ${kill}: ${spent} spent and ${held} held of ${cap}`)
    if (kill % 10 === 0) console.log(`${kill} kills: ${spent} micro-USD spent, ${held} held, cap ${cap}`)
  }
  const verdict = JSON.parse((await child(["replay", run], null)).at(-1) ?? "{}")
  const { spent } = await scopeNow()
  if (spent > cap) violations.push(`${spent} spent of ${cap}`)
  const [sums] = await query(url, "select sum(cost_micro_usd) as cost, count(*) as calls from call where key_id = $1", [
    analysisId
  ])
  if (Number(sums?.["cost"]) !== spent)
    violations.push(`calls have cost ${sums?.["cost"]}, the scope has spent ${spent}`)
  const requests = readFileSync(log, "utf8").trim().split("\n")
  const twice = requests.length - new Set(requests).size
  if (twice > 0) violations.push(`${twice} requests were sent twice`)
  const [items] = await query(
    url,
    "select count(*) as started, count(outcome) as ended from analysis_item where analysis_id = $1",
    [analysisId]
  )
  console.log(
    `${kills} kills, ${parallel} at a time: ${requests.length} requests, ${twice} twice; ${spent} of ${cap} micro-USD spent in ${sums?.["calls"]} calls; ${items?.["started"]} comparisons started, ${items?.["ended"]} ended; the last run ended with ${verdict.outcome}`
  )
} finally {
  await query(server, `drop database ${name} with (force)`)
  rmSync(folder, { recursive: true })
}
for (const violation of violations) console.error(violation)
process.exitCode = violations.length === 0 ? 0 : 1
