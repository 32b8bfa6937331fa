// @ts-check
import { importSources } from "../lib/sources.mjs"
const { simulate } = await importSources(new URL("../../test/simulation/Simulation.ts", import.meta.url))
const t = performance.now()
const seed = Number(process.argv[2] ?? 1), calls = Number(process.argv[3] ?? 1000)
const r = await simulate({ seed, calls })
console.log(JSON.stringify({ ...r, violations: r.violations.slice(0, 5), n: r.violations.length }, null, 1), calls / ((performance.now() - t) / 1000))
