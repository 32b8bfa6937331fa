// @ts-check
// Types of sources, tests and scripts, and the diagnostics of Effect, in one pass: TypeScript's own compiler, built with the rules of
// Effect in it. Which rules hold where is in tsconfig.json.
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"
import { nativeCompiler } from "../lib/compiler.mjs"
import { root } from "../lib/root.mjs"

const modules = join(root, "node_modules")

/** As the names of packages with programs end. */
const platform = `${process.platform}-${process.arch}`

/** @param {string} name @returns {string} */
const versionOf = (name) => JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")).version

/** The compiler with the rules of Effect; undefined where there is none for this platform. */
const builtWithEffect = () => {
  const command = join(modules, ".bin/effect-tsgo")
  const { status, stdout } = spawnSync(command, ["get-exe-path"], { cwd: root, encoding: "utf8" })
  return status === 0 ? stdout.trim() : undefined
}

/**
 * A compiler reads the types of the language beside itself, which come with TypeScript. Made once for these versions of the two.
 *
 * @param {string} executable
 */
const withLibraries = (executable) => {
  const cache = join(modules, ".cache")
  const folder = join(cache, `typescript-${versionOf("@typescript/native")}-effect-${versionOf("@effect/tsgo")}`)
  const compiler = join(folder, basename(executable))
  if (existsSync(compiler)) return compiler
  mkdirSync(cache, { recursive: true })
  // another check may make it at the same time
  const made = mkdtempSync(join(cache, "typescript-"))
  const native = createRequire(join(modules, "@typescript/native/package.json"))
  const libraries = join(dirname(native.resolve(`@typescript/typescript-${platform}/package.json`)), "lib")
  for (const name of readdirSync(libraries).filter((file) => /^lib\..*\.d\.ts$/.test(file)))
    cpSync(join(libraries, name), join(made, name))
  cpSync(executable, join(made, basename(executable)))
  if (!existsSync(folder)) renameSync(made, folder)
  rmSync(made, { recursive: true, force: true })
  return compiler
}

const executable = builtWithEffect()
if (executable === undefined)
  console.log(`skipped: the diagnostics of Effect, because @effect/tsgo has no build for ${platform}`)
const [command, args] =
  executable === undefined ? [process.execPath, [nativeCompiler]] : [withLibraries(executable), []]
const { status } = spawnSync(command, [...args, "--noEmit", "-p", "tsconfig.test.json"], {
  cwd: root,
  stdio: "inherit"
})
process.exitCode = status ?? 1
