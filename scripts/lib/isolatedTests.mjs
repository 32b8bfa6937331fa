// @ts-check
// Which test files need a process of their own. All others share one per core: to load the sources takes
// longer than most of them run.
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { root } from "./root.mjs"

/** They change or stop the process, count its work, or read its metrics. */
const folders = ["app", "browser", "hardening", "observe", "simulation"]

/** @returns {{ readonly isolated: ReadonlyArray<string>, readonly shared: ReadonlyArray<string> }} relative to the root */
export const testFiles = () => {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `test/${name}`)
    .sort()
  /** @param {string} file */
  const isIsolated = (file) => folders.some((folder) => file.startsWith(`test/${folder}/`))
  return { isolated: files.filter(isIsolated), shared: files.filter((file) => !isIsolated(file)) }
}
