// @ts-check
// CPU and time of a call by builds and models, beside each other: `npm run bench:pairs -- [OTHER/dist/main.js…]`, or
//   node scripts/bench/load/pairs.mjs [BUNDLE…] [--models pinned,auto] [--scenario c64] [--databases postgres] [--laps 24] [--secs 0.6]
// All run at once and are asked in turn, for less than a second each: a machine that is slower for some seconds is so for all of
// them. The first row is what the others are divided by, lap by lap. PostgreSQL is the one of TEST_DATABASE_URL.
import { parseArgs } from "node:util"
import { builtBundle } from "../../lib/built.mjs"
import { cpuMillis, killAll, limitations, pinSelf, stopServer } from "../../lib/processes.mjs"
import { run } from "../lib/loops.mjs"
import { bodyOf, scenarios } from "../lib/scenarios.mjs"
import { choosing, cleanUp, startGateway, startUpstream } from "../lib/servers.mjs"

/** @import { Gateway } from "../lib/servers.mjs" */

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: {
    models: { type: "string", default: "pinned,auto" },
    scenario: { type: "string", default: "c64" },
    databases: { type: "string", default: "postgres" },
    laps: { type: "string", default: "24" },
    secs: { type: "string", default: "0.6" }
  }
})
const seconds = Number(options.secs)
const warmSeconds = 0.1
const warmUpSeconds = 4
const scenario = Object.entries(scenarios).find(([name]) => name === options.scenario)?.[1]
if (scenario === undefined) throw new Error(`--scenario is one of ${Object.keys(scenarios).join(", ")}`)

/** @param {ReadonlyArray<number>} values */
const median = (values) => Float64Array.from(values).sort()[values.length >> 1] ?? Number.NaN

/** @typedef {{ cpuMicros: number, p50Micros: number }} Lap */
/** @typedef {{ name: string, gateway: Gateway, laps: Array<Lap> }} Side */

/** @param {Side} side @param {number} time @returns {Promise<Lap>} */
const ask = async ({ gateway: { headers, model, path, pid, port } }, time) => {
  const readCpuMillis = () => cpuMillis(pid)
  const body = bodyOf(scenario, model)
  const measured = await run({ path, headers, port, scenario, body, seconds: time, warmSeconds, readCpuMillis })
  return { cpuMicros: measured.cpuMicrosPerRequest, p50Micros: measured.totalMicros.p50 }
}

/** Of all laps, and of each divided by the same lap of the first. @param {Side} side @param {Side} first @param {keyof Lap} figure */
const compared = ({ laps }, first, figure) => {
  const values = laps.map((lap) => lap[figure])
  const ratios = values.map((each, lap) => each / (first.laps[lap]?.[figure] ?? Number.NaN))
  return [Math.round(median(values)), Number(median(ratios).toFixed(3))]
}

/** @param {string} database @param {import("../../lib/processes.mjs").Running} upstream */
const measure = async (database, upstream) => {
  /** @type {Array<Gateway>} */
  const gateways = []
  /** @type {Array<Side>} */
  const sides = []
  for (const bundle of [builtBundle, ...positionals]) {
    const gateway = await startGateway({ name: database, database, bundle, upstream })
    if (gateway === undefined) return console.log("No PostgreSQL (TEST_DATABASE_URL): that form is left out.")
    gateways.push(gateway)
    const build = bundle === builtBundle ? "this build" : bundle
    for (const model of options.models.split(",")) {
      const asked = model === "auto" ? choosing(gateway) : gateway
      sides.push({ name: `${build}, ${model}`, gateway: asked, laps: [] })
    }
  }
  for (const side of sides) await ask(side, warmUpSeconds)
  for (let lap = 0; lap < Number(options.laps); lap++) {
    for (const side of lap % 2 === 0 ? sides : sides.toReversed()) side.laps.push(await ask(side, seconds))
  }
  const [first] = sides
  if (first === undefined) throw new Error("--models names none")
  console.log(`\n## ${database}, ${scenario.about}: median of ${options.laps} laps of ${seconds} s`)
  const rows = sides.map((side) => {
    const [cpu, cpuRatio] = compared(side, first, "cpuMicros")
    const [time, timeRatio] = compared(side, first, "p50Micros")
    return [
      side.name,
      { "µs CPU a call": cpu, "CPU ratio": cpuRatio, "µs a call (p50)": time, "time ratio": timeRatio }
    ]
  })
  console.table(Object.fromEntries(rows))
  for (const gateway of gateways) await gateway.stop()
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
