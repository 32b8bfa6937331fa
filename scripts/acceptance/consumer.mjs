// @ts-check
// `npm run consumer`: the packed library in a project of its own, as a user has it. The programs of the READMEs as they are, and an
// application with its own HttpApi, providers and OpenTelemetry (scripts/acceptance/consumer), are compiled with the strictest settings
// of a consumer, with declarations, by an old and a new compiler, and run: a program prints an answer, the tests pass. Packages come
// from npm's cache, or from the registry when the cache lacks one. Nothing is written into this repository but dist/.
import { spawnSync } from "node:child_process"
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ensureBuilt } from "../lib/built.mjs"
import { root } from "../lib/root.mjs"

const maxMillis = 600_000
/** What only the consumer has. */
const telemetry = { "@effect/opentelemetry": "0.64.1", "@opentelemetry/sdk-trace-base": "2.12.1" }
const oldCompiler = "5.4.5"

/** The READMEs' blocks of code that use the library, by the names that they import each other with. */
const readExamples = () => {
  const blocksOf = (/** @type {string} */ path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(/```ts\n([\s\S]*?)```/g)]
      .map(([, code = ""]) => code)
      .filter((code) => code.includes('from "model-routing-gateway"'))
  const [program, ...others] = blocksOf("README.md")
  const [test, ...moreTests] = blocksOf("src/testing/README.md")
  const [composed, production, languageModel, routes, ...more] = blocksOf("src/library/README.md")
  if (
    !program ||
    !test ||
    !composed ||
    !production ||
    !languageModel ||
    !routes ||
    others.length + moreTests.length + more.length > 0
  ) {
    throw new Error(
      "the READMEs have not one program and one test, composed parts, a production stack, a language model and routes"
    )
  }
  return {
    "embedding.ts": program,
    "testClock.test.ts": test,
    "composed.ts": composed,
    "production.ts": production,
    "languageModel.ts": languageModel,
    "routes.ts": routes
  }
}

/** @param {string} command @param {ReadonlyArray<string>} args @param {string} cwd */
const run = (command, args, cwd) =>
  spawnSync(command, args, { cwd, encoding: "utf8", timeout: maxMillis, env: { ...process.env, NO_COLOR: "1" } })

/** Like `run`, for what has to succeed; returns what was printed. @param {string} command @param {ReadonlyArray<string>} args @param {string} cwd */
const must = (command, args, cwd) => {
  const { status, stderr, stdout } = run(command, args, cwd)
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}\n${stdout}${stderr}`)
  return stdout
}

/** @param {string} folder */
const install = (folder) => {
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error"]
  if (run("npm", [...args, "--offline"], folder).status !== 0) must("npm", [...args, "--prefer-offline"], folder)
}

await ensureBuilt(["service", "template", "library"])
const examples = readExamples()
const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const folder = mkdtempSync(join(tmpdir(), "gateway-consumer-"))
try {
  // what `prepack` builds is up to date
  must("npm", ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", folder], root)
  const [archive] = readdirSync(folder).filter((name) => name.endsWith(".tgz"))
  if (archive === undefined) throw new Error("npm pack has written no archive")

  const tools = ["@effect/vitest", "@types/node", "typescript", "vitest"]
  const versions = (/** @type {ReadonlyArray<string>} */ names) =>
    Object.fromEntries(names.map((name) => [name, own.devDependencies[name]]))
  const manifest = {
    name: "consumer",
    private: true,
    type: "module",
    dependencies: {
      "model-routing-gateway": `file:${archive}`,
      ...versions(Object.keys(own.peerDependencies)),
      ...telemetry
    },
    devDependencies: { ...versions(tools), "typescript-old": `npm:typescript@${oldCompiler}` },
    overrides: { rollup: own.overrides.rollup, "msgpackr-extract": own.overrides["msgpackr-extract"] }
  }
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: "NodeNext",
    target: "ES2022",
    types: ["node"],
    skipLibCheck: false,
    rootDir: "src",
    outDir: "out"
  }
  const emitted = { ...compilerOptions, declaration: true, rewriteRelativeImportExtensions: true }
  const checked = { ...compilerOptions, allowImportingTsExtensions: true, noEmit: true }
  mkdirSync(join(folder, "src"))
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest))
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: emitted, include: ["src"] }))
  writeFileSync(join(folder, "tsconfig.old.json"), JSON.stringify({ compilerOptions: checked, include: ["src"] }))
  for (const [name, code] of Object.entries(examples)) writeFileSync(join(folder, "src", name), code)
  for (const name of ["app.ts", "app.test.ts", "declared.ts"]) {
    copyFileSync(join(root, "scripts/acceptance/consumer", name), join(folder, "src", name))
  }
  writeFileSync(
    join(folder, "src/main.ts"),
    `import * as Effect from "effect/Effect"\nimport { program } from "./embedding.ts"\nconsole.log(await Effect.runPromise(program))\n`
  )

  install(folder)
  console.log(`ok  ${archive} is installed (${(statSync(join(folder, archive)).size / 1e6).toFixed(1)} MB)`)
  must(join(folder, "node_modules/.bin/tsc"), [], folder)
  console.log(
    `ok  everything compiles with TypeScript ${own.devDependencies.typescript}, skipLibCheck false, and has declarations`
  )
  // the declarations of Effect 3.22 itself, and of others, are for newer compilers: here ours and the consumer's have to pass
  const { stdout: judged } = run(
    process.execPath,
    ["node_modules/typescript-old/bin/tsc", "-p", "tsconfig.old.json"],
    folder
  )
  const faults = judged.split("\n").filter((line) => line.includes(": error TS"))
  const others = faults.filter((line) => /^node_modules\/(?!model-routing-gateway\/)/.test(line))
  if (others.length < faults.length) throw new Error(`TypeScript ${oldCompiler} refuses\n${judged}`)
  const packages = [...new Set(others.map((line) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(line)?.[1]))]
  console.log(
    `ok  everything of ours compiles with TypeScript ${oldCompiler}, skipLibCheck false; ${packages.join(", ")} do not`
  )
  const answer = must(process.execPath, ["out/main.js"], folder).trim()
  if (answer === "") throw new Error("the program has printed no answer")
  console.log(`ok  the program prints: ${answer}`)
  const passed = must(join(folder, "node_modules/.bin/vitest"), ["run", "src"], folder)
  if (!/Tests\s+3 passed \(3\)/.test(passed)) throw new Error(`not all tests have run\n${passed}`)
  console.log("ok  the tests pass: TestClock on doubles and on the whole stack, routes with spans in OpenTelemetry")
} finally {
  if (process.argv.includes("--keep")) console.log(`kept in ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
}
