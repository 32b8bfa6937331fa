// @ts-check
// `npm run check`: every static gate, in turn; the first that fails ends it.
import { spawnSync } from "node:child_process"

/** @type {ReadonlyArray<readonly [name: string, command: string, args: ReadonlyArray<string>]>} */
const gates = [
  ["types", "tsc", ["--noEmit", "-p", "tsconfig.json"]],
  ["types of tests", "tsc", ["--noEmit", "-p", "tsconfig.test.json"]],
  ["types of scripts", "tsc", ["--noEmit", "-p", "tsconfig.scripts.json"]],
  ["types of the web app", "tsc", ["--noEmit", "-p", "src/dashboard/tsconfig.json"]],
  ["types of its client", process.execPath, ["scripts/docs/clientTypes.mjs", "--check"]],
  [
    "effect diagnostics",
    "effect-language-service",
    ["diagnostics", "--project", "tsconfig.json", "--format", "text", "--strict"]
  ],
  ["regular expressions", process.execPath, ["scripts/check/expressions.mjs"]],
  ["public API", process.execPath, ["scripts/check/publicApi.mjs"]],
  ["words", process.execPath, ["scripts/check/words.mjs"]],
  ["format and lint", "biome", ["check", "--error-on-warnings"]],
  ["folder imports", "depcruise", ["--config", ".dependency-cruiser.cjs", "src"]],
  ["dead code", "knip", []]
]

for (const [name, command, args] of gates) {
  const started = performance.now()
  const { status } = spawnSync(command === process.execPath ? command : `node_modules/.bin/${command}`, args, {
    stdio: "inherit"
  })
  if (status !== 0) {
    console.error(`check failed: ${name}`)
    process.exit(status ?? 1)
  }
  console.log(`ok  ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
}
