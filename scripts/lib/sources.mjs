// @ts-check
// TypeScript sources as a script needs them: bundled as they are now, without a build in dist/.
import { rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "esbuild"
import { root } from "./root.mjs"

/**
 * Imports a TypeScript module with everything that it imports.
 *
 * @param {URL} module
 */
export const importSources = async (module) => {
  // inside the project, so that the packages it imports are found
  const outfile = join(root, "node_modules", `.sources-${process.pid}.mjs`)
  try {
    await build({
      entryPoints: [fileURLToPath(module)],
      outfile,
      bundle: true,
      platform: "node",
      target: "node20",
      format: "esm",
      packages: "external",
      logLevel: "warning"
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(outfile, { force: true })
  }
}
