import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { withOpenTransaction } from "../support/OpenTransaction.ts"
import { type Service, startService } from "../support/Service.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

const databaseUrl = process.env["TEST_DATABASE_URL"]
const testMillis = 90_000

/** Two upstreams: the one before the reload holds its streams back until they are released. */
let before: Upstream
let after: Upstream
let folder: string
let file: string
let running: Service

const model = {
  upstreamModel: "held",
  inputPriceMicroUsdPerMillion: 1_000_000,
  outputPriceMicroUsdPerMillion: 1_000_000,
  contextTokens: 100_000,
  outputTokens: 1_000
}
const provider = (id: string, { baseUrl }: Upstream, upstreamModel = "held", more: object = {}) => ({
  id,
  protocol: "openai-chat",
  baseUrl,
  models: [{ ...model, id: `${id}/m`, upstreamModel }],
  ...more
})
const write = (config: unknown) => writeFile(file, typeof config === "string" ? config : JSON.stringify(config))

/** Resolves when this has been printed so many times. */
const printed = async (text: string, times = 1): Promise<void> => {
  while (running.output().split(text).length <= times) {
    await once(running.process.stderr ?? running.process, "data")
  }
}
const reload = async (outcome = "the configuration was reloaded", times = 1): Promise<void> => {
  running.process.kill("SIGHUP")
  await printed(outcome, times)
}
const start = async (config: unknown, env: Readonly<Record<string, string>> = {}): Promise<void> => {
  await write(config)
  running = await startService({ env: { GATEWAY_CONFIG: file, ...env } })
}
const ask = (name: string, more: object = {}) =>
  running.post("/v1/chat/completions", { model: name, messages: [{ role: "user", content: "hi" }], ...more })
const statusOf = async (name: string): Promise<number> => {
  const response = await ask(name)
  await response.text()
  return response.status
}

/** The process ids of the workers. */
const workersOf = async (): Promise<ReadonlyArray<number>> => {
  const { pid } = running.process
  return (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ").map(Number)
}
/** Kills both, one after the other; `started` is how many will have started when the first is replaced. */
const replaceWorkers = async (started: number): Promise<void> => {
  for (const [index, worker] of (await workersOf()).entries()) {
    process.kill(worker, "SIGKILL")
    await printed('"started"', started + index)
  }
}
/** The statuses of /metrics by token. */
const metricsStatuses = async () => {
  const statusWith = async (token: string) =>
    (await running.fetch("/metrics", { headers: { authorization: `Bearer ${token}`, connection: "close" } })).status
  return { one: await statusWith("one"), two: await statusWith("two") }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-reload-"))
  file = join(folder, "gateway.json")
})
beforeEach(async () => {
  before = await startUpstream()
  after = await startUpstream()
})
afterEach(async () => {
  await running.stop()
  await before.stop()
  await after.stop()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe("SIGHUP", { timeout: testMillis }, () => {
  it("applies other providers, models and policy, and streams that run keep what they began with", async () => {
    await start({ providers: [provider("one", before, "held-mid")] })
    const stream = await ask("one/m", { stream: true })
    const body = stream.text()
    await before.received(1)

    after.release()
    await write({
      providers: [provider("two", after)],
      policy: { default_alpha: 0.3 },
      routingConfigurations: [{ slug: "new", models: ["two/*"] }]
    })
    await reload()
    expect(await statusOf("one/m")).toBe(404)
    expect(await statusOf("two/m")).toBe(200)
    const routed = JSON.parse(await (await ask("auto:new")).text())
    expect(routed.router_metadata).toMatchObject({ model: "two/m", routing_config: "new", alpha: 0.3 })

    before.release()
    const text = await body
    expect(text).toContain("[DONE]")
    expect(text).toContain('"model":"one/m"')
    expect(before.requests).toHaveLength(1)
  })

  it("lets a call fall back as it was ranked, also to what the reload has removed", async () => {
    await start({
      providers: [
        provider("one", before, "held", { models: [{ ...model, id: "one/m", quality: 0.9 }] }),
        provider("two", after)
      ],
      timeouts: { firstContentMillis: 2_000 }
    })
    after.release()
    const falling = ask("auto", { stream: true })
    await before.received(1)
    await write({ providers: [provider("three", after)] })
    await reload()
    const text = await (await falling).text()
    expect(text).toContain('"model":"two/m"')
    expect(text).toContain("[DONE]")
  })

  it("leaves everything as it was when the file is wrong, and says why", async () => {
    await start({ providers: [provider("one", before)] })
    before.release()
    for (const [wrong, reason] of [
      ["{", "is not valid JSON"],
      [{ providers: [{ id: "one" }] }, "needs exactly one of protocol and vendor"],
      [{ providers: [provider("two", after, "held", { apiKeyEnv: "NOT_SET" })] }, "providers[0].apiKeyEnv"]
    ] as const) {
      await write(wrong)
      await reload("the configuration was not reloaded", running.output().split("was not reloaded").length)
      expect(running.output()).toContain(reason)
      expect(await statusOf("one/m")).toBe(200)
      expect(await statusOf("two/m")).toBe(404)
    }
    expect(running.output()).not.toContain("the configuration was reloaded")
  })

  it("reads .env anew: another credential is used, what needs a start is named, a wrong name is warned about", async () => {
    const env = (key: string, port: string) => `ACME_KEY=${key}\nMETRICS_TOKEN=${port}\n`
    const own = await mkdtemp(join(tmpdir(), "gateway-reload-env-"))
    const config = { providers: [provider("acme", before, "held", { apiKeyEnv: "ACME_KEY" })] }
    await writeFile(join(own, ".env"), env("first", "a"))
    await write(config)
    running = await startService({ env: { GATEWAY_CONFIG: file }, cwd: own })
    before.release()
    expect(await statusOf("acme/m")).toBe(200)

    await writeFile(join(own, ".env"), env("second", "b"))
    await write({ ...config, policy: { allowed_providers: ["acme", "acmee"] } })
    await reload()
    await printed("did you mean 'acme'?")
    expect(await statusOf("acme/m")).toBe(200)
    expect(before.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer first", "Bearer second"])
    expect(running.output()).toContain("a restart is needed for changes of METRICS_TOKEN")
    expect(running.output()).not.toContain("second")
    await rm(own, { recursive: true, force: true })
  })

  it("applies rate limits of the file from the next request on", async () => {
    await start({ providers: [provider("one", before)] })
    before.release()
    expect(await statusOf("one/m")).toBe(200)
    await write({ providers: [provider("one", before)], rateLimits: { key: { requestsPerMinute: 1 } } })
    await reload()
    expect([await statusOf("one/m"), await statusOf("one/m")]).toEqual([200, 429])
  })

  it.skipIf(databaseUrl === undefined || process.platform !== "linux")(
    "leaves a worker that replaces another what was valid last, while what is on the disk is wrong",
    async () => {
      await start({ providers: [provider("one", before)] }, { WORKERS: "2" })
      after.release()
      await printed('"started"', 2)
      await write({ providers: [provider("two", after)] })
      await reload("the configuration was reloaded", 2)
      await write("{")
      process.kill((await workersOf())[0] ?? 0, "SIGKILL")
      await printed('"started"', 3)
      expect(running.output().split("this worker starts with the last valid one")).toHaveLength(2)
      expect(running.output()).toContain("is not valid JSON")
      const statuses = await Promise.all(Array.from({ length: 16 }, () => statusOf("two/m")))
      expect(statuses.every((status) => status === 200)).toBe(true)
    }
  )

  it.skipIf(databaseUrl === undefined || process.platform !== "linux")(
    "leaves a worker that replaces another what needs a restart as the service started with it",
    async () => {
      const own = await mkdtemp(join(tmpdir(), "gateway-reload-workers-"))
      const config = { providers: [provider("acme", before, "held", { apiKeyEnv: "ACME_KEY" })] }
      await write(config)
      await writeFile(join(own, ".env"), "ACME_KEY=first\nMETRICS_TOKEN=one\nPUBLIC_URL=https://one.example\n")
      running = await startService({ env: { GATEWAY_CONFIG: file, WORKERS: "2" }, cwd: own })
      before.release()
      await printed('"started"', 2)
      const changed = "ACME_KEY=second\nMETRICS_TOKEN=two\nPUBLIC_URL=https://two.example\n"
      await writeFile(join(own, ".env"), changed)
      await reload("a restart is needed for changes of PUBLIC_URL, METRICS_TOKEN", 2)
      await replaceWorkers(3)
      expect(await metricsStatuses()).toEqual({ one: 200, two: 401 })
      // the same where the file is wrong, and what was applied last has the new values
      await writeFile(join(own, ".env"), `${changed}wrong`)
      await replaceWorkers(5)
      expect(running.output().split("this worker starts with the last valid one")).toHaveLength(3)
      expect(await metricsStatuses()).toEqual({ one: 200, two: 401 })
      expect(await statusOf("acme/m")).toBe(200)
      expect(before.requests.at(-1)?.headers.authorization).toBe("Bearer second")
      await rm(own, { recursive: true, force: true })
    }
  )

  it.skipIf(databaseUrl === undefined)("is tried again until the database takes it", async () => {
    await start({ providers: [provider("one", before)] })
    after.release()
    await write({ providers: [provider("two", after)] })
    await withOpenTransaction(running.env["DATABASE_URL"], async ({ query }) => {
      await query("lock table project in access exclusive mode")
      await reload("the configuration is not reloaded yet")
      expect(running.output()).toMatch(/"reason":"[^"]*(?:locked|too long)/)
    })
    await printed("the configuration was reloaded")
    expect(await statusOf("two/m")).toBe(200)
    expect(await statusOf("one/m")).toBe(404)
    expect(running.output()).not.toContain("was not reloaded")
  })

  it.skipIf(databaseUrl === undefined)("reaches every worker", async () => {
    await start({ providers: [provider("one", before)] }, { WORKERS: "2" })
    // one that starts later reads what is there then
    await printed('"started"', 2)
    after.release()
    await write({ providers: [provider("two", after)] })
    await reload("the configuration was reloaded", 2)
    const statuses = await Promise.all(Array.from({ length: 16 }, () => statusOf("two/m")))
    expect(statuses.every((status) => status === 200)).toBe(true)
    expect(await statusOf("one/m")).toBe(404)
  })
})
