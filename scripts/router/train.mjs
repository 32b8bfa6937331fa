// @ts-check
// `npm run router:train -- FILE…`: trains the classifier of prompts on graded sets and the seeds beside this file, and writes
// src/routing/quality/data/classifier.data.json.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../lib/root.mjs"
import { importSources } from "../lib/sources.mjs"

const target = join(root, "src/routing/quality/data/classifier.data.json")
const files = process.argv.slice(2)
if (files.length === 0) {
  console.error("usage: npm run router:train -- FILE [FILE…]")
  process.exit(64)
}
/** @type {typeof import("./training.ts")} */
const { readSets, trainClassifier } = await importSources(new URL("./training.ts", import.meta.url))
const { accuracy, artefact, texts } = trainClassifier(files.map((file) => readSets([file])))
const text = JSON.stringify(artefact, null, 1)
writeFileSync(target, `${text}\n`)
console.log(
  `${texts} texts, ${(accuracy * 100).toFixed(1)} % of those left out recognised, version ${artefact.version}, ${(text.length / 1024).toFixed(0)} KiB`
)
for (const [name, { base, graded, outputTokens, spread }] of Object.entries(artefact.classes)) {
  console.log(`${name.padEnd(14)} spread ${spread}  base ${base}  ${outputTokens} tokens  (${graded} graded prompts)`)
}
