// @ts-check
// `npm run check`: every static gate, as many at a time as there are cores; each prints what it found when it has ended.
import { spawn } from "node:child_process"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { root } from "../lib/root.mjs"

/** The diagnostics of Effect take a multiple of all other gates: they run in parts. */
const parts = 3

/** Configurations of the compiler for so many parts of the sources, each with folders of about the same number of files. */
const diagnosticParts = () => {
  const folder = join(root, "node_modules/.cache/diagnostics")
  mkdirSync(folder, { recursive: true })
  const entries = readdirSync(join(root, "src"), { withFileTypes: true })
    .filter((entry) => entry.name !== "dashboard" && (entry.isDirectory() || entry.name.endsWith(".ts")))
    .map((entry) => {
      const path = join(root, "src", entry.name)
      const files = entry.isDirectory() ? readdirSync(path, { recursive: true }).length : 1
      return { path, files }
    })
    .sort((one, other) => other.files - one.files)
  const groups = Array.from({ length: parts }, () => ({ files: 0, include: /** @type {Array<string>} */ ([]) }))
  for (const { files, path } of entries) {
    const [smallest] = groups.sort((one, other) => one.files - other.files)
    if (smallest === undefined) throw new Error("there are parts")
    smallest.files += files
    smallest.include.push(path)
  }
  return groups.map(({ include }, at) => {
    const file = join(folder, `part${at + 1}.json`)
    writeFileSync(file, JSON.stringify({ extends: join(root, "tsconfig.json"), include }))
    return file
  })
}

/** The slowest first. @type {ReadonlyArray<readonly [name: string, command: string, args: ReadonlyArray<string>]>} */
const gates = [
  ...diagnosticParts().map(
    (project, at) =>
      /** @type {const} */ ([
        `effect diagnostics, part ${at + 1}`,
        "effect-language-service",
        ["diagnostics", "--project", project, "--format", "text", "--strict"]
      ])
  ),
  ["types of sources and tests", "tsc", ["--noEmit", "-p", "tsconfig.test.json"]],
  ["regular expressions", process.execPath, ["scripts/check/expressions.mjs"]],
  ["types of scripts", "tsc", ["--noEmit", "-p", "tsconfig.scripts.json"]],
  ["public API", process.execPath, ["scripts/check/publicApi.mjs"]],
  ["types of the web app", "tsc", ["--noEmit", "-p", "src/dashboard/tsconfig.json"]],
  ["types of its client", process.execPath, ["scripts/docs/clientTypes.mjs", "--check"]],
  ["dead code", "knip", []],
  ["folder imports", "depcruise", ["--config", ".dependency-cruiser.cjs", "src"]],
  ["format and lint", "biome", ["check", "--error-on-warnings"]],
  ["words", process.execPath, ["scripts/check/words.mjs"]],
  ["mutants fit their sources", process.execPath, ["scripts/mutation/run.mjs", "--fit"]]
]

/** @param {typeof gates[number]} gate @returns {Promise<boolean>} whether it has passed */
const pass = async ([name, command, args]) => {
  const started = performance.now()
  const child = spawn(command === process.execPath ? command : `node_modules/.bin/${command}`, args)
  /** @type {Array<Buffer>} */
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(chunk))
  const status = await new Promise((resolve) => child.once("close", resolve))
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(Buffer.concat(output))
  console.log(`${status === 0 ? "ok " : "FAILED"} ${name} (${seconds} s)`)
  return status === 0
}

const waiting = [...gates]
/** @type {Array<string>} */
const failed = []
const work = async () => {
  for (let gate = waiting.shift(); gate !== undefined; gate = waiting.shift()) {
    if (!(await pass(gate))) failed.push(gate[0])
  }
}
await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work))
if (failed.length > 0) {
  console.error(`check failed: ${failed.join(", ")}`)
  process.exit(1)
}
