// @ts-check
// `npm test`: the whole suite, closed by one line that counts it. Files that need a process of their own run
// first, then the others, which share one per core. With TEST_DATABASE_URL what uses a database runs on
// PostgreSQL too, with TEST_DATABASES=postgres on PostgreSQL alone.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { allParts, ensureBuilt } from "./lib/built.mjs"
import { root } from "./lib/root.mjs"

/**
 * What Vitest reports of a file, of it what is read here.
 *
 * @typedef {object} FileReport
 * @property {string} name
 * @property {string} status
 * @property {string} message
 * @property {ReadonlyArray<{ readonly fullName: string, readonly status: string, readonly failureMessages: ReadonlyArray<string> }>} assertionResults
 */

/** @typedef {{ readonly passed: number, readonly failures: ReadonlyArray<string> }} Outcome */

/** What the services of all files that run at once keep in their folders, with room to spare. */
const neededBytes = 2 * 1024 ** 3
const memory = "/dev/shm"

/** Each of some hundred services writes 15 MB in 700 files when it starts: in memory that takes a fraction of the time. */
const temporaryFolder = () => {
  if (process.env["TMPDIR"] !== undefined || !existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= neededBytes ? memory : tmpdir()
}

/** The signal by which this run is stopped: its folder is removed, and nothing else is begun. */
let stoppedBy = ""

/** @param {string} processes @param {string} folder @returns {Promise<Outcome>} */
const run = async (processes, folder) => {
  if (stoppedBy !== "") return { passed: 0, failures: [`the ${processes} files: not run (${stoppedBy})`] }
  const report = join(folder, `${processes}.json`)
  const unhandled = join(folder, `${processes}-unhandled.json`)
  const ours = join(root, "scripts/lib/unhandledReporter.mjs")
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`, `--reporter=${ours}`]
  const env = { ...process.env, TEST_PROCESSES: processes, TMPDIR: folder, UNHANDLED_ERRORS: unhandled }
  const child = spawn(
    join(root, "node_modules/.bin/vitest"),
    // a file that is asked for by name is in one of the two
    ["run", "--passWithNoTests", ...reporters, ...process.argv.slice(2)],
    { stdio: "inherit", cwd: root, env }
  )
  /** A terminal sends its signals to the child too. @param {NodeJS.Signals} signal */
  const stop = (signal) => {
    stoppedBy = signal
    if (signal === "SIGTERM") child.kill(signal)
  }
  process.on("SIGINT", stop).on("SIGTERM", stop)
  const [status, signal] = await once(child, "exit")
  process.off("SIGINT", stop).off("SIGTERM", stop)
  const end = signal ?? `exit code ${status}`
  if (!existsSync(report))
    return { passed: 0, failures: [`the ${processes} files: ended before they were counted (${end})`] }
  const { numPassedTests, testResults } = JSON.parse(readFileSync(report, "utf8"))
  const failures = testResults.flatMap(failuresOf)
  if (status !== 0 && failures.length === 0) {
    /** @type {ReadonlyArray<string>} */
    const errors = existsSync(unhandled) ? JSON.parse(readFileSync(unhandled, "utf8")) : []
    const named = [...new Set(errors.map(firstLine))].map((error) => `\n    ${error}`).join("")
    if (errors.length > 0 && errors.every(isLateAnswer) && testResults.every(isReported))
      console.log(`the ${processes} files: all results have arrived, but answers to them came too late:${named}`)
    else failures.push(`the ${processes} files: ${end}, with no failed test${named}`)
  }
  return { passed: numPassedTests, failures }
}

/** @param {FileReport} file @returns {ReadonlyArray<string>} */
const failuresOf = ({ name, status, message, assertionResults }) => {
  const path = relative(root, name)
  const failed = assertionResults
    .filter((test) => test.status === "failed")
    .map(({ fullName, failureMessages }) => `${path}: ${fullName}\n    ${firstLine(failureMessages[0])}`)
  // a file that could not even be loaded has no failed test, and is a failure all the same
  return status === "failed" && failed.length === 0 ? [`${path}\n    ${firstLine(message)}`] : failed
}

/**
 * Vitest's processes wait for each other's answers for a minute, and have no setting for it. Where the one that prints is held up
 * so long, as by a reader of its output, the answer to what a test has reported comes too late to the process that ran it.
 *
 * @param {string} message
 */
const isLateAnswer = (message) => /^\[vitest-worker\]: Timeout calling "(?:onTaskUpdate|snapshotSaved)"/.test(message)

/** A test whose result has not arrived is pending, one that is left out is skipped. @param {FileReport} file */
const isReported = ({ assertionResults }) => assertionResults.every(({ status }) => status !== "pending")

const firstLine = (text = "") => text.trim().split("\n", 1)[0]

// the library too: the examples import the package by its name
await ensureBuilt(allParts)
const folder = mkdtempSync(join(temporaryFolder(), "gateway-test-"))
try {
  const [isolated, shared] = [await run("isolated", folder), await run("shared", folder)]
  const passed = isolated.passed + shared.passed
  const failures = [...isolated.failures, ...shared.failures]
  const failed = failures.length
  if (passed + failed === 0) console.error(`No test is named so: ${process.argv.slice(2).join(" ")}`)
  // the first failure of 5,000 tests is thousands of lines above
  for (const failure of failures) console.log(`failed: ${failure}`)
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = passed === 0 || failed > 0 ? 1 : 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}
