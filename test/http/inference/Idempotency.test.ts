import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { model } from "../../provider/protocols/calls.ts"
import { callerKey, type InProcess, startInProcess } from "../../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../../support/Upstream.ts"

let upstream: Upstream
let gateway: InProcess

beforeEach(async () => {
  upstream = await startUpstream()
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: ["ok", "500", "refuse", "held", "held-mid", "error-mid"].map((name) =>
      model({ id: `one/${name}`, providerId: "one", upstreamModel: name, alias: name })
    )
  })
})

afterEach(async () => {
  await gateway.stop()
  await upstream.stop()
})

const send = (idempotencyKey: string, more: object = {}, signal: AbortSignal | null = null) =>
  gateway.post("/v1/chat/completions", undefined, {
    signal,
    headers: {
      authorization: `Bearer ${callerKey}`,
      "content-type": "application/json",
      "idempotency-key": idempotencyKey
    },
    body: JSON.stringify({ model: "one/ok", messages: [{ role: "user", content: "hi" }], ...more })
  })

describe("a request that is sent again under its Idempotency-Key", () => {
  it.each([
    ["plain", false],
    ["streamed", true]
  ])("gets the same answer, and its provider is asked once: %s", async (name, stream) => {
    const before = upstream.requests.length
    const first = await send(name, { stream })
    const text = await first.text()
    const second = await send(name, { stream })
    expect(first.headers.get("idempotent-replayed")).toBeNull()
    expect(second.headers.get("idempotent-replayed")).toBe("true")
    expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"))
    expect(await second.text()).toBe(text)
    expect(upstream.requests.length).toBe(before + 1)
  })

  it("gets the same failure of all providers", async () => {
    const first = await send("failed", { model: "one/500" })
    expect(first.status).toBe(502)
    const before = upstream.requests.length
    const second = await send("failed", { model: "one/500" })
    expect(second.status).toBe(502)
    expect(second.headers.get("idempotent-replayed")).toBe("true")
    for (const name of ["content-type", "cache-control", "x-should-retry"]) {
      expect(second.headers.get(name)).toBe(first.headers.get(name))
    }
    expect(await second.text()).toBe(await first.text())
    expect(upstream.requests.length).toBe(before)
  })

  it("gets the same stream that its provider has broken", async () => {
    const first = await send("broken", { model: "one/error-mid", stream: true })
    const before = upstream.requests.length
    expect(await (await send("broken", { model: "one/error-mid", stream: true })).text()).toBe(await first.text())
    expect(upstream.requests.length).toBe(before)
  })

  it("is run again where the request was to blame", async () => {
    expect((await send("refused", { model: "one/refuse" })).status).toBe(400)
    const before = upstream.requests.length
    expect((await send("refused", { model: "one/refuse" })).status).toBe(400)
    expect(upstream.requests.length).toBeGreaterThan(before)
  })
})

describe("a request with an Idempotency-Key whose client leaves", () => {
  /** Leaves once the provider has the call, or has sent the first content. */
  const leave = async (idempotencyKey: string, more: { readonly model: string; readonly stream: boolean }) => {
    const client = new AbortController()
    const next = upstream.requests.length + 1
    const answer = send(idempotencyKey, more, client.signal)
    await upstream.received(next)
    if (more.stream) await (await answer).body?.getReader().read()
    client.abort()
    await answer.catch(() => {})
  }

  it.each([
    ["plain", { model: "one/held", stream: false }],
    ["streamed", { model: "one/held-mid", stream: true }]
  ])("goes on to its end, which its repetition gets, and is charged once: %s", async (name, request) => {
    await leave(`left ${name}`, request)
    const early = await send(`left ${name}`, request)
    expect(early.status).toBe(429)
    expect(await early.json()).toMatchObject({ error: { code: "idempotent_request_in_progress" } })
    upstream.release()
    const settled = await gateway.settled(1)
    expect(settled.state).toBe("settled")
    const answer = await send(`left ${name}`, request)
    expect(answer.headers.get("idempotent-replayed")).toBe("true")
    expect(await answer.text()).toContain(request.stream ? "[DONE]" : "released")
    expect(upstream.requests.length).toBe(1)
    expect(await gateway.spent()).toBe(settled.actual)
    expect(settled.actual).toBeGreaterThan(0)
    expect(await gateway.held()).toBe(0)
  })

  it("is waited for by its node", async () => {
    await leave("left to the drain", { model: "one/held", stream: false })
    let isDrained = false
    const drained = gateway.drain().then(() => {
      isDrained = true
    })
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503)
    expect(isDrained).toBe(false)
    upstream.release()
    await drained
    expect(gateway.settlements.map(({ state }) => state)).toEqual(["settled"])
  })

  it("is ended with its node, and can be sent again", async () => {
    await leave("left to the shutdown", { model: "one/held", stream: false })
    await gateway.stop()
    expect(gateway.settlements.map(({ kept, state }) => [state, kept])).toEqual([["void", undefined]])
  })
})

describe("an Idempotency-Key", () => {
  it.each([
    ["is empty", ""],
    ["is longer than 255 characters", "k".repeat(256)],
    ["is not ASCII", "ké"]
  ])("that %s is refused, and nothing is called", async (_, key) => {
    const before = upstream.requests.length
    const answer = await send(key)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { code: "invalid_value" } })
    expect(upstream.requests.length).toBe(before)
  })

  it("may have 255 characters, blanks among them", async () => {
    expect((await send(`k ${"k".repeat(253)}`)).status).toBe(200)
  })
})
