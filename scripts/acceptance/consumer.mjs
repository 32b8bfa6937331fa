// @ts-check
// `npm run consumer`: the packed library in a project of its own, as a user has it. The two examples are taken out of the README as
// they are, compiled with the strictest settings of a consumer and run: the program prints an answer, the TestClock test passes.
// Packages come from npm's cache, or from the registry when the cache lacks one. Nothing is written into this repository but dist/.
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ensureBuilt } from "../lib/built.mjs"
import { root } from "../lib/root.mjs"

const example = "embedding.ts"
const test = "testClock.test.ts"
const maxMillis = 300_000

/** The README's blocks of code that use the library, by the names that they import each other with. */
const readExamples = () => {
  const readme = readFileSync(join(root, "README.md"), "utf8")
  const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)]
    .map(([, code = ""]) => code)
    .filter((code) => code.includes('from "model-routing-gateway"'))
  const tests = blocks.filter((code) => code.includes(`from "./${example}"`))
  const programs = blocks.filter((code) => !tests.includes(code))
  const [program, ...otherPrograms] = programs
  const [clockTest, ...otherTests] = tests
  if (program === undefined || clockTest === undefined || otherPrograms.length + otherTests.length > 0) {
    throw new Error(`the README has ${programs.length} programs and ${tests.length} tests, not one of each`)
  }
  return { program, clockTest }
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
const { program, clockTest } = readExamples()
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
    dependencies: { "model-routing-gateway": `file:${archive}`, ...versions(Object.keys(own.peerDependencies)) },
    devDependencies: versions(tools),
    overrides: { rollup: own.overrides.rollup, "msgpackr-extract": own.overrides["msgpackr-extract"] }
  }
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: "NodeNext",
    target: "ES2022",
    types: ["node"],
    rewriteRelativeImportExtensions: true,
    skipLibCheck: false,
    rootDir: "src",
    outDir: "out"
  }
  mkdirSync(join(folder, "src"))
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest))
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }))
  writeFileSync(join(folder, "src", example), program)
  writeFileSync(join(folder, "src", test), clockTest)
  writeFileSync(
    join(folder, "src/main.ts"),
    `import * as Effect from "effect/Effect"\nimport { program } from "./${example}"\nconsole.log(await Effect.runPromise(program))\n`
  )

  install(folder)
  console.log(`ok  ${archive} is installed`)
  must(join(folder, "node_modules/.bin/tsc"), [], folder)
  console.log("ok  the examples of the README compile")
  const answer = must(process.execPath, ["out/main.js"], folder).trim()
  if (answer === "") throw new Error("the program has printed no answer")
  console.log(`ok  the program prints: ${answer}`)
  const passed = must(join(folder, "node_modules/.bin/vitest"), ["run", `src/${test}`], folder)
  if (!/Tests\s+1 passed \(1\)/.test(passed)) throw new Error(`the TestClock example has not run\n${passed}`)
  console.log("ok  the TestClock test passes")
} finally {
  rmSync(folder, { recursive: true, force: true })
}
