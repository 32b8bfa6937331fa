// @ts-check
// Writes dist/template.tar.gz, the archive that a first start of the embedded database unpacks.
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { dist } from "../lib/built.mjs"
import { importSources } from "../lib/sources.mjs"

// this process ends before optimised code would pay: 2.0 s of CPU in place of 4.1 s, and a core is left for the bundle
setFlagsFromString("--liftoff-only")
/** @type {typeof import("../../src/sql/embedded/Template.ts")} */
const { writeTemplate } = await importSources(new URL("../../src/sql/embedded/Template.ts", import.meta.url))
await writeTemplate(join(dist, "template.tar.gz"))
