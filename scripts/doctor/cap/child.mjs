// @ts-check
// One process of run.mjs: it replays until it is killed.
import { importSources } from "../../lib/sources.mjs"

/** @import { replay as Replay, setUp as SetUp } from "./support.ts" */

/** @type {{ replay: typeof Replay, setUp: typeof SetUp }} */
const { replay, setUp } = await importSources(new URL("./support.ts", import.meta.url), [])
const [task = "", argument = ""] = process.argv.slice(2)
const result = task === "setUp" ? await setUp(argument) : await replay(JSON.parse(argument))
process.stdout.write(`${JSON.stringify(result)}\n`)
process.exit(0)
