// @ts-check
// `npm start`: builds what the service needs when its sources have changed, then becomes the service. It waits itself for the
// template of the embedded database; its pages come last.
import { builtBundle, ensureBuilt, ensureBuiltLater } from "./lib/built.mjs"

const isCommand = process.argv.length > 2
const template = process.env["DATABASE_URL"] ? Promise.resolve() : ensureBuiltLater("template")
if (!isCommand) void template.then(() => ensureBuiltLater("dashboard"))
await ensureBuilt(["service"])

// npm does not pass a SIGTERM on; without it the service would go on, and keep its port, after `npm start` was stopped
const parent = process.ppid
const watch = setInterval(() => {
  if (process.ppid === parent) return
  clearInterval(watch)
  process.kill(process.pid, "SIGTERM")
}, 500).unref()

await import(builtBundle)
