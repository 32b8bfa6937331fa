// @ts-check
// Tries the built gateway with the clients and coding agents that people use: `node scripts/acceptance/run.mjs`.
// `--bundle <main.js>` tests one that is built already, `--only <word>` the clients whose name has the word.
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { builtBundle, ensureBuilt, serviceParts } from "../lib/built.mjs"
import { startGateway } from "./gateway.mjs"
import { columns } from "./matrix.mjs"
import { print } from "./report.mjs"
import { configured, startUpstream } from "./upstream.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const { values: options } = parseArgs({ options: { bundle: { type: "string" }, only: { type: "string" } } })

if (!existsSync(join(here, "node_modules/.package-lock.json"))) must("npm", ["ci", "--no-audit", "--no-fund"], here)
if (options.bundle === undefined) await ensureBuilt(serviceParts)
const bundle = resolve(options.bundle ?? builtBundle)

/** A failure within this time has a status of its own; with several agents at once on a machine it may come late. */
const headHoldMillis = 400
const { checkClient } = await import("./matrix.mjs")
const modules = ["openai", "ai-sdk", "langchain", "agents-sdk", "effect", "openrouter-sdk", "anthropic", "compatcanary"]
const clients = (await Promise.all(modules.map((name) => import(`./clients/${name}.mjs`)))).flatMap(
  ({ adapters }) => adapters
)
const agents = (
  await Promise.all(["opencode", "codex", "claude-code"].map((name) => import(`./agents/${name}.mjs`)))
).flatMap(({ adapters }) => adapters)

const upstream = await startUpstream({ lateMillis: 2 * headHoldMillis })
const main = await startGateway({
  bundle,
  config: {
    ...configured(upstream.baseUrl, [...clients, ...agents]),
    headHoldMillis,
    timeouts: { firstContentMillis: 3_000, idleMillis: 1_000 }
  }
})
const quiet = await startGateway({ bundle })
const world = { main, quiet, upstream }
const results = []
try {
  for (const [at, adapter] of [...clients, ...agents].entries()) {
    if (options.only !== undefined && !adapter.client.includes(options.only)) continue
    const check = adapter.check ?? checkClient
    for (const result of await check(adapter, at, world)) results.push(result)
  }
  for (const [name, gateway] of Object.entries({ main, quiet })) {
    const { defects, inFlight } = await gateway.counts()
    const problem = defects === 0 && inFlight === 0 ? undefined : `${defects} defects, ${inFlight} calls still running`
    results.push({ client: `(${name} gateway)`, check: "extra", problem })
  }
} finally {
  await Promise.all([main.stop(), quiet.stop(), upstream.stop()])
}
process.exitCode = print(columns, results) ? 0 : 1

/** @param {string} command @param {ReadonlyArray<string>} args @param {string} cwd */
function must(command, args, cwd) {
  const { status } = spawnSync(command, args, { stdio: "inherit", cwd })
  if (status !== 0) process.exit(status ?? 1)
}
