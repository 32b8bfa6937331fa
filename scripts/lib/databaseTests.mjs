// @ts-check
// Which test files can use PostgreSQL: those that read a variable of the test database, and those that import one of them.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { root } from "./root.mjs"

const tests = join(root, "test")
const variable = /TEST_DATABASE(?:S|_URL)/
/** Of imports, and of the files of workers. */
const references = /(?:from |import\(|new URL\()"(\.{1,2}\/[^"]+)"/g

/** @param {string} file @returns {ReadonlyArray<string>} files of the tests that it names */
const referencesOf = (file) =>
  [...readFileSync(file, "utf8").matchAll(references)]
    .map(([, path = ""]) => join(dirname(file), path))
    .filter((path) => path.startsWith(tests) && existsSync(path))

/** Test files, relative to the root, for which it makes no difference which database there is. @returns {ReadonlyArray<string>} */
export const testsWithoutDatabase = () => {
  /** @type {Map<string, boolean>} */
  const known = new Map()
  /** @param {string} file @returns {boolean} */
  const usesDatabase = (file) => {
    const found = known.get(file)
    if (found !== undefined) return found
    // a circle decides nothing
    known.set(file, false)
    const uses = variable.test(readFileSync(file, "utf8")) || referencesOf(file).some(usesDatabase)
    known.set(file, uses)
    return uses
  }
  return readdirSync(tests, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(tests, name))
    .filter((file) => !usesDatabase(file))
    .map((file) => relative(root, file))
}
