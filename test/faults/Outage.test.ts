// Promise: Retries are bounded.
import OpenAI from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { model } from "../provider/protocols/calls.ts"
import { figure, inLong } from "../support/Figures.ts"
import { callerKey, type InProcess, startInProcess } from "../support/InProcess.ts"
import * as Upstreams from "../support/Upstream.ts"

let upstream: Upstreams.Upstream
let gateway: InProcess

const providers = ["one", "two", "three", "four"]

beforeAll(async () => {
  upstream = await Upstreams.start()
  gateway = await startInProcess({
    origins: Object.fromEntries(providers.map((id) => [id, upstream.baseUrl])),
    models: providers.map((id) => model({ id: `${id}/m`, providerId: id, upstreamModel: "status-500", alias: id }))
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const messages = [{ role: "user" as const, content: "hi" }]
const ask = () => gateway.post("/v1/chat/completions", { model: "auto", messages })

describe("when every provider is down", () => {
  it("what is sent to them stays within a fifth of the calls and a floor for each, once they rest", async () => {
    for (let n = 0; n < 10; n++) await (await ask()).text()
    const before = upstream.requests.length
    const calls = inLong(500, 100)
    for (let n = 0; n < calls; n++) {
      const response = await ask()
      expect([response.status, response.headers.get("x-should-retry")]).toEqual([502, "false"])
      await response.text()
    }
    const attempts = upstream.requests.length - before
    figure("upstream attempts for each call in a total outage", (attempts / calls).toFixed(3))
    // the floor is three for each provider and ten seconds
    expect(attempts).toBeLessThanOrEqual(1.2 * calls + 3 * providers.length * 3)
    expect(attempts).toBeGreaterThanOrEqual(calls)
  }, 60_000)

  it("the official client asks once, however many retries it has left", async () => {
    let hits = 0
    const client = new OpenAI({
      apiKey: callerKey,
      baseURL: `${gateway.url}/v1`,
      maxRetries: 5,
      fetch: (input, init) => {
        hits++
        return fetch(input, init)
      }
    })
    const failure = await client.chat.completions.create({ model: "one/m", messages }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ status: 502 })
    expect(hits).toBe(1)
  })
})
