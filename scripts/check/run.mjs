// @ts-check
// `npm run check`: every static gate, as many at a time as there are cores; each prints what it found when it has ended.
import { spawn } from "node:child_process"
import { availableParallelism } from "node:os"
import { nativeCompiler } from "../lib/compiler.mjs"

/** The slowest first. @type {ReadonlyArray<readonly [name: string, command: string, args: ReadonlyArray<string>]>} */
const gates = [
  ["types, and diagnostics of Effect", process.execPath, ["scripts/check/types.mjs"]],
  ["public API", process.execPath, ["scripts/check/publicApi.mjs"]],
  ["types of the web app", process.execPath, [nativeCompiler, "--noEmit", "-p", "src/dashboard/tsconfig.json"]],
  ["types of its client", process.execPath, ["scripts/docs/clientTypes.mjs", "--check"]],
  ["dead code", "knip", []],
  ["regular expressions", process.execPath, ["scripts/check/expressions.mjs"]],
  ["folder imports", "depcruise", ["--config", ".dependency-cruiser.cjs", "src"]],
  ["described folders", process.execPath, ["scripts/check/folders.mjs"]],
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
