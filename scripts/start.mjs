// `npm start`: builds when the sources have changed since the last build, then becomes the service.
import { spawnSync } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { isStale } from "./stale.mjs"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
if (isStale(root)) {
  const { status } = spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

// npm does not pass a SIGTERM on; without it the service would go on, and keep its port, after `npm start` was stopped
const parent = process.ppid
const watch = setInterval(() => {
  if (process.ppid === parent) return
  clearInterval(watch)
  process.kill(process.pid, "SIGTERM")
}, 500).unref()

await import(join(root, "dist/main.js"))
