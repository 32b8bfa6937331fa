// @ts-check
// `npm start`: builds what the service needs when its sources have changed, then becomes the service.
import { builtBundle, ensureBuilt, serviceParts } from "./lib/built.mjs"

await ensureBuilt(process.env["DATABASE_URL"] ? serviceParts.filter((name) => name !== "template") : serviceParts)

// npm does not pass a SIGTERM on; without it the service would go on, and keep its port, after `npm start` was stopped
const parent = process.ppid
const watch = setInterval(() => {
  if (process.ppid === parent) return
  clearInterval(watch)
  process.kill(process.pid, "SIGTERM")
}, 500).unref()

await import(builtBundle)
