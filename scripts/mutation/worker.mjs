// @ts-check
// Runs test files in its working directory, again and again, as its parent asks: the modules that have not changed since the
// last run are not transformed again.
import { createVitest } from "vitest/node"

/** @typedef {import("./vitest.mjs").TestRun} TestRun */

const vitest = await createVitest("test", {
  watch: false,
  bail: 1,
  // a mutant that keeps a test waiting is killed by this; far more than any of the tests takes
  testTimeout: 15_000,
  cache: false,
  reporters: [{}],
  // one process for all files: loading the modules once for each file takes longer than the tests themselves
  pool: "forks",
  poolOptions: { forks: { singleFork: true } },
  isolate: false
})

/**
 * @param {ReadonlyArray<string>} files
 * @param {ReadonlyArray<string>} changed
 * @returns {Promise<TestRun>}
 */
const run = async (files, changed) => {
  for (const path of changed) vitest.invalidateFile(path)
  const specifications = await vitest.globTestSpecifications([...files])
  vitest.state.clearErrors()
  const result = await vitest.runTestSpecifications(specifications, false)
  // the result has the modules of earlier runs too
  const chosen = new Set(specifications.map(({ moduleId }) => moduleId))
  const testModules = result.testModules.filter(({ moduleId }) => chosen.has(moduleId))
  for (const module of testModules) {
    for (const test of module.children.allTests("failed")) {
      const [error] = test.result().errors ?? []
      return { status: "failed", detail: `${test.fullName}: ${error?.message.split("\n", 1)[0] ?? ""}` }
    }
  }
  for (const module of testModules) {
    const [error] = module.errors()
    if (error !== undefined) return { status: "unloadable", detail: error.message.split("\n", 1)[0] ?? "" }
  }
  if (result.unhandledErrors.length > 0) return { status: "failed", detail: "an error outside of any test" }
  const hasPassed = testModules.some((module) => module.ok() && module.children.size > 0)
  return hasPassed ? { status: "passed", detail: "" } : { status: "unloadable", detail: "no test has run" }
}

process.on("message", (/** @type {{ files: ReadonlyArray<string>, changed: ReadonlyArray<string> }} */ message) => {
  run(message.files, message.changed).then(
    (result) => process.send?.(result),
    (error) => process.send?.({ status: "unloadable", detail: String(error) })
  )
})
