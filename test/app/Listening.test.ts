import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Pg from "pg"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { startService, testKey } from "../support/Service.ts"

const server = process.env["TEST_DATABASE_URL"]
let dataDir: string
let env: Readonly<Record<string, string>>
let cleanUp: () => Promise<void>

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, "close")
  return port
}

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "gateway-listening-"))
  env = { PORT: String(await freePort()) }
  cleanUp = () => rm(dataDir, { recursive: true, force: true })
  if (server === undefined) return
  const name = `listening_${process.pid}_${env["PORT"]}`
  const admin = new Pg.Client({ connectionString: server })
  await admin.connect()
  await admin.query(`create database ${name}`)
  env = { ...env, DATABASE_URL: Object.assign(new URL(server), { pathname: `/${name}` }).href }
  cleanUp = async () => {
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
    await rm(dataDir, { recursive: true, force: true })
  }
})
afterEach(() => cleanUp())

/** Asks without a pause from before the port is open; the first answers. */
const firstAnswers = async (count: number, ask: () => Promise<Response>): Promise<ReadonlyArray<number>> => {
  const statuses: Array<number> = []
  while (statuses.length < count) {
    const response = await ask().catch(() => undefined)
    if (response === undefined) continue
    statuses.push(response.status)
    await response.text()
  }
  return statuses
}

const waiting = { timeout: 30_000, interval: 100 }

const routingConfigurations = Array.from({ length: 50 }, (_, index) => ({ slug: `c${index}`, models: ["sim/*"] }))

const startAndAsk = async (model: string, config: unknown) => {
  const at = `http://127.0.0.1:${env["PORT"]}`
  const started = startService({ env, dataDir, config })
  try {
    const [ready, calls] = await Promise.all([
      firstAnswers(5, () => fetch(`${at}/readyz`)),
      firstAnswers(5, () =>
        fetch(`${at}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${testKey}`, "content-type": "application/json" },
          body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] })
        })
      )
    ])
    // work in the background, which begins when the service listens
    await vi.waitFor(async () => {
      expect(await (await fetch(`${at}/metrics`)).text()).toContain("\ngateway_ledger_check_age_seconds ")
    }, waiting)
    return { ready, calls }
  } finally {
    await (await started).stop()
  }
}

describe("the port opens only when everything is applied, and then the work in the background begins", () => {
  it("so the first answers of a first start know the key and the configurations, and those of a restart its policy", {
    timeout: 120_000
  }, async () => {
    const first = await startAndAsk("auto:c49", { routingConfigurations })
    expect(first).toEqual({ ready: [200, 200, 200, 200, 200], calls: [200, 200, 200, 200, 200] })

    const restricted = await startAndAsk("sim/fast", {
      routingConfigurations,
      policy: { excluded_models: ["sim/fast"] }
    })
    expect(restricted).toEqual({ ready: [200, 200, 200, 200, 200], calls: [404, 404, 404, 404, 404] })
  })
})
