// @ts-check
// The peer as a process of its own on a free loopback port, installed from its lock file when it is not there.
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { listen } from "../../../lib/listen.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const startMillis = 30_000
const askAgainMillis = 50

export const name = "Portkey"
export const version = JSON.parse(readFileSync(join(here, "package.json"), "utf8")).dependencies["@portkey-ai/gateway"]

export const install = () => {
  if (existsSync(join(here, "node_modules/.package-lock.json"))) return
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    stdio: "inherit",
    cwd: here
  })
  if (status !== 0) throw new Error("the peer could not be installed")
}

/** `hosts`: where its targets may be; without being named they are refused as private. @param {ReadonlyArray<string>} hosts */
export const start = async (hosts) => {
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [
      `--import=${join(here, "loopback.mjs")}`,
      join(here, "node_modules/@portkey-ai/gateway/build/start-server.js"),
      `--port=${port}`,
      "--headless"
    ],
    {
      cwd: here,
      stdio: "ignore",
      env: { PATH: process.env["PATH"], NODE_ENV: "production", TRUSTED_CUSTOM_HOSTS: hosts.join(",") }
    }
  )
  const kill = () => child.kill("SIGKILL")
  process.once("exit", kill)
  const endsAt = performance.now() + startMillis
  const origin = `http://127.0.0.1:${port}`
  while (!(await answers(origin))) {
    if (child.exitCode !== null || performance.now() > endsAt) throw new Error("the peer did not start")
    await delay(askAgainMillis)
  }
  return {
    pid: child.pid,
    origin,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      process.removeListener("exit", kill)
      if (child.exitCode !== null || child.signalCode !== null) return
      kill()
      await once(child, "exit")
    }
  }
}

/**
 * One target after the other, until one answers with a 2xx; each has as long for its head.
 *
 * @param {ReadonlyArray<{ baseUrl: string, model: string }>} targets
 * @param {number} timeoutMillis
 */
export const fallback = (targets, timeoutMillis) =>
  JSON.stringify({
    strategy: { mode: "fallback" },
    targets: targets.map(({ baseUrl, model }) => ({
      provider: "openai",
      api_key: "upstream",
      custom_host: baseUrl,
      override_params: { model },
      request_timeout: timeoutMillis
    }))
  })

/** @param {string} origin */
const answers = async (origin) => {
  try {
    const response = await fetch(origin)
    await response.text()
    return response.ok
  } catch {
    return false
  }
}

const freePort = async () => {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, "close")
  return port
}
