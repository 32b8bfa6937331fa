import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { readStream } from "../support/EventStream.ts"
import { type Service, startService, testKey } from "../support/Service.ts"
import * as Upstream from "../support/Upstream.ts"

const price = { inputPriceMicroUsdPerMillion: 1_000_000, outputPriceMicroUsdPerMillion: 1_000_000 }
const model = (id: string) => ({ id, ...price, contextTokens: 100_000, outputTokens: 1_000 })

describe("a request with an Idempotency-Key", () => {
  let upstream: Upstream.Upstream
  let slow: Upstream.Upstream
  let service: Service
  beforeAll(async () => {
    upstream = await Upstream.start()
    slow = await Upstream.start()
    service = await startService({
      config: {
        providers: [
          {
            id: "up",
            protocol: "openai-chat",
            baseUrl: upstream.baseUrl,
            models: [model("up/ok"), model("up/held"), model("up/500")]
          },
          { id: "slow", protocol: "openai-chat", baseUrl: slow.baseUrl, models: [model("slow/held-mid")] }
        ]
      }
    })
  })
  afterAll(async () => {
    await service.stop()
    await upstream.stop()
    await slow.stop()
  })

  const send = (key: string, body: object) => service.post("/v1/chat/completions", body, { "idempotency-key": key })
  const say = (content: string, more: object = {}) => ({
    model: "up/ok",
    messages: [{ role: "user", content }],
    ...more
  })

  it("runs once and is replayed, plain", async () => {
    const before = upstream.requests.length
    const first = await send("plain", say("one"))
    const again = await send("plain", say("one"))
    expect(await again.text()).toBe(await first.text())
    expect(first.headers.get("idempotent-replayed")).toBeNull()
    expect(again.headers.get("idempotent-replayed")).toBe("true")
    expect(upstream.requests.length).toBe(before + 1)
  })

  it("runs once and is replayed, streamed", async () => {
    const before = upstream.requests.length
    const first = await (await send("stream", say("one", { stream: true }))).text()
    expect(first).toContain("[DONE]")
    const again = await send("stream", say("one", { stream: true }))
    expect(await again.text()).toBe(first)
    expect(again.headers.get("content-type")).toContain("text/event-stream")
    expect(upstream.requests.length).toBe(before + 1)
  })

  it("is refused for another body", async () => {
    await send("reused", say("one"))
    const other = await send("reused", say("two"))
    expect(other.status).toBe(400)
    expect(await other.json()).toMatchObject({ error: { code: "idempotency_key_reused" } })
  })

  it("is told to wait while the first is running", async () => {
    const held = upstream.requests.length + 1
    const first = send("running", say("one", { model: "up/held" }))
    await upstream.received(held)
    const second = await send("running", say("one", { model: "up/held" }))
    expect(second.status).toBe(429)
    expect(second.headers.get("retry-after")).toBe("1")
    expect(await second.json()).toMatchObject({ error: { code: "idempotent_request_in_progress" } })
    upstream.release()
    expect((await first).status).toBe(200)
  })

  it("goes on when its connection breaks in mid-stream: sent again, it gets the whole answer and is charged once", async () => {
    const request = say("one", { model: "slow/held-mid", stream: true })
    const broken = new AbortController()
    const first = await service.fetch("/v1/chat/completions", {
      method: "POST",
      headers: {
        authorization: `Bearer ${testKey}`,
        "content-type": "application/json",
        "idempotency-key": "broken"
      },
      body: JSON.stringify(request),
      signal: broken.signal
    })
    await first.body?.getReader().read()
    broken.abort()
    expect((await send("broken", request)).status).toBe(429)
    slow.release()
    let again = await send("broken", request)
    while (again.status === 429) again = await send("broken", request)
    expect(again.headers.get("idempotent-replayed")).toBe("true")
    expect(await readStream(again)).toMatchObject({ content: "first second", isDone: true })
    expect(slow.requests.length).toBe(1)
  })

  it("can be sent again after it was rejected", async () => {
    const refused = await send("invalid", say("one", { n: 2 }))
    expect(refused.status).toBe(400)
    expect((await send("invalid", say("one"))).status).toBe(200)
  })

  it("gets the same failure of its provider again", async () => {
    expect((await send("failed", say("one", { model: "up/500" }))).status).toBe(502)
    const before = upstream.requests.length
    const again = await send("failed", say("one", { model: "up/500" }))
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([502, "true"])
    expect(upstream.requests.length).toBe(before)
  })

  it("must have a sensible key", async () => {
    expect((await send("k".repeat(256), say("one"))).status).toBe(400)
  })
})
