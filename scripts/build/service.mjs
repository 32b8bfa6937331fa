// @ts-check
// Builds dist/main.js, its chunks, its workers, the OpenAPI document with its page, and the files that PGlite reads.
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { build } from "esbuild"
import { dist } from "../lib/built.mjs"
import { root } from "../lib/root.mjs"
import { importSources } from "../lib/sources.mjs"

/** Bundled CommonJS packages still call `require` for node's own modules. */
const banner = {
  js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
}
/** @satisfies {import("esbuild").BuildOptions} */
const shared = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  outdir: dist,
  banner,
  legalComments: "none",
  logLevel: "warning",
  external: ["pg-native"],
  metafile: true
}

/**
 * V8 keeps a text with one character beyond Latin-1, such as a quotation mark in a regular expression or a comment, in two bytes
 * for each of its characters: 3.6 MB more for `main.js`. esbuild escapes those in strings alone.
 *
 * @param {import("esbuild").BuildResult<{ metafile: true }>} result
 */
const escapeBeyondAscii = ({ metafile }) =>
  Promise.all(
    Object.keys(metafile.outputs).map(async (file) => {
      const text = await readFile(file, "utf8")
      const escaped = text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      if (escaped !== text) await writeFile(file, escaped)
    })
  )

await mkdir(dist, { recursive: true })
// their names have hashes: those of the last build would stay
for (const file of await readdir(dist)) if (file.startsWith("chunk-")) await rm(join(dist, file))
/** @type {Promise<typeof import("../../src/http/operations/MakeDocuments.ts")>} */
const documents = importSources(new URL("../../src/http/operations/MakeDocuments.ts", import.meta.url))
const pglite = dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite"))
await Promise.all([
  build({
    ...shared,
    entryPoints: { main: join(root, "src/main.ts") },
    splitting: true,
    alias: { undici: join(root, "scripts/build/undici.js") },
    // beside the workers, which each module finds beside itself
    chunkNames: "chunk-[name]-[hash]"
  }).then(escapeBeyondAscii),
  build({
    ...shared,
    entryPoints: {
      worker: join(root, "src/sql/embedded/worker.js"),
      captureWorker: join(root, "src/capture/worker/captureWorker.js"),
      analysisWorker: join(root, "src/analysis/job/analysisWorker.ts")
    }
  }).then(escapeBeyondAscii),
  documents.then(({ writeDocuments }) => writeDocuments(join(dist, "documents"))),
  ...["pglite.wasm", "pglite.data", "initdb.wasm"].map((asset) => cp(join(pglite, asset), join(dist, asset)))
])
