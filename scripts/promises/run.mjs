// @ts-check
// `npm run promises [word …]`: the long forms of the tests that show what is promised, with their figures. A test file says
// which promise it shows in a line `// Promise: …` at its start; words choose those promises whose text has one of them. Some tests
// need PostgreSQL (`TEST_DATABASE_URL`): a promise none of whose tests has run is not shown.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../lib/root.mjs"
import { runTests } from "../lib/tests.mjs"

const words = process.argv.slice(2).map((word) => word.toLowerCase())

/** The files of each promise. @type {Map<string, Array<string>>} */
const filesByPromise = new Map()
for (const name of readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).sort()) {
  if (!name.endsWith(".test.ts")) continue
  const file = `test/${name}`
  for (const [, promise = ""] of readFileSync(join(root, file), "utf8").matchAll(/^\/\/ Promise: (.*)\.$/gm)) {
    const isChosen = words.length === 0 || words.some((word) => promise.toLowerCase().includes(word))
    if (isChosen) filesByPromise.set(promise, [...(filesByPromise.get(promise) ?? []), file])
  }
}

/** @typedef {Awaited<ReturnType<typeof runTests>>} Ran */

/** @type {Map<string, Ran>} */
const results = new Map()
for (const file of new Set([...filesByPromise.values()].flat())) {
  results.set(file, await runTests(file, { PROMISES: "long" }))
}

/** @type {Record<"passed" | "FAILED" | "NOT RUN", number>} */
const totals = { passed: 0, FAILED: 0, "NOT RUN": 0 }
for (const [promise, files] of filesByPromise) {
  const ran = files.flatMap((file) => results.get(file) ?? [])
  const tests = ran.flatMap((one) => one.tests)
  /** @param {string} status */
  const count = (status) => tests.filter((test) => test.status === status).length
  const result = !ran.every(({ ok }) => ok) ? "FAILED" : count("passed") > 0 ? "passed" : "NOT RUN"
  totals[result]++
  const skipped = count("skipped") + count("pending")
  console.log(`${result} ${promise}: ${count("passed")} tests${skipped === 0 ? "" : `, ${skipped} skipped`}`)
  for (const figure of new Set(ran.flatMap(({ figures }) => figures))) console.log(`         ${figure}`)
  for (const test of tests) if (test.status === "failed") console.log(`         failed: ${test.name}`)
}
console.log(`${totals.passed} passed, ${totals.FAILED} failed, ${totals["NOT RUN"]} not run`)
process.exitCode = filesByPromise.size > 0 && totals.passed === filesByPromise.size ? 0 : 1
