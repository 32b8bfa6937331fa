import { afterAll, beforeAll, expect, it } from "vitest"
import { model } from "../../provider/protocols/calls.ts"
import { callerKey, type InProcess, startInProcess } from "../../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../../support/Upstream.ts"

let upstream: Upstream
let limited: InProcess
let unlimited: InProcess

beforeAll(async () => {
  upstream = await startUpstream()
  const options = {
    origins: { one: upstream.baseUrl },
    models: [model({ id: "one/ok", providerId: "one", upstreamModel: "ok", alias: "ok" })]
  }
  unlimited = await startInProcess(options)
  limited = await startInProcess({
    ...options,
    rateLimits: {
      key: { requestsPerMinute: 4, tokensPerMinute: 100_000, concurrentRequests: null },
      project: { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
    }
  })
})
afterAll(async () => {
  await Promise.all([limited.stop(), unlimited.stop()])
  await upstream.stop()
})

const limitsOf = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith("x-ratelimit-")))
const ask = (gateway: InProcess, stream: boolean) =>
  gateway.post("/v1/chat/completions", { model: "one/ok", stream, messages: [{ role: "user", content: "hi" }] })

it("every answer tells what is left of the limits, plain and streamed, the model list and the refusal", async () => {
  const plain = await ask(limited, false)
  expect(plain.status).toBe(200)
  const { "x-ratelimit-remaining-tokens": tokens, ...first } = limitsOf(plain)
  expect(first).toMatchObject({
    "x-ratelimit-limit-requests": "4",
    "x-ratelimit-remaining-requests": "3",
    "x-ratelimit-reset-requests": "15s",
    "x-ratelimit-limit-tokens": "100000"
  })
  expect(Number(tokens)).toBeLessThan(100_000)

  const streamed = await ask(limited, true)
  await streamed.text()
  expect(limitsOf(streamed)["x-ratelimit-remaining-requests"]).toBe("2")

  const list = await fetch(`${limited.url}/v1/models`, { headers: { authorization: `Bearer ${callerKey}` } })
  expect(list.status).toBe(200)
  expect(limitsOf(list)["x-ratelimit-remaining-requests"]).toBe("1")

  await ask(limited, false)
  const refused = await ask(limited, false)
  expect(refused.status).toBe(429)
  expect(limitsOf(refused)).toMatchObject({
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "1m0s"
  })
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(14)
})

it("without limits there are no such headers", async () => {
  expect(limitsOf(await ask(unlimited, false))).toEqual({})
})
