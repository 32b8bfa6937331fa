// @ts-check
// `npm ci` and `npm install` of this repository run this: the first `npm start` then finds what it needs. What cannot be built does
// not fail an installation; `npm start` builds it again, and says why.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { ensureBuiltLater, serviceParts } from "../lib/built.mjs"
import { root } from "../lib/root.mjs"

// without development dependencies there is no builder
if (existsSync(join(root, "node_modules/esbuild")))
  await Promise.all(serviceParts.map((part) => ensureBuiltLater(part)))
