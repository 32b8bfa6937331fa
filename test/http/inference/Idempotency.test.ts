import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { model } from "../../provider/protocols/calls.ts"
import { callerKey, type InProcess, startInProcess } from "../../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../../support/Upstream.ts"

let upstream: Upstream
let gateway: InProcess

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: ["ok", "500"].map((name) =>
      model({ id: `one/${name}`, providerId: "one", upstreamModel: name, alias: name })
    )
  })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const send = (idempotencyKey: string, more: object = {}) =>
  gateway.post("/v1/chat/completions", undefined, {
    headers: {
      authorization: `Bearer ${callerKey}`,
      "content-type": "application/json",
      "idempotency-key": idempotencyKey
    },
    body: JSON.stringify({ model: "one/ok", messages: [{ role: "user", content: "hi" }], ...more })
  })

/** The same request again, once what it has left is kept. */
const again = async (idempotencyKey: string, more: object = {}) => {
  let answer = await send(idempotencyKey, more)
  while (answer.status === 429) answer = await send(idempotencyKey, more)
  return answer
}

describe("a request that is sent again under its Idempotency-Key", () => {
  it.each([
    ["plain", false],
    ["streamed", true]
  ])("gets the same answer, and its provider is asked once: %s", async (name, stream) => {
    const before = upstream.requests.length
    const first = await send(name, { stream })
    const text = await first.text()
    const second = await again(name, { stream })
    expect(first.headers.get("idempotent-replayed")).toBeNull()
    expect(second.headers.get("idempotent-replayed")).toBe("true")
    expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"))
    expect(await second.text()).toBe(text)
    expect(upstream.requests.length).toBe(before + 1)
  })

  it("is run again after a failure", async () => {
    expect((await send("failed", { model: "one/500" })).status).toBe(502)
    const before = upstream.requests.length
    expect((await again("failed", { model: "one/500" })).status).toBe(502)
    expect(upstream.requests.length).toBeGreaterThan(before)
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
