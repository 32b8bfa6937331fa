// @ts-check
// Several nodes of the gateway on virtual time, with faults between them and their database: `npm run simulate`, or
//   node scripts/simulation/run.mjs [--seeds 10] [--first 1] [--calls 2000] [--plant NAME|all]
// Everything follows from the seed: `--first SEED --seeds 1` with the same --calls replays one run. --plant puts a bug of
// plants.mjs into the program, and passes when the simulation finds it.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { importSources } from "../lib/sources.mjs"
import { plants } from "./plants.mjs"

/** @import { SimulationReport, simulate } from "../../test/simulation/Simulation.ts" */
/** @import { Plant } from "./plants.mjs" */

const { values: options } = parseArgs({
  options: {
    seeds: { type: "string", default: "10" },
    first: { type: "string", default: "1" },
    calls: { type: "string", default: "2000" },
    plant: { type: "string" }
  }
})
const positive = (/** @type {string} */ text) => {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new Error(`not a positive whole number: ${text}`)
  return value
}
const [seeds, first, calls] = [positive(options.seeds), positive(options.first), positive(options.calls)]
const shownViolations = 5

/** @param {ReadonlyArray<Plant>} edits @returns {Promise<{ simulate: typeof simulate }>} */
const load = (edits) => importSources(new URL("../../test/simulation/Simulation.ts", import.meta.url), edits)

/** @param {Readonly<Record<string, number>>} counts */
const listed = (counts) =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ")

/** @param {SimulationReport} report */
const printViolations = ({ seed, violations }) => {
  console.log(`seed ${seed}: ${violations.length} violations; the first of them:`)
  for (const violation of violations.slice(0, shownViolations)) console.log(`  ${violation}`)
  console.log(`  again: npm run simulate -- --first ${seed} --seeds 1 --calls ${calls}`)
}

/** A process that was killed in a simulation never ends its fibers: what they hold is freed with the process that simulates. */
const seedsInOneProcess = 10

/** Runs so many seeds in a process of their own. @param {number} from @param {number} count */
const runApart = (from, count) =>
  spawnSync(
    process.execPath,
    [fileURLToPath(import.meta.url), "--first", String(from), "--seeds", String(count), "--calls", String(calls)],
    { stdio: "inherit" }
  ).status === 0

/** Whether every seed kept every invariant. */
const run = async () => {
  if (seeds > seedsInOneProcess) {
    const passed = []
    for (let from = first; from < first + seeds; from += seedsInOneProcess) {
      passed.push(runApart(from, Math.min(seedsInOneProcess, first + seeds - from)))
    }
    return passed.every(Boolean)
  }
  const { simulate } = await load([])
  const startedAt = performance.now()
  let failed = 0
  for (let seed = first; seed < first + seeds; seed++) {
    const report = await simulate({ seed, calls })
    const seconds = Math.round(report.simulatedMillis / 1000)
    console.log(`seed ${seed}: ${seconds} s simulated; ${listed(report.outcomes)}; faults: ${listed(report.faults)}`)
    if (report.violations.length === 0) continue
    failed += 1
    printViolations(report)
  }
  const perSecond = Math.round((seeds * calls) / ((performance.now() - startedAt) / 1000))
  console.log(`${seeds} seeds of ${calls} calls, ${perSecond} calls a second: ${failed} seeds with violations`)
  return failed === 0
}

/** Whether each planted bug is found by one of the seeds. @param {ReadonlyArray<Plant>} chosen */
const findPlants = async (chosen) => {
  let missed = 0
  for (const plant of chosen) {
    const { simulate } = await load([plant])
    /** @type {SimulationReport | undefined} */
    let found
    for (let seed = first; found === undefined && seed < first + seeds; seed++) {
      const report = await simulate({ seed, calls })
      if (report.violations.length > 0) found = report
    }
    if (found === undefined) missed += 1
    console.log(
      found === undefined
        ? `MISSED  ${plant.name}`
        : `found   ${plant.name} (seed ${found.seed}, ${found.violations.length} violations: ${found.violations[0]})`
    )
  }
  console.log(`${chosen.length} planted bugs: ${chosen.length - missed} found, ${missed} missed`)
  return missed === 0
}

const chosen = plants.filter(({ name }) => options.plant === "all" || name === options.plant)
if (options.plant !== undefined && chosen.length === 0) throw new Error(`no planted bug is called ${options.plant}`)
process.exit((await (options.plant === undefined ? run() : findPlants(chosen))) ? 0 : 1)
