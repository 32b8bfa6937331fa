// Builds dist/main.js (the service, one bundle with its worker and assets beside it) and dist/library (what `exports` names).
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { writeStamp } from "./stale.mjs"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const dist = join(root, "dist")
const started = performance.now()

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist, { recursive: true })

/** Bundled CommonJS packages still call `require` for node's own modules. */
const banner = {
  js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
}
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
await build({
  ...shared,
  entryPoints: { main: join(root, "src/main.ts") },
  splitting: true,
  alias: { undici: join(root, "scripts/undici.js") },
  chunkNames: "chunks/[name]-[hash]"
})
await build({ ...shared, entryPoints: { worker: join(root, "src/sql/embedded/worker.js") } })

const pglite = dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite"))
for (const asset of ["pglite.wasm", "pglite.data", "initdb.wasm"]) cpSync(join(pglite, asset), join(dist, asset))

run("node", [join(root, "scripts/template.mjs"), join(dist, "template.tar.gz")])
run(join(root, "node_modules/.bin/tsc"), ["-p", join(root, "tsconfig.library.json")])

writeStamp(root)
console.log(`built dist/ in ${((performance.now() - started) / 1000).toFixed(1)} s`)

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: "inherit", cwd: root })
  if (status !== 0) process.exit(status ?? 1)
}
