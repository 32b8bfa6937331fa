// @ts-check
// The parts of dist/: what each is built from, whether it is up to date, and how it is built.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { constants, setPriority } from "node:os"
import { join } from "node:path"
import { nativeCompiler } from "./compiler.mjs"
import { root } from "./root.mjs"

export const dist = join(root, "dist")

/** The service as `node` starts it. */
export const builtBundle = join(dist, "main.js")

/** @typedef {{ readonly title: string, readonly command: ReadonlyArray<string>, readonly sources: ReadonlyArray<string>, readonly except?: ReadonlyArray<string> }} Part */

const parts = {
  /** The service in one bundle, its worker and assets beside it. @type {Part} */
  service: {
    title: "the service",
    command: [process.execPath, "scripts/build/service.mjs"],
    sources: ["src", "scripts/build/service.mjs", "scripts/build/undici.js", "package-lock.json", "tsconfig.json"],
    except: ["src/dashboard"]
  },
  /** A migrated embedded database, which a first start unpacks; a service on PostgreSQL needs none. @type {Part} */
  template: {
    title: "the template of the embedded database",
    command: [process.execPath, "scripts/build/template.mjs"],
    sources: [
      "scripts/build/template.mjs",
      "src/sql/Migrations.ts",
      "src/sql/embedded",
      "src/sql/migrations",
      "node_modules/@electric-sql/pglite/package.json"
    ]
  },
  /** The web app, which the service serves. @type {Part} */
  dashboard: {
    title: "the web app",
    command: [process.execPath, "scripts/build/dashboard.mjs"],
    sources: ["src/dashboard", "scripts/build/dashboard.mjs", "scripts/build/vite.mjs", "package-lock.json"]
  },
  /** What `exports` of package.json names. @type {Part} */
  library: {
    title: "the library",
    command: [process.execPath, nativeCompiler, "-p", "tsconfig.library.json"],
    sources: ["src", "package-lock.json", "tsconfig.json", "tsconfig.library.json"],
    except: ["src/dashboard"]
  }
}

/** @typedef {keyof typeof parts} PartName */

/** @type {ReadonlyArray<PartName>} */
export const allParts = ["service", "template", "dashboard", "library"]

/** What a service on the embedded database needs. @type {ReadonlyArray<PartName>} */
export const serviceParts = ["service", "template", "dashboard"]

/** Builds those parts whose sources have changed since they were built; ends the process when one cannot be built. @param {ReadonlyArray<PartName>} names */
export const ensureBuilt = (names) => build(names.filter(isStale))

/** Builds the parts, at the same time; ends the process when one cannot be built. @param {ReadonlyArray<PartName>} names */
export const build = async (names) => {
  if (names.length === 0) return
  const started = performance.now()
  console.log(`building ${names.map((name) => parts[name].title).join(", ")} …`)
  mkdirSync(dist, { recursive: true })
  const statuses = await Promise.all(names.map((name) => buildOne(name)))
  const failed = statuses.find((status) => status !== 0)
  if (failed !== undefined) process.exit(failed)
  console.log(`built in ${secondsSince(started)} s`)
}

/**
 * Builds the part when its sources have changed. While the file `.<name>-building` is in `dist/`, a service that has
 * been started meanwhile waits for it. A process that ends stops its build.
 *
 * @param {PartName} name
 */
export const ensureBuiltLater = async (name) => {
  if (!isStale(name)) return
  mkdirSync(dist, { recursive: true })
  writeFileSync(markerOf(name), "")
  const unmark = () => rmSync(markerOf(name), { force: true })
  process.once("exit", unmark)
  // the service can start without its pages
  await (name === "dashboard" ? buildOne(name, ["--quick"], constants.priority.PRIORITY_LOW) : buildOne(name))
  process.off("exit", unmark)
  unmark()
}

/** @param {PartName} name @param {ReadonlyArray<string>} [more] arguments @param {number} [priority] the own one when left out @returns {Promise<number>} the builder's exit code */
const buildOne = async (name, more = [], priority) => {
  const started = performance.now()
  // read first: what is changed during the build is then seen as changed after it
  const builtFrom = fingerprint(name)
  rmSync(stampOf(name), { force: true })
  const [command = "", ...args] = parts[name].command
  const child = spawn(command, [...args, ...more], { stdio: "inherit", cwd: root })
  if (child.pid !== undefined && priority !== undefined) setPriority(child.pid, priority)
  const stop = () => child.kill()
  process.once("exit", stop)
  const status = await new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)))
  process.off("exit", stop)
  if (status !== 0) console.error(`${parts[name].title} could not be built`)
  else {
    // one that was left by a process that was killed would be waited for without an end
    rmSync(markerOf(name), { force: true })
    writeFileSync(stampOf(name), builtFrom)
    console.log(`  ${parts[name].title} (${secondsSince(started)} s)`)
  }
  return status
}

/** @param {number} started */
const secondsSince = (started) => ((performance.now() - started) / 1000).toFixed(1)

/** @param {PartName} name */
const isStale = (name) => !existsSync(stampOf(name)) || readFileSync(stampOf(name), "utf8") !== fingerprint(name)

/** @param {PartName} name */
const stampOf = (name) => join(dist, `.${name}-built-from`)

/** @param {PartName} name */
const markerOf = (name) => join(dist, `.${name}-building`)

/** @param {PartName} name */
const fingerprint = (name) => {
  const hash = createHash("sha256")
  const { except = [], sources } = parts[name]
  const left = except.map((folder) => join(root, folder, "/"))
  for (const source of sources) {
    for (const file of filesOf(join(root, source))) {
      if (left.some((folder) => file.startsWith(folder))) continue
      hash.update(file.slice(root.length)).update("\0")
      hash.update(existsSync(file) ? readFileSync(file) : "")
    }
  }
  return hash.digest("hex")
}

/** @param {string} path @returns {ReadonlyArray<string>} */
const filesOf = (path) => {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter(({ name }) => !name.endsWith(".md"))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => (entry.isDirectory() ? filesOf(join(path, entry.name)) : [join(path, entry.name)]))
  } catch {
    return [path]
  }
}
