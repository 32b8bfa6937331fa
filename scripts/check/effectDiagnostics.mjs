// @ts-check
// Types and the diagnostics of Effect over the sources, in one pass: a copy of the compiler that the language service is patched
// into. Its own command takes four times as long. Other tools use the compiler as it is.
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { root } from "../lib/root.mjs"

const modules = join(root, "node_modules")

/** @param {string} name @returns {string} */
const versionOf = (name) => JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")).version

/** Made once for these versions of the two. */
const patchedCompiler = () => {
  const cache = join(modules, ".cache")
  const folder = join(cache, `typescript-${versionOf("typescript")}-effect-${versionOf("@effect/language-service")}`)
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
  if (!existsSync(folder)) renameSync(compiler, folder)
  rmSync(made, { recursive: true, force: true })
  return folder
}

const compiler = join(patchedCompiler(), "bin/tsc")
const { status } = spawnSync(process.execPath, [compiler, "--noEmit", "-p", "tsconfig.json"], {
  cwd: root,
  stdio: "inherit"
})
process.exitCode = status ?? 1
