// @ts-check
// Writes dist/template.tar.gz, the archive that a first start of the embedded database unpacks.
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { PGlite } from "@electric-sql/pglite"
import { dist } from "../lib/built.mjs"
import { importSources } from "../lib/sources.mjs"

// this process ends before optimised code would pay: 2.0 s of CPU in place of 4.1 s, and a core is left for the bundle
setFlagsFromString("--liftoff-only")
/**
 * With PostgreSQL's default of 128 MB, each of initdb's steps clears and copies that much memory. With its segments of 16 MB most of the
 * archive would be an empty write-ahead log, which each first start would write.
 */
const initDbStartParams = ["-c", "shared_buffers=16MB", "--wal-segsize=1"]
/** Segments that the migrations have filled are removed and not kept for later. */
const startParams = [...PGlite.defaultStartParams, "-c", "wal_recycle=off"]
// the sources are bundled by a process of their own, meanwhile
/** @type {Promise<typeof import("../../src/sql/embedded/Template.ts")>} */
const template = importSources(new URL("../../src/sql/embedded/Template.ts", import.meta.url))
const database = await PGlite.create({ initDbStartParams, startParams })
await (await template).writeTemplate(database, join(dist, "template.tar.gz"))
