// Tells whether dist/ was built from the sources as they are now.
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const sources = [
  "src",
  "scripts/build.mjs",
  "scripts/template.mjs",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.library.json"
]

const files = (path) => {
  try {
    return readdirSync(path, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => (entry.isDirectory() ? files(join(path, entry.name)) : [join(path, entry.name)]))
  } catch {
    return [path]
  }
}

const fingerprint = (root) => {
  const hash = createHash("sha256")
  for (const source of sources) {
    for (const file of files(join(root, source))) {
      hash.update(file.slice(root.length)).update("\0")
      hash.update(existsSync(file) ? readFileSync(file) : "")
    }
  }
  return hash.digest("hex")
}

const stampOf = (root) => join(root, "dist", ".built-from")

export const writeStamp = (root) => writeFileSync(stampOf(root), fingerprint(root))

export const isStale = (root) => !existsSync(stampOf(root)) || readFileSync(stampOf(root), "utf8") !== fingerprint(root)
