// @ts-check
// `npm run build`: dist/main.js (the service, one bundle with its worker, its assets and the embedded database's template
// beside it) and dist/library (what `exports` of package.json names). With --watch the web app alone, from its sources.
import { rmSync } from "node:fs"
import { allParts, build, dist } from "../lib/built.mjs"

if (process.argv.includes("--watch")) await import("./watch.mjs")
else {
  rmSync(dist, { recursive: true, force: true })
  await build(allParts)
}
