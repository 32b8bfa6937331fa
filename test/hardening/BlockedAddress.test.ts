import { afterAll, beforeAll, expect, it } from "vitest"
import { type Service, startService } from "../support/Service.ts"

let service: Service
beforeAll(async () => {
  service = await startService()
}, 60_000)
afterAll(() => service.stop("SIGKILL"))

const body = JSON.stringify({ model: "sim/fast", messages: [{ role: "user", content: "hi" }] })
const unknown = () =>
  service.fetch("/v1/chat/completions", {
    method: "POST",
    body,
    headers: { "content-type": "application/json", authorization: "Bearer nobody" }
  })
const statusesOf = async (count: number) => {
  const responses = await Promise.all(Array.from({ length: count }, unknown))
  await Promise.all(responses.map((response) => response.arrayBuffer()))
  return responses.map(({ status }) => status)
}

it("an address with a thousand failures in a minute gets 429 from an even queue, beside which its valid key is served", async () => {
  expect(new Set((await Promise.all(Array.from({ length: 10 }, () => statusesOf(100)))).flat())).toEqual(new Set([401]))
  const startedAt = performance.now()
  const crowd = statusesOf(400)
  const { status } = await service.post("/v1/chat/completions", JSON.parse(body))
  expect(status).toBe(200)
  expect(new Set(await crowd)).toEqual(new Set([429]))
  // eight in ten milliseconds
  expect(performance.now() - startedAt).toBeGreaterThan(400)
  const last = await unknown()
  expect(last.status).toBe(429)
  expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0)
  expect(last.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
  expect(await last.json()).toMatchObject({ error: { type: "rate_limit_error", code: "rate_limit_exceeded" } })
  expect((await service.fetch("/livez")).status).toBe(200)
})
