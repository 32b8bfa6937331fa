// @ts-check
import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "./root.mjs"

const vitest = join(root, "node_modules/vitest/vitest.mjs")

/** @typedef {{ readonly name: string, readonly title: string, readonly status: string }} Ran */

/**
 * Runs one test file in a process of its own: its tests with their results, and the figures that it has printed.
 *
 * @param {string} file
 * @param {Readonly<Record<string, string>>} [env]
 * @returns {Promise<{ readonly ok: boolean, readonly tests: ReadonlyArray<Ran>, readonly figures: ReadonlyArray<string> }>}
 */
export const runTests = async (file, env = {}) => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-promises-"))
  const report = join(folder, "report.json")
  const args = [
    vitest,
    "run",
    file,
    "--reporter=json",
    `--outputFile=${report}`,
    "--reporter=default",
    "--testTimeout=300000"
  ]
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env, NO_COLOR: "1" } })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (/** @type {Buffer} */ part) => {
      output += part.toString()
    })
  }
  await new Promise((resolve) => child.once("close", resolve))
  /** @type {{ success: boolean, testResults: Array<{ assertionResults: Array<{ fullName: string, title: string, status: string }> }> }} */
  const { success, testResults } = await readFile(report, "utf8").then(JSON.parse, () => ({
    success: false,
    testResults: []
  }))
  await rm(folder, { recursive: true, force: true })
  const tests = testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ fullName, status, title }) => ({ name: fullName, title, status }))
  )
  const figures = [...output.matchAll(/^figure: (.*)$/gm)].map((match) => match[1] ?? "")
  return { ok: success && tests.length > 0, tests, figures }
}
