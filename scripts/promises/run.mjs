#!/usr/bin/env node
import { promises } from "./promises.mjs"
// The long forms of what the suite promises, with their figures. `node scripts/promises/run.mjs [number …]`
import { runTests } from "./tests.mjs"

const wanted = new Set(process.argv.slice(2).map(Number))
const chosen = promises.filter(({ number }) => wanted.size === 0 || wanted.has(number))
const files = [...new Set(chosen.flatMap((promise) => promise.files))]
const results = new Map()
for (const file of files) results.set(file, await runTests(file, { PROMISES: "long" }))

let passed = 0
for (const promise of chosen) {
  const ran = promise.files.map((file) => results.get(file))
  const count = (status) => ran.flatMap(({ tests }) => tests).filter((test) => test.status === status).length
  const kept = ran.every(({ ok }) => ok)
  if (kept) passed++
  const skipped = count("skipped") + count("pending")
  const notes = skipped === 0 ? "" : `, ${skipped} skipped`
  console.log(`${kept ? "passed" : "FAILED"} ${promise.number} ${promise.name}: ${count("passed")} tests${notes}`)
  for (const figure of new Set(ran.flatMap(({ figures }) => figures))) console.log(`         ${figure}`)
  for (const { tests } of ran) {
    for (const test of tests) if (test.status === "failed") console.log(`         failed: ${test.name}`)
  }
}
console.log(`${passed} passed, ${chosen.length - passed} failed`)
process.exitCode = passed === chosen.length ? 0 : 1
