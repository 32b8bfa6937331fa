// @ts-check
// How well planted causes are found: node scripts/analysis/run.mjs [--first 1000] [--apps 200]
import { parseArgs } from "node:util"
import { importSources } from "../lib/sources.mjs"

/** @import { precisionOf } from "../../test/analysis/planted/Precision.ts" */

const { values } = parseArgs({
  options: { first: { type: "string", default: "1000" }, apps: { type: "string", default: "200" } }
})
const [first, apps] = [Number(values.first), Number(values.apps)]

/** @type {{ precisionOf: typeof precisionOf }} */
const sources = await importSources(new URL("../../test/analysis/planted/Precision.ts", import.meta.url))
const started = performance.now()
const { calls, scores } = sources.precisionOf(
  Array.from({ length: apps }, (_, i) => first + i),
  (line) => console.log(line)
)
let [tp, fp, fn] = [0, 0, 0]
/** @type {Array<number>} */
const all = []
const quantile = (/** @type {ReadonlyArray<number>} */ sorted, /** @type {number} */ q) =>
  (sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN).toFixed(2)
for (const [cause, { falseNegatives, falsePositives, ratios, truePositives }] of [...scores].sort()) {
  tp += truePositives
  fp += falsePositives
  fn += falseNegatives
  ratios.sort((a, b) => a - b)
  all.push(...ratios)
  console.log(
    `${cause.padEnd(22)} tp ${truePositives} fp ${falsePositives} fn ${falseNegatives}  est/true ${[0.1, 0.5, 0.9].map((q) => quantile(ratios, q)).join(" ")}`
  )
}
all.sort((a, b) => a - b)
const seconds = ((performance.now() - started) / 1000).toFixed(1)
console.log(
  `${apps} applications, ${calls} calls, ${seconds} s: precision ${(tp / (tp + fp)).toFixed(3)}, recall ${(tp / (tp + fn)).toFixed(3)}, est/true ${[0.1, 0.5, 0.9].map((q) => quantile(all, q)).join(" ")}`
)
