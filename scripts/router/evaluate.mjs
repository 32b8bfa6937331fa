// @ts-check
// `npm run router:evaluate -- --train FILE… --test FILE [--predictions OUT.jsonl] [--picture OUT.svg] [--unseen-tasks]`: trains on
// graded answers, measures on others, and prints the figures as JSON; with `--unseen-tasks` those of each task by a router that
// was trained on all others.
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { importSources } from "../lib/sources.mjs"

const usage =
  "usage: npm run router:evaluate -- --train FILE [FILE…] --test FILE [--predictions OUT.jsonl] [--picture OUT.svg] [--unseen-tasks]"

/** `--train a b` is `--train a --train b`. @param {ReadonlyArray<string>} args */
const repeated = (args) => {
  /** @type {Array<string>} */
  const all = []
  let option = ""
  for (const one of args) {
    if (one.startsWith("--")) option = one
    else if (all.at(-1) !== option && option !== "") all.push(option)
    all.push(one)
  }
  return all
}

/** @type {typeof import("./sources.ts")} */
const { evaluate, leaveOneTaskOut, pictureOf, readSets } = await importSources(new URL("./sources.ts", import.meta.url))

try {
  const { values } = parseArgs({
    args: repeated(process.argv.slice(2)),
    options: {
      train: { type: "string", multiple: true },
      test: { type: "string", multiple: true },
      predictions: { type: "string" },
      picture: { type: "string" },
      "unseen-tasks": { type: "boolean" }
    }
  })
  if (values.train === undefined || values.test === undefined) throw new Error(usage)
  const files = (/** @type {ReadonlyArray<string>} */ named) => named.flatMap((one) => one.split(","))
  const test = readSets(files(values.test))
  const training = readSets(files(values.train))
  const { evaluation, picture, predictions } = evaluate(training, test)
  const unseen = values["unseen-tasks"] === true ? { unseen_tasks: leaveOneTaskOut(training, test) } : {}
  if (values.predictions !== undefined) {
    const head = { _meta: { dataset: test.name, models: test.models, n: test.prompts.length } }
    const lines = test.prompts.map(({ id }, at) => ({
      id,
      quality: predictions.quality[at],
      cost: predictions.cost[at]
    }))
    writeFileSync(values.predictions, `${[head, ...lines].map((line) => JSON.stringify(line)).join("\n")}\n`)
  }
  if (values.picture !== undefined) writeFileSync(values.picture, pictureOf(picture))
  console.log(JSON.stringify({ ...evaluation, ...unseen }, null, 2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
