// @ts-check
// What it takes to rank past calls again for the curve over alpha, and for two policies beside each other, over the models of
// the catalog. Run: node scripts/bench/routing/replay.mjs [CALLS]
import { performance } from "node:perf_hooks"
import { importSources } from "../../lib/sources.mjs"
import { catalogOf, prompts } from "./catalog.mjs"

/** @type {import("./catalog.mjs").Library} */
const library = await importSources(new URL("./sources.ts", import.meta.url))
const snapshot = catalogOf(library)
const calls = Number(process.argv[2] ?? 2_000)
const alphas = Array.from({ length: 21 }, (_, step) => step / 20)
const rules = {
  snapshot,
  project: library.openPolicy,
  configurations: [],
  billingMode: /** @type {const} */ ("managed")
}
const other = {
  ...rules,
  project: { ...library.openPolicy, models: { allow: null, deny: ["openai/*"] } }
}

/** As they are in the call log. */
const rows = Array.from({ length: calls }, (_, at) => {
  const asked = library.runSync(
    library.decode({
      model: "auto",
      messages: [{ role: "user", content: `${prompts[at % prompts.length]} (${at})` }],
      ...(at % 3 === 0 && { max_tokens: 500 }),
      ...(at % 4 === 0 && { tools: [{ type: "function", function: { name: "run" } }] })
    })
  )
  const promptTokens = 50 + ((at * 7_919) % 20_000)
  const features = library.featuresOf(asked, false, promptTokens, library.classify(asked, promptTokens))
  return library.recorded(features, { propensity: 1, qualityVersion: null }) ?? ""
})

/** Milliseconds, the middle one of several runs. @param {(row: string) => void} replay */
const measure = (replay) => {
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now()
    for (const row of rows) replay(row)
    return performance.now() - start
  })
  const [, , , , middle = 0] = times.sort((a, b) => a - b)
  return `${middle.toFixed(0)} ms (${((middle / calls) * 1_000).toFixed(0)} µs a call)`
}

const chosen = (/** @type {string} */ row, /** @type {typeof rules} */ by, /** @type {ReadonlyArray<number>} */ at) => {
  const features = library.fromRecorded(row)
  if (features === null) throw new Error("a recorded call cannot be read")
  return library.choose({ features, routingConfig: null }, by, at)
}

console.log(`${calls} calls over ${snapshot.listed.length} models`)
console.log(`one alpha: ${measure((row) => void chosen(row, rules, []))}`)
console.log(`the curve, ${alphas.length} alphas: ${measure((row) => void chosen(row, rules, alphas))}`)
console.log(
  `two policies, 11 alphas each: ${measure((row) => {
    const few = alphas.filter((_, at) => at % 2 === 0)
    chosen(row, rules, few)
    chosen(row, other, few)
  })}`
)
