// @ts-check
// `npm test`: the whole suite, closed by one line that counts it. Files that need a process of their own run
// first, then the others, which share one per core. With TEST_DATABASE_URL what uses a database runs on
// PostgreSQL too, with TEST_DATABASES=postgres on PostgreSQL alone.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { allParts, ensureBuilt } from "./lib/built.mjs"
import { root } from "./lib/root.mjs"

/** @param {string} processes @param {string} folder @returns {{ readonly passed: number, readonly failed: number }} */
const run = (processes, folder) => {
  const report = join(folder, `${processes}.json`)
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
  const { status } = spawnSync(
    join(root, "node_modules/.bin/vitest"),
    // a file that is asked for by name is in one of the two
    ["run", "--passWithNoTests", ...reporters, ...process.argv.slice(2)],
    { stdio: "inherit", cwd: root, env: { ...process.env, TEST_PROCESSES: processes } }
  )
  const { numFailedTests, numFailedTestSuites, numPassedTests } = JSON.parse(readFileSync(report, "utf8"))
  // a file that could not even be loaded has no failed test, and is a failure all the same
  return { passed: numPassedTests, failed: Math.max(numFailedTests, numFailedTestSuites > 0 || status !== 0 ? 1 : 0) }
}

// the library too: the examples import the package by its name
await ensureBuilt(allParts)
const folder = mkdtempSync(join(tmpdir(), "gateway-test-"))
try {
  const [own, shared] = [run("own", folder), run("shared", folder)]
  const [passed, failed] = [own.passed + shared.passed, own.failed + shared.failed]
  if (passed + failed === 0) console.error(`No test is named so: ${process.argv.slice(2).join(" ")}`)
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = passed === 0 || failed > 0 ? 1 : 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}
