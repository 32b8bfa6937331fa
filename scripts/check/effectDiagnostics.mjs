// @ts-check
// Types of sources, tests and scripts, and the diagnostics of Effect over the sources, in one pass: a copy of the compiler that the
// language service is patched into. Its own command takes four times as long. Other tools use the compiler as it is.
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../lib/root.mjs"

const modules = join(root, "node_modules")

/** With which the patched compiler runs the language service over a file. */
const call = "effectLspPatchUtils().checkSourceFileWorker("

/** @param {string} name @returns {string} */
const versionOf = (name) => JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")).version

/**
 * Tests, scripts and the web app are no Effect programs throughout, and the diagnostics of Effect take as long as the types. The
 * language service has no setting for folders.
 *
 * @param {string} file
 */
const onlyOverSources = (file) => {
  const [before, after, ...more] = readFileSync(file, "utf8").split(call)
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${file}: not one call of ${call}`)
  // the compiler is run in the root
  const isSource = String.raw`/^src\/(?!dashboard\/)/.test(node.fileName.slice(process.cwd().length + 1))`
  writeFileSync(file, `${before}${isSource} && ${call}${after}`)
}

/** Made once for these versions of the two. */
const patchedCompiler = () => {
  const cache = join(modules, ".cache")
  const folder = join(
    cache,
    `typescript-${versionOf("typescript")}-effect-${versionOf("@effect/language-service")}-sources`
  )
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  // another check may make it at the same time
  const made = mkdtempSync(join(cache, "typescript-"))
  const compiler = join(made, "typescript")
  cpSync(join(modules, "typescript"), compiler, { recursive: true })
  const patch = ["patch", "--dir", compiler, "--module", "tsc"]
  const { status, stderr, stdout } = spawnSync(join(modules, ".bin/effect-language-service"), patch, {
    cwd: root,
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`the compiler could not be patched:\n${stdout}${stderr}`)
  onlyOverSources(join(compiler, "lib/_tsc.js"))
  if (!existsSync(folder)) renameSync(compiler, folder)
  rmSync(made, { recursive: true, force: true })
  return folder
}

const compiler = join(patchedCompiler(), "bin/tsc")
const { status } = spawnSync(process.execPath, [compiler, "--noEmit", "-p", "tsconfig.test.json"], {
  cwd: root,
  stdio: "inherit"
})
process.exitCode = status ?? 1
