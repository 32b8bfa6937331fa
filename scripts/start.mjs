// @ts-check
// `npm start`: builds what the service needs when its sources have changed, then becomes the service; the web app is built
// meanwhile. A command of the service (`npm run sign-in`) needs no web app.
import { builtBundle, ensureBuilt, ensureDashboardLater, startParts } from "./lib/built.mjs"

const built = ensureBuilt(process.env["DATABASE_URL"] ? startParts.filter((name) => name !== "template") : startParts)
if (process.argv.length === 2) ensureDashboardLater()
await built

// npm does not pass a SIGTERM on; without it the service would go on, and keep its port, after `npm start` was stopped
const parent = process.ppid
const watch = setInterval(() => {
  if (process.ppid === parent) return
  clearInterval(watch)
  process.kill(process.pid, "SIGTERM")
}, 500).unref()

await import(builtBundle)
