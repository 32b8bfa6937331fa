// @ts-check
// Whether what collections keep of simulated pools says what is true of them: totals weighted by 1 / inclusion, the lower bound of projections and
// their likely range. Ends with 1 where a bar is missed: node scripts/analysis/coverage.mjs [--pools 1000] [--seed 42]
import { parseArgs } from "node:util"
import { importSources } from "../lib/sources.mjs"

/** @import { figuresOf, poolKinds } from "../../test/analysis/planted/Pools.ts" */

const { values } = parseArgs({
  options: { pools: { type: "string", default: "1000" }, seed: { type: "string", default: "42" } }
})
/** @type {{ figuresOf: typeof figuresOf, poolKinds: typeof poolKinds }} */
const sources = await importSources(new URL("../../test/analysis/planted/Pools.ts", import.meta.url))
for (const kind of sources.poolKinds) {
  const { byRate, charged, given, held, likely, saved, unfounded, within } = sources.figuresOf(
    kind,
    Number(values.pools),
    Number(values.seed)
  )
  console.log(
    `${kind.padEnd(8)} total charged ${charged.toFixed(3)}, avoidable ${saved.toFixed(3)} of the truth (${byRate.toFixed(2)} by the rate); given ${given}, lower bound holds ${held.toFixed(3)}, likely holds ${within.toFixed(3)} of ${likely}`
  )
  const isUnbiased = [charged, saved].every((ratio) => Math.abs(ratio - 1) <= 0.02)
  if (!isUnbiased || given === 0 || held < 0.97 || (likely > 0 && within < 0.9) || unfounded > 0) process.exitCode = 1
}
