// Promise: Stopping is graceful.
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { readStream } from "../support/EventStream.ts"
import { databaseAt, ledgerRows } from "../support/LedgerRows.ts"
import { type Service, startService } from "../support/Service.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

let upstream: Upstream
let dataDir: string
beforeEach(async () => {
  upstream = await startUpstream()
  dataDir = await mkdtemp(join(tmpdir(), "gateway-shutdown-"))
})
afterEach(async () => {
  await upstream.stop()
  await rm(dataDir, { recursive: true, force: true })
})

/** What the service has left behind. */
const leftBehind = () => Effect.runPromise(Effect.provide(ledgerRows, databaseAt({ dataDir })))

const start = (env: Readonly<Record<string, string>> = {}): Promise<Service> =>
  startService({
    env,
    dataDir,
    config: {
      providers: [
        {
          id: "one",
          protocol: "openai-chat",
          baseUrl: upstream.baseUrl,
          models: ["held", "held-mid"].map((name) => ({
            id: `one/${name}`,
            inputPriceMicroUsdPerMillion: 1_000_000,
            outputPriceMicroUsdPerMillion: 2_000_000,
            contextTokens: 100_000,
            outputTokens: 4_000
          }))
        }
      ]
    }
  })

const streams = 10
const messages = [{ role: "user", content: "hi" }]

/** Streams that have begun, and plain calls that wait for their answer. */
const begin = async (service: Service) => {
  const begun = await Promise.all(
    Array.from({ length: streams }, () =>
      service.post("/v1/chat/completions", { model: "one/held-mid", stream: true, messages })
    )
  )
  const responses = service.post("/v1/responses", { model: "one/held-mid", stream: true, input: "hi" })
  const plain = service.post("/v1/chat/completions", { model: "one/held", messages })
  const ofMessages = service.post("/v1/messages", { model: "one/held-mid", stream: true, max_tokens: 100, messages })
  await upstream.received(streams + 3)
  return { begun, responses: await responses, ofMessages: await ofMessages, plain }
}

/** A signal has been taken once the service says that it drains. */
const draining = async (service: Service): Promise<Response> => {
  for (;;) {
    const response = await service.fetch("/readyz")
    if (response.status === 503) return response
    await response.text()
  }
}

/** Each test starts services, which takes its time on a busy machine. */
const testMillis = 90_000

describe("SIGTERM", { timeout: testMillis }, () => {
  it("refuses what is new, finishes what runs, and ends with 0", async () => {
    const service = await start()
    const { begun, ofMessages, plain, responses } = await begin(service)
    service.process.kill("SIGTERM")

    expect(await (await draining(service)).json()).toEqual({ status: "shutting_down" })
    const refused = await service.post("/v1/chat/completions", { model: "one/held", messages })
    expect([refused.status, refused.headers.get("connection")]).toEqual([503, "close"])
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
    expect(await refused.json()).toMatchObject({ error: { type: "server_error", code: "shutting_down" } })
    const message = await service.post("/v1/messages", { model: "one/held", max_tokens: 100, messages })
    expect([message.status, message.headers.get("connection")]).toEqual([503, "close"])
    expect(await message.json()).toMatchObject({ error: { type: "overloaded_error", code: "shutting_down" } })
    expect((await service.fetch("/livez")).status).toBe(200)

    upstream.release()
    for (const response of begun) {
      const stream = await readStream(response)
      expect([stream.content, stream.isDone, stream.errors]).toEqual(["first second", true, []])
    }
    expect((await readStream(responses)).text).toContain("event: response.completed")
    const messageEvents = (await readStream(ofMessages)).text
    expect(messageEvents).toContain(" second")
    expect(messageEvents).toContain("event: message_stop")
    expect((await plain).status).toBe(200)
    await (await plain).text()
    expect(await service.stop()).toBe(0)
    expect(service.output()).not.toMatch(/"logLevel":"(ERROR|FATAL)"/)
  })

  it.each([
    ["a second signal", {}, true],
    ["the end of the grace", { DRAIN_GRACE: "1 seconds" }, false]
  ] as const)("then %s ends the streams with an error frame and without [DONE]", async (_, env, twice) => {
    const service = await start(env)
    const { begun, ofMessages, plain, responses } = await begin(service)
    service.process.kill("SIGTERM")
    if (twice) {
      await draining(service)
      service.process.kill("SIGTERM")
    }
    for (const response of begun) {
      const stream = await readStream(response)
      expect([stream.content, stream.isDone]).toEqual(["first", false])
      expect(stream.errors).toMatchObject([{ type: "server_error", code: "server_shutdown" }])
    }
    const typed = await readStream(responses)
    expect(typed.text).toContain("event: response.failed")
    expect([typed.isDone, typed.text.includes("server_shutdown")]).toEqual([false, true])
    const message = await readStream(ofMessages)
    expect(message.text.match(/^event: .*$/gm)?.slice(-1)).toEqual(["event: error"])
    expect(message.errors).toMatchObject([{ type: "api_error", code: "server_shutdown" }])
    expect((await plain).status).toBe(503)
    expect(await (await plain).json()).toMatchObject({ error: { code: "shutting_down" } })
    expect(await service.stop()).toBe(0)
    for (const received of upstream.requests) expect(await received.closed).toBe("aborted")
    expect(service.output()).not.toMatch(/"logLevel":"(ERROR|FATAL)"/)
    if (!twice) return
    expect(await leftBehind()).toMatchObject({ held: 0, heldMoney: 0, settled: 0, restarted: 0, wrong: [] })
  })

  it("without any call ends at once, even beside an idle connection", async () => {
    const service = await start()
    await (await service.fetch("/livez")).text()
    const ended = once(service.process, "exit")
    service.process.kill("SIGINT")
    expect(await ended).toEqual([0, null])
    await service.stop()
  })
})
