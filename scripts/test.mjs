// @ts-check
// `npm test`: the whole suite, closed by one line that counts it. With TEST_DATABASE_URL what uses a
// database runs on PostgreSQL too, with TEST_DATABASES=postgres on PostgreSQL alone.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { allParts, ensureBuilt } from "./lib/built.mjs"
import { root } from "./lib/root.mjs"

// the library too: the examples import the package by its name
await ensureBuilt(allParts)
const folder = mkdtempSync(join(tmpdir(), "gateway-test-"))
const report = join(folder, "report.json")
const { status } = spawnSync(
  join(root, "node_modules/.bin/vitest"),
  ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...process.argv.slice(2)],
  { stdio: "inherit", cwd: root }
)
try {
  const { numFailedTests, numFailedTestSuites, numPassedTests } = JSON.parse(readFileSync(report, "utf8"))
  // a file that could not even be loaded has no failed test, and is a failure all the same
  const failed = Math.max(numFailedTests, numFailedTestSuites > 0 ? 1 : 0, status === 0 ? 0 : 1)
  console.log(`${numPassedTests} passed, ${failed} failed`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(status ?? 1)
