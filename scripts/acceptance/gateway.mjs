// @ts-check
// The built service as a process of its own, on a free port and with a data directory that goes with it.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

/** A key that is valid everywhere and secret nowhere. */
export const apiKey = "mrg_sk_TESTKEYTESTKEYTESTKEYTESTKEYTEST36moGh"

const startMillis = 60_000

/** What a client needs to know. @typedef {{ origin: string, baseURL: string, apiKey: string }} Access */
/** @typedef {Awaited<ReturnType<typeof startGateway>>} Gateway */

/** @param {{ bundle: string, config?: object, env?: Readonly<Record<string, string>> }} options */
export const startGateway = async ({ bundle, config = {}, env = {} }) => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-acceptance-"))
  const configFile = join(folder, "gateway.json")
  await writeFile(configFile, JSON.stringify(config))
  const child = spawn(process.execPath, [bundle], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      PORT: "0",
      DATA_DIR: join(folder, "data"),
      GATEWAY_CONFIG: configFile,
      GATEWAY_BOOTSTRAP_KEY: apiKey,
      SIMULATED_PROVIDERS: "on",
      ...env
    }
  })
  // nothing of it stays behind, however this run ends
  process.once("exit", () => child.kill("SIGKILL"))
  let output = ""
  /** @type {string} */
  const origin = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the gateway did not start:\n${output}`)), startMillis)
    const read = (/** @type {Buffer} */ chunk) => {
      output += chunk.toString()
      const found = /Model routing gateway at (http:\/\/\S+)\/v1/.exec(output)?.[1]
      if (found === undefined) return
      clearTimeout(timer)
      resolve(found)
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
    child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}:\n${output}`)))
  })
  const counts = async () => {
    const text = await (await fetch(`${origin}/metrics`)).text()
    const count = (/** @type {string} */ name) =>
      [...text.matchAll(new RegExp(`^${name} (\\d+)$`, "gm"))].reduce((sum, m) => sum + Number(m[1]), 0)
    return {
      cancelled: count('gateway_calls_total\\{endpoint="\\w+",status="cancelled"\\}'),
      inFlight: count("gateway_calls_in_flight"),
      defects: count("gateway_defects_total")
    }
  }
  return {
    origin,
    pid: child.pid,
    /** @type {Access} */
    access: { origin, baseURL: `${origin}/v1`, apiKey },
    output: () => output,
    counts,
    /** What the key has spent, and what its running calls hold. @returns {Promise<{ spent: number, held: number }>} */
    money: async () => {
      const response = await fetch(`${origin}/v1/key`, { headers: { authorization: `Bearer ${apiKey}` } })
      const { held_microusd: held, spent_microusd: spent } = /** @type {any} */ (await response.json())
      return { spent, held }
    },
    stop: async () => {
      if (child.exitCode === null) {
        child.kill("SIGTERM")
        await once(child, "exit")
      }
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** Asks again until the answer is true, for at most `millis`. @param {number} millis @param {() => Promise<boolean>} ask */
export const until = async (millis, ask) => {
  const endsAt = performance.now() + millis
  for (;;) {
    const answer = await ask()
    if (answer || performance.now() > endsAt) return answer
    await delay(25)
  }
}
