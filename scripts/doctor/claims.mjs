// @ts-check
// How often a claim of equal quality is false, and a biased judge believed, when one looks after every pair:
//   npm run doctor:claims -- [--runs 2000] [--pairs 300] [--seed 1] [--json]
// Simulated: candidates that are exactly as much worse as a claim excludes, judges that see only a part of the differences, and
// judges that prefer new answers. Then the power: how often an equal candidate is found not worse.
import { parseArgs } from "node:util"
import { importSources } from "../lib/sources.mjs"
import { random } from "./random.mjs"

/** @import * as Verdict from "../../src/analysis/evidence/Verdict.ts" */
/** @import { Random } from "./random.mjs" */

const { values: options } = parseArgs({
  options: {
    runs: { type: "string", default: "2000" },
    pairs: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false }
  }
})
const [runs, maxPairs] = [Number(options.runs), Number(options.pairs)]

/** @type {typeof Verdict} */
const { addPair, addPlacebo, needsPlacebo, open, plantsPerClass, verdict } = await importSources(
  new URL("../../src/analysis/evidence/Verdict.ts", import.meta.url),
  []
)

/** A model differs from itself on fewer prompts than from another. */
const ownDiffer = 0.5

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {number} truth mean difference of the candidate
 * @property {number} differ share of pairs on which the answers are not equal
 * @property {number} sensitivity share of the differences that the judge sees
 * @property {number} bias share of the pairs with unequal answers in which the judge takes the new one whatever it says
 * @property {number} [margin]
 * @property {number} [opened]
 */

/** One judgement: the difference that there is, as far as the judge sees it. @param {Random} rng @param {number} mean @param {Case} simulated */
const judged = (rng, mean, { bias, differ, sensitivity }) => {
  if (!rng.chance(differ)) return { difference: 0, isJudged: false }
  if (rng.chance(bias)) return { difference: 1, isJudged: true }
  if (!rng.chance(sensitivity)) return { difference: 0, isJudged: true }
  return { difference: rng.chance((1 + mean / differ) / 2) ? 1 : -1, isJudged: true }
}

/** @param {Case} simulated @param {number} run */
const once = (simulated, run) => {
  const rng = random(options.seed, simulated.name, run)
  const { margin = 0.1, opened = 1 } = simulated
  const found = Array.from({ length: plantsPerClass }).filter(() => rng.chance(simulated.sensitivity)).length
  let state = open({ margin, opened }, { count: plantsPerClass, found })
  for (let pair = 1; pair <= maxPairs; pair++) {
    state = addPair(state, judged(rng, simulated.truth, simulated))
    if (needsPlacebo(state)) {
      state = addPlacebo(state, judged(rng, 0, { ...simulated, differ: simulated.differ * ownDiffer }))
    }
    const now = verdict(state)
    if (now.isFinal) return { outcome: now.outcome, pairs: pair }
  }
  return { outcome: verdict(state).outcome, pairs: maxPairs }
}

/** @type {ReadonlyArray<Case>} */
const cases = [
  ...[0.1, 0.2, 0.3, 0.5].map((differ) => ({
    name: `boundary, differ ${differ}`,
    truth: -0.1,
    differ,
    sensitivity: 1,
    bias: 0
  })),
  ...[1, 2, 3].map((opened) => ({
    name: `boundary, ${opened} opened`,
    truth: -0.1,
    differ: 0.2,
    sensitivity: 1,
    bias: 0,
    opened
  })),
  ...[0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map((sensitivity) => ({
    name: `boundary, judge sees ${sensitivity}`,
    truth: -0.1,
    differ: 0.2,
    sensitivity,
    bias: 0
  })),
  { name: "twice the margin worse, judge sees 0.2", truth: -0.2, differ: 0.3, sensitivity: 0.2, bias: 0 },
  ...[0.1, 0.25, 0.5, 0.75, 1].map((bias) => ({
    name: `boundary, biased ${bias}`,
    truth: -0.1,
    differ: 0.3,
    sensitivity: 1,
    bias
  })),
  ...[0.15, 0.3].map((differ) => ({
    name: `power: equal, differ ${differ}`,
    truth: 0,
    differ,
    sensitivity: 1,
    bias: 0
  })),
  { name: "power: equal, judge sees 0.9", truth: 0, differ: 0.15, sensitivity: 0.9, bias: 0 },
  { name: "harm of 0.13", truth: -0.13, differ: 0.3, sensitivity: 1, bias: 0 },
  { name: "harm of 0.25", truth: -0.25, differ: 0.4, sensitivity: 1, bias: 0 }
]

const results = cases.map((simulated) => {
  const ended = Array.from({ length: runs }, (_, run) => once(simulated, run))
  const share = (/** @type {string} */ outcome) => ended.filter((one) => one.outcome === outcome).length / runs
  const pairs = ended.map((one) => one.pairs).sort((a, b) => a - b)
  return {
    name: simulated.name,
    not_worse: share("not_worse"),
    worse: share("worse"),
    judge_unfit: share("judge_unfit"),
    judge_biased: share("judge_biased"),
    insufficient_data: share("insufficient_data"),
    median_pairs: pairs[Math.floor(runs / 2)] ?? 0
  }
})
if (options.json) console.log(JSON.stringify(results, null, 2))
else console.table(Object.fromEntries(results.map(({ name, ...figures }) => [name, figures])))
