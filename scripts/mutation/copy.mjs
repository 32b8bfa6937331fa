// @ts-check
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"

const leftOut = new Set([".git", "node_modules", "dist", ".data"])

/**
 * A copy of the tree in which mutants are applied, so that the checkout stays as it is.
 * @param {string} root
 */
export const makeCopy = (root) => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-mutation-"))
  cpSync(root, folder, {
    recursive: true,
    filter: (source) => !leftOut.has(relative(root, source).split("/", 1)[0] ?? "")
  })
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  return {
    folder,
    /**
     * Changes the file, and answers how to undo it.
     * @param {import("./mutants.mjs").Mutant} mutant
     */
    apply: ({ file, find, replace }) => {
      const path = join(folder, file)
      const original = readFileSync(path, "utf8")
      writeFileSync(
        path,
        original.replace(find, () => replace)
      )
      return () => writeFileSync(path, original)
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Why the mutant cannot be tried on the tree, or `undefined`.
 * @param {string} root
 * @param {import("./mutants.mjs").PlacedMutant} mutant
 */
export const misfit = (root, { file, find, replace, tests }) => {
  const missing = tests.find((test) => !existsSync(join(root, test)))
  if (missing !== undefined) return `there is no ${missing}`
  let text
  try {
    text = readFileSync(join(root, file), "utf8")
  } catch {
    return "the file does not exist"
  }
  if (find === replace) return "the replacement changes nothing"
  const times = text.split(find).length - 1
  return times === 1 ? undefined : `its text occurs ${times} times`
}
