// @ts-check
// Builds dist/dashboard: the web app with hashed assets, each beside its compressed forms. Fails when a budget is exceeded.
// `--quick` leaves out what takes most of the time: brotli, and the budgets, which need it. `--sizes` prints all sizes.
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { build } from "vite"
import { dist } from "../lib/built.mjs"
import { viteConfig } from "./vite.mjs"

const finished = join(dist, "dashboard")
const folder = join(dist, ".dashboard")
const isQuick = process.argv.includes("--quick")

/** Kilobytes, with gzip at its best unless said. */
const budgets = {
  shellScript: 175,
  shellStyle: 37,
  page: 40,
  shared: 50,
  wireBrotli: 240,
  requests: 9,
  wholeFolder: 1_600
}

rmSync(folder, { recursive: true, force: true })
const manifestFile = join(folder, ".vite/manifest.json")
await build({ ...viteConfig, build: { ...viteConfig.build, outDir: folder }, logLevel: "warn" })
/** @type {Record<string, { file: string, isEntry?: boolean, imports?: Array<string>, dynamicImports?: Array<string>, css?: Array<string> }>} */
const manifest = JSON.parse(readFileSync(manifestFile, "utf8"))
rmSync(join(folder, ".vite"), { recursive: true })

/** @type {Map<string, { gzip: number, brotli: number }>} */
const sizes = new Map()
const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
// at the same time: the threads of zlib share the cores
await Promise.all(
  files.map(async ({ name, parentPath }) => {
    const path = join(parentPath, name)
    const bytes = readFileSync(path)
    const [gzipped, brotli] = await Promise.all([
      promisify(gzip)(bytes, { level: isQuick ? 6 : 9 }),
      isQuick ? undefined : promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })
    ])
    sizes.set(path.slice(folder.length + 1), { gzip: gzipped.length, brotli: brotli?.length ?? 0 })
    // each response of the page has a nonce of its own
    if (name === "index.html") return
    writeFileSync(`${path}.gz`, gzipped)
    if (brotli !== undefined) writeFileSync(`${path}.br`, brotli)
  })
)

/** The files that a browser loads with this one. @param {string} key @param {Set<string>} [seen] @returns {Set<string>} */
const filesOf = (key, seen = new Set()) => {
  const chunk = manifest[key]
  if (chunk === undefined || seen.has(chunk.file)) return seen
  seen.add(chunk.file)
  for (const style of chunk.css ?? []) seen.add(style)
  for (const imported of chunk.imports ?? []) filesOf(imported, seen)
  return seen
}
/** @param {Iterable<string>} names @param {"gzip" | "brotli"} form */
const kilobytes = (names, form) => [...names].reduce((sum, name) => sum + (sizes.get(name)?.[form] ?? 0), 0) / 1_000

/** @returns {boolean} whether each size is within its budget */
const isWithinBudgets = () => {
  const entry = Object.keys(manifest).find((key) => manifest[key]?.isEntry)
  if (entry === undefined) throw new Error("Vite's manifest has an entry")
  const shell = filesOf(entry)
  const scripts = [...shell].filter((name) => name.endsWith(".js"))
  const styles = [...shell].filter((name) => name.endsWith(".css"))
  // what package.json calls free of side effects is left out, without a word
  if (styles.length === 0) throw new Error("the shell has styles")
  // a route's component; dialogs are loaded when they are opened
  const pages = (manifest[entry]?.dynamicImports ?? [])
    .filter((key) => key.startsWith("pages/"))
    .map((key) => ({ key, files: [...filesOf(key)].filter((name) => !shell.has(name)) }))
  /** Chunks of components that several pages load, each once. */
  const shared = [...sizes.keys()].filter((name) => /^assets\/(?:common|table|chart|forms|dialogs)-.*\.js$/.test(name))
  const largest = Math.max(...pages.map((page) => kilobytes(page.files, "brotli")))
  const heaviest = Math.max(...pages.map((page) => page.files.length))
  const wholeFolder = files.reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0)

  /** @type {ReadonlyArray<readonly [what: string, value: number, budget: number]>} */
  const measured = [
    ["scripts of the shell, kB gzip", kilobytes(scripts, "gzip"), budgets.shellScript],
    ["styles of the shell, kB gzip", kilobytes(styles, "gzip"), budgets.shellStyle],
    ...pages.map(
      ({ files, key }) =>
        /** @type {const} */ ([
          `${key}, kB gzip`,
          kilobytes(
            files.filter((name) => !shared.includes(name)),
            "gzip"
          ),
          budgets.page
        ])
    ),
    ...shared.map((name) => /** @type {const} */ ([`${name}, kB gzip`, kilobytes([name], "gzip"), budgets.shared])),
    ["first load, kB brotli", kilobytes(shell, "brotli") + largest + 2, budgets.wireBrotli],
    // with index.html and scheme.js
    ["requests of the first load", shell.size + heaviest + 2, budgets.requests],
    ["dist/dashboard without the compressed forms, kB", wholeFolder / 1_000, budgets.wholeFolder]
  ]
  const broken = measured.filter(([, value, budget]) => value > budget)
  const shown = process.argv.includes("--sizes") ? measured : broken
  for (const [what, value, budget] of shown) console.log(`${what}: ${value.toFixed(1)} of ${budget}`)
  return broken.length === 0
}

const isWithin = isQuick || isWithinBudgets()
// whole or not at all: a service may be waiting for it
rmSync(finished, { recursive: true, force: true })
renameSync(folder, finished)
if (!isWithin) {
  console.error("the web app is larger than its budgets")
  process.exit(1)
}
