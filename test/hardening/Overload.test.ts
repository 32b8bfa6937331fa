import { afterAll, beforeAll, expect, it } from "vitest"
import { model } from "../provider/calls.ts"
import { type InProcess, startInProcess } from "../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

let upstream: Upstream
let gateway: InProcess
let isOverloaded = false

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: [model({ id: "one/ok", providerId: "one", upstreamModel: "ok", alias: "ok" })],
    isOverloaded: () => isOverloaded
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const ask = (headers?: Readonly<Record<string, string>>) =>
  gateway.post(
    "/v1/chat/completions",
    { model: "one/ok", messages: [{ role: "user", content: "hi" }] },
    headers === undefined ? {} : { headers }
  )

it("a node that cannot keep up refuses calls before it looks at them, says when to come back, and recovers", async () => {
  expect((await ask()).status).toBe(200)
  isOverloaded = true
  for (const refused of [await ask(), await ask({ authorization: "Bearer nobody" })]) {
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"])
    expect(await refused.json()).toMatchObject({ error: { type: "server_error", code: "overloaded", param: null } })
  }
  expect((await fetch(`${gateway.url}/livez`)).status).toBe(200)
  expect([upstream.requests.length, gateway.settlements.length]).toEqual([1, 1])
  isOverloaded = false
  expect((await ask()).status).toBe(200)
})
