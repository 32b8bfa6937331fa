// Promise: Without its database, nothing unpaid.
import { randomBytes } from "node:crypto"
import Pg from "pg"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { readStream } from "../support/EventStream.ts"
import { figure, inLong } from "../support/Figures.ts"
import { type Service, startService } from "../support/Service.ts"
import { startProxy, type TcpProxy } from "../support/TcpProxy.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

const server = process.env["TEST_DATABASE_URL"]

let upstream: Upstream
let proxy: TcpProxy
let service: Service
let direct: Pg.Client
let dropDatabase: () => Promise<void>

const names = ["ok", "held", "held-mid"]
const messages = [{ role: "user", content: "hi" }]
const call = (name: string, stream = false, headers = {}) =>
  service.post("/v1/chat/completions", { model: `one/${name}`, stream, messages }, headers)

const codeOf = async (response: Response): Promise<string> => {
  const { error } = (await response.json()) as { readonly error?: { readonly code: string } }
  return `${response.status} ${error?.code ?? "answered"}`
}

/** Asks until it is true, with a moment between two questions. */
const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50))
}

describe.skipIf(server === undefined)("when the database is cut off from the gateway", () => {
  beforeEach(async () => {
    const url = new URL(server ?? "")
    const name = `cut_${randomBytes(6).toString("hex")}`
    const admin = new Pg.Client({ connectionString: url.href })
    await admin.connect()
    await admin.query(`create database ${name}`)
    dropDatabase = async () => {
      await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    }
    direct = new Pg.Client({ connectionString: Object.assign(new URL(url), { pathname: name }).href })
    await direct.connect()
    proxy = await startProxy({ host: url.hostname, port: Number(url.port || 5432) })
    upstream = await startUpstream()
    service = await startService({
      env: { DATABASE_URL: Object.assign(new URL(url), { host: `127.0.0.1:${proxy.port}`, pathname: name }).href },
      config: {
        timeouts: { idleMillis: 120_000 },
        providers: [
          {
            id: "one",
            protocol: "openai-chat",
            baseUrl: upstream.baseUrl,
            models: names.map((each) => ({
              id: `one/${each}`,
              inputPriceMicroUsdPerMillion: 1_000_000,
              outputPriceMicroUsdPerMillion: 2_000_000,
              contextTokens: 100_000,
              outputTokens: 4_000
            }))
          }
        ]
      }
    })
  }, 90_000)
  afterEach(async () => {
    await service.stop()
    await direct.end()
    await proxy.stop()
    await upstream.stop()
    await dropDatabase()
  })

  it.each(["cut", "stall"] as const)(
    "(%s) nothing is dispatched unpaid, running calls finish and are settled, and it recovers",
    async (mode) => {
      expect(await codeOf(await call("ok"))).toBe("200 answered")
      const streaming = await call("held-mid", true)
      const plain = call("held")
      await upstream.received(3)

      proxy.set(mode)
      const startedAt = performance.now()
      const refused = await Promise.all(Array.from({ length: 20 }, () => call("ok")))
      const refusedMillis = performance.now() - startedAt
      for (const response of refused) {
        expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0)
        expect(await codeOf(response)).toBe("503 store_unavailable")
      }
      expect(upstream.requests.length).toBe(3)
      expect((await service.fetch("/readyz")).status).toBe(503)
      expect((await service.fetch("/livez")).status).toBe(200)

      upstream.release()
      const { content, isDone } = await readStream(streaming)
      expect([content, isDone]).toEqual(["first second", true])
      expect(await codeOf(await plain)).toBe("200 answered")

      proxy.set("pass")
      const restoredAt = performance.now()
      await until(async () => (await codeOf(await call("ok"))) === "200 answered")
      const recoveryMillis = performance.now() - restoredAt
      figure(
        `database ${mode}: refused after ms, recovered after ms`,
        `${refusedMillis.toFixed(0)} ${recoveryMillis.toFixed(0)}`
      )
      expect(recoveryMillis).toBeLessThan(inLong(5_000, 30_000))

      await until(async () => (await direct.query("select from hold where state = 'held'")).rowCount === 0)
      const { rows } = await direct.query("select status, count(*)::int as count from call group by status")
      expect(rows).toEqual([{ status: "success", count: upstream.requests.length }])
      const scopes = await direct.query("select sum(held_micro_usd)::int as held from scope")
      expect(scopes.rows).toEqual([{ held: 0 }])
    },
    120_000
  )

  it("a call with an Idempotency-Key that ends meanwhile is answered, and its repetition is neither run nor charged", async () => {
    const send = () => call("held", false, { "idempotency-key": "cut off" })
    const first = send()
    await upstream.received(1)
    proxy.set("cut")
    upstream.release()
    const text = await (await first).text()
    expect(text).toContain("released")
    expect((await send()).status).toBe(503)

    proxy.set("pass")
    let again = await send()
    await until(async () => {
      again = await send()
      return again.status !== 503 && again.status !== 429
    })
    expect(again.headers.get("idempotent-replayed")).toBe("true")
    expect(await again.text()).toBe(text)
    expect(upstream.requests.length).toBe(1)
    const { rows } = await direct.query("select count(*)::int as count from journal where kind = 'usage'")
    expect(rows).toEqual([{ count: 1 }])
  }, 120_000)
})
