// @ts-check
// TypeScript sources as a script needs them: bundled as they are now, without a build in dist/.
import { readFileSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "esbuild"
import { root } from "./root.mjs"

/** @typedef {{ file: string, find: string, replace: string }} Edit */

let imported = 0

/**
 * Imports a TypeScript module with everything that it imports.
 *
 * @param {URL} module
 * @param {ReadonlyArray<Edit>} [edits] made to the sources on the way; each `find` occurs exactly once in its file
 */
export const importSources = async (module, edits = []) => {
  imported += 1
  // inside the project, so that the packages it imports are found
  const outfile = join(root, "node_modules", `.sources-${process.pid}-${imported}.mjs`)
  try {
    await build({
      entryPoints: [fileURLToPath(module)],
      outfile,
      bundle: true,
      platform: "node",
      target: "node20",
      format: "esm",
      packages: "external",
      logLevel: "warning",
      plugins: edits.length === 0 ? [] : [editing(edits)]
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(outfile, { force: true })
  }
}

/**
 * @param {ReadonlyArray<Edit>} edits
 * @returns {import("esbuild").Plugin}
 */
const editing = (edits) => ({
  name: "edits",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const own = edits.filter(({ file }) => file === relative(root, path))
      if (own.length === 0) return undefined
      let contents = readFileSync(path, "utf8")
      for (const { file, find, replace } of own) {
        const parts = contents.split(find)
        if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} of: ${find}`)
        contents = parts.join(replace)
      }
      return { contents, loader: "ts" }
    })
  }
})
