// @ts-check
// Runs an agent's program in a home and a working folder of its own, which go with it.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const packages = fileURLToPath(new URL("../node_modules/", import.meta.url))

/** An agent that is silent for so long after its task hangs. */
const maxTaskMillis = 150_000

/** Where a file of a package is, if it is installed; those for a platform are optional, and not in every registry. @param {string} path */
export const installed = (path) => (existsSync(join(packages, path)) ? join(packages, path) : undefined)

/**
 * `files` are written below its home first. `ended` has the exit code and what was printed; `read` gives a file that the
 * agent has made in its working folder.
 *
 * @typedef {{
 *   command: string
 *   args: ReadonlyArray<string>
 *   env: (home: string) => Readonly<Record<string, string>>
 *   files: Readonly<Record<string, string>>
 *   input?: string
 * }} How
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null, output: string }} Ended
 * @typedef {{ ended: Promise<Ended>, stop: () => void, read: (name: string) => Promise<string>, remove: () => Promise<void> }} Program
 *
 * @param {How} how
 * @returns {Promise<Program>}
 */
export const start = async ({ args, command, env, files, input = "" }) => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-acceptance-agent-"))
  const [home, work] = [join(folder, "home"), join(folder, "work")]
  await mkdir(work)
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), text)
  }
  const child = spawn(command, args, {
    cwd: work,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      XDG_CONFIG_HOME: join(home, ".config"),
      XDG_DATA_HOME: join(home, ".local/share"),
      XDG_STATE_HOME: join(home, ".local/state"),
      XDG_CACHE_HOME: join(home, ".cache"),
      ...env(home)
    },
    stdio: ["pipe", "pipe", "pipe"],
    // a group of its own: an agent starts processes that have to end with it
    detached: true
  })
  const stop = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    } catch {
      // all of them have ended
    }
  }
  let output = ""
  const read = (/** @type {Buffer} */ chunk) => {
    output += chunk.toString()
  }
  child.stdout.on("data", read)
  child.stderr.on("data", read)
  child.stdin.on("error", () => {})
  child.stdin.end(input)
  const timer = setTimeout(stop, maxTaskMillis)
  /** @type {Promise<Ended>} */
  const ended = new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => resolve({ code, signal, output }))
  }).finally(() => clearTimeout(timer))
  return {
    ended,
    stop,
    read: (name) => readFile(join(work, name), "utf8"),
    remove: () => rm(folder, { recursive: true, force: true })
  }
}
