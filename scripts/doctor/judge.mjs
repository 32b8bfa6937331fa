// @ts-check
// Judges the engine by applications that it was not made with: precision, recall and estimate over truth of each cause.
//   npm run doctor:judge -- [--seed 1] [--apps 200] [--json] [--misses]
// A cause counts where it is worth at least 1.25 % of the spend. Claimed by the engine are causes of the tiers exact and rebilled.
import { parseArgs } from "node:util"
import { importSources } from "../lib/sources.mjs"
import { generate } from "./generator.mjs"

/** @import { findingsOf as FindingsOf } from "./support.ts" */

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    apps: { type: "string", default: "200" },
    json: { type: "boolean", default: false },
    misses: { type: "boolean", default: false }
  }
})

const causes = Array.from({ length: 16 }, (_, at) => at + 1)
const material = 0.0125
/** Shares for which a clean application must not be blamed. */
const blamed = 0.01

/** @type {{ findingsOf: typeof FindingsOf }} */
const { findingsOf } = await importSources(new URL("./support.ts", import.meta.url), [])

const counts = new Map(
  causes.map((cause) => [cause, { tp: 0, fp: 0, fn: 0, ratios: /** @type {Array<number>} */ ([]) }])
)
/** @type {Array<string>} */
const misses = []
/** @type {Array<number>} */
const joint = []
/** @type {Array<number>} */
const modelErrors = []
let [clean, cleanBlamed] = [0, 0]

for (const { app, calls, truth } of generate(Number(options.seed), Number(options.apps))) {
  const { avoidableMicroUsd, found, modelErrors: errors } = findingsOf(calls)
  modelErrors.push(...errors)
  const claimed = found.filter(({ tier }) => tier === "exact" || tier === "rebilled")
  for (const cause of causes) {
    const count = counts.get(cause)
    if (count === undefined) continue
    const truly = truth.alone[cause] ?? 0
    const estimate = claimed.find((finding) => finding.cause === cause)?.aloneMicroUsd ?? 0
    const [isTrue, isFound] = [truly, estimate].map((amount) => amount >= material * truth.chargedMicroUsd)
    if (isTrue && estimate > 0) {
      count.tp += 1
      count.ratios.push(estimate / truly)
    } else if (isTrue) count.fn += 1
    else if (isFound && !app.planted.includes(cause)) count.fp += 1
    if (isTrue !== isFound && (isTrue ? estimate === 0 : !app.planted.includes(cause))) {
      const percent = (/** @type {number} */ amount) => `${((100 * amount) / truth.chargedMicroUsd).toFixed(1)} %`
      const kind = isTrue ? "missed" : "wrong"
      misses.push(
        `${kind} ${cause} in ${app.id} (${app.kind}, ${app.route}, planted ${app.planted.join(" ") || "nothing"}, traps ${app.traps.join(" ") || "none"}): true ${percent(truly)}, estimated ${percent(estimate)}`
      )
    }
  }
  if (
    Object.values(truth.alone).every((amount) => amount < blamed * truth.chargedMicroUsd) &&
    app.planted.length === 0
  ) {
    clean += 1
    if (avoidableMicroUsd >= blamed * truth.chargedMicroUsd) cleanBlamed += 1
  } else if (app.planted.length > 0 && truth.jointMicroUsd > 0) joint.push(avoidableMicroUsd / truth.jointMicroUsd)
}

/** @param {ReadonlyArray<number>} values @param {number} share */
const quantile = (values, share) => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null
}
/** @param {number | null} value */
const short = (value) => (value === null ? null : Math.round(value * 1000) / 1000)

const rows = causes.map((cause) => {
  const { fn, fp, ratios, tp } = counts.get(cause) ?? { tp: 0, fp: 0, fn: 0, ratios: [] }
  return {
    cause,
    tp,
    fp,
    fn,
    p10: short(quantile(ratios, 0.1)),
    p50: short(quantile(ratios, 0.5)),
    p90: short(quantile(ratios, 0.9))
  }
})
const sum = (/** @type {"tp" | "fp" | "fn"} */ name) => rows.reduce((total, row) => total + row[name], 0)
const ratios = [...counts.values()].flatMap((count) => count.ratios)
const total = {
  apps: Number(options.apps),
  precision: short(sum("tp") / Math.max(1, sum("tp") + sum("fp"))),
  recall: short(sum("tp") / Math.max(1, sum("tp") + sum("fn"))),
  ratio: [0.1, 0.5, 0.9].map((share) => short(quantile(ratios, share))),
  joint: [0.1, 0.5, 0.9].map((share) => short(quantile(joint, share))),
  modelError: [0.5, 0.9].map((share) => short(quantile(modelErrors, share))),
  clean,
  cleanBlamed
}
if (options.json) console.log(JSON.stringify({ total, causes: rows, misses }, null, 2))
else {
  console.table(Object.fromEntries(rows.map(({ cause, ...figures }) => [cause, figures])))
  console.log(total)
  if (options.misses) for (const miss of misses) console.log(miss)
}
