// @ts-check
// Restarts three nodes one after the other, behind HAProxy and nginx, while 20 clients call; counts what is lost. Needs
// PostgreSQL (TEST_DATABASE_URL) and the balancers: npm run bench:restart [-- haproxy|nginx]
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { parseArgs } from "node:util"
import { builtBundle, ensureBuilt, serviceParts } from "../../lib/built.mjs"
import { listen } from "../../lib/listen.mjs"
import { createDatabase } from "../lib/database.mjs"
import { balancers, startBalancer } from "./balancers.mjs"

const clients = 20
const minCalls = 2_000
const nodeCount = 3
/** Between two calls of one client. */
const pauseMillis = 150
/** A balancer that checks every 2 seconds has seen a node after that. */
const seenMillis = 6_000
const drainDelay = "10s"
const key = "mrg_sk_TESTKEYTESTKEYTESTKEYTESTKEYTEST36moGh"

/** @param {number} millis */
const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis))

const freePort = async () => {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, "close")
  return port
}

/** @param {number} port @param {string} databaseUrl */
const startNode = async (port, databaseUrl) => {
  const child = spawn(process.execPath, [builtBundle], {
    env: {
      PATH: process.env["PATH"] ?? "",
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      GATEWAY_BOOTSTRAP_KEY: key,
      SIMULATED_PROVIDERS: "on",
      DRAIN_DELAY: drainDelay,
      LOG_LEVEL: "warning"
    },
    stdio: ["ignore", "ignore", "inherit"]
  })
  const url = `http://127.0.0.1:${port}/readyz`
  for (;;) {
    if (child.exitCode !== null) throw new Error(`a node ended with ${child.exitCode}`)
    const ready = await fetch(url).then(
      async (response) => {
        await response.text()
        return response.status === 200
      },
      () => false
    )
    if (ready) return child
    await sleep(200)
  }
}

/** @param {import("node:child_process").ChildProcess} child */
const stopNode = async (child) => {
  if (child.exitCode !== null) return
  child.kill("SIGTERM")
  await once(child, "exit")
}

/** What went wrong with one call; `undefined` when nothing did. @param {number} port @param {boolean} stream @returns {Promise<string | undefined>} */
const call = async (port, stream) => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "sim/fast",
        stream,
        max_tokens: 50,
        messages: [{ role: "user", content: "Say hello." }]
      })
    })
    const text = await response.text()
    if (response.status !== 200) return `${response.status} ${text.slice(0, 100)}`
    return stream && !text.endsWith("data: [DONE]\n\n") ? "a stream without its end" : undefined
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    return cause instanceof Error ? cause.message : String(error)
  }
}

/** @param {string} name */
const measure = async (name) => {
  const database = await createDatabase()
  if (database === undefined) throw new Error("set TEST_DATABASE_URL to a PostgreSQL server")
  const ports = [await freePort(), await freePort(), await freePort()]
  const nodes = await Promise.all(ports.slice(0, nodeCount).map((port) => startNode(port, database.url)))
  const port = await freePort()
  const balancer = await startBalancer(name, port, ports)
  try {
    if (balancer === undefined) {
      console.log(`${name}: not installed`)
      return 0
    }
    await sleep(seenMillis)
    let isOver = false
    let calls = 0
    /** @type {Map<string, number>} */
    const lost = new Map()
    const load = Promise.all(
      Array.from({ length: clients }, async (_, index) => {
        while (!isOver || calls < minCalls) {
          calls += 1
          const fault = await call(port, (calls + index) % 2 === 0)
          if (fault !== undefined) lost.set(fault, (lost.get(fault) ?? 0) + 1)
          await sleep(pauseMillis)
        }
      })
    )
    for (const [index, node] of ports.entries()) {
      const child = nodes[index]
      if (child !== undefined) await stopNode(child)
      nodes[index] = await startNode(node, database.url)
      await sleep(seenMillis)
    }
    isOver = true
    await load
    const total = [...lost.values()].reduce((sum, count) => sum + count, 0)
    console.log(
      `${name}: ${total} of ${calls} calls lost while ${nodeCount} nodes were restarted under ${clients} clients`
    )
    for (const [fault, count] of lost) console.log(`  ${count} × ${fault}`)
    return total
  } finally {
    await balancer?.stop()
    await Promise.all(nodes.map(stopNode))
    await database.drop()
  }
}

const { positionals } = parseArgs({ allowPositionals: true })
await ensureBuilt(serviceParts)
let lost = 0
for (const name of positionals.length > 0 ? positionals : balancers) lost += await measure(name)
process.exitCode = lost === 0 ? 0 : 1
