// @ts-check
// How often the bounds of projections hold, over simulated pools: node scripts/analysis/coverage.mjs [--samples 1000]
import { parseArgs } from "node:util"
import { importSources } from "../lib/sources.mjs"

/** @import { coverageOf, poolKinds } from "../../test/analysis/planted/Pools.ts" */

const { values } = parseArgs({ options: { samples: { type: "string", default: "1000" } } })
/** @type {{ coverageOf: typeof coverageOf, poolKinds: typeof poolKinds }} */
const sources = await importSources(new URL("../../test/analysis/planted/Pools.ts", import.meta.url))
for (const kind of sources.poolKinds) {
  const { given, held, likely, within } = sources.coverageOf(kind, Number(values.samples), 42)
  console.log(
    `${kind.padEnd(8)} given ${given}, lower bound holds ${held.toFixed(3)}, likely holds ${within.toFixed(3)} of ${likely}`
  )
}
