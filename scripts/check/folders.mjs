// @ts-check
// Refuses a folder of src/ that src/README.md describes with other imports than it may have, or not in its place.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import folders from "../lib/folders.cjs"
import { root } from "../lib/root.mjs"

const text = readFileSync(join(root, "src/README.md"), "utf8")
const described = Array.from(
  text.matchAll(/^\| `(\w+)\/` \| .* \| ([^|]+) \|$/gm),
  ([, name, imports]) => `${name}: ${imports}`
)
/** From the highest floor down; `domain` is not named, which all import. */
const expected = Object.entries(folders)
  .reverse()
  .map(([name, may]) => {
    const named = may.filter((other) => other !== "domain").reverse()
    return `${name}: ${named.length === 0 ? "–" : named.join(", ")}`
  })
// the web app is another program, which the folders know nothing of
const found = described.filter((row) => row !== "dashboard: –")
const wrong = expected.filter((row, at) => found[at] !== row)
for (const row of wrong) console.error(`src/README.md: expected the row "${row}" in its place`)
if (wrong.length > 0 || found.length !== expected.length) {
  console.error(`src/README.md describes ${found.length} of ${expected.length} folders; see scripts/lib/folders.cjs`)
  process.exit(1)
}
console.log(`${found.length} folders are described as they are`)
