// @ts-check
// Builds dist/main.js, its chunks, its workers and the files that PGlite reads.
import { rmSync } from "node:fs"
import { cp, mkdir } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { build } from "esbuild"
import { dist } from "../lib/built.mjs"
import { root } from "../lib/root.mjs"

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
  external: ["pg-native"]
}

// their names have hashes: those of the last build would stay
rmSync(join(dist, "chunks"), { recursive: true, force: true })
await mkdir(dist, { recursive: true })
const pglite = dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite"))
await Promise.all([
  build({
    ...shared,
    entryPoints: { main: join(root, "src/main.ts") },
    splitting: true,
    alias: { undici: join(root, "scripts/build/undici.js") },
    chunkNames: "chunks/[name]-[hash]"
  }),
  build({
    ...shared,
    entryPoints: {
      worker: join(root, "src/sql/embedded/worker.js"),
      captureWorker: join(root, "src/capture/worker/captureWorker.js"),
      analysisWorker: join(root, "src/analysis/job/analysisWorker.ts")
    }
  }),
  ...["pglite.wasm", "pglite.data", "initdb.wasm"].map((asset) => cp(join(pglite, asset), join(dist, asset)))
])
