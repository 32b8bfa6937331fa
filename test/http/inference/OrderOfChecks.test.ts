import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { model } from "../../provider/protocols/calls.ts"
import { callerKey, type InProcess, startInProcess } from "../../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../../support/Upstream.ts"

let upstream: Upstream
let open: InProcess
/** One call at a time, and no money. */
let strict: InProcess

const noLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }

beforeAll(async () => {
  upstream = await startUpstream()
  const offered = {
    origins: { one: upstream.baseUrl },
    models: [model({ id: "one/ok", providerId: "one", upstreamModel: "ok", alias: "ok" })]
  }
  open = await startInProcess(offered)
  strict = await startInProcess({
    ...offered,
    creditMicroUsd: 1,
    rateLimits: { key: { ...noLimit, requestsPerMinute: 2 }, project: noLimit }
  })
})

afterAll(async () => {
  expect(upstream.requests).toEqual([])
  await open.stop()
  await strict.stop()
  await upstream.stop()
})

const valid = { model: "one/ok", messages: [{ role: "user", content: "hi" }] }

const answerOf = async (response: Response): Promise<readonly [number, string]> => {
  const { error } = (await response.json()) as { readonly error: { readonly code: string } }
  return [response.status, error.code]
}

describe("of several faults the first is told:", () => {
  it("no key before a bad body", async () => {
    const headers = { "content-type": "text/plain" }
    const response = await strict.post("/v1/chat/completions", undefined, { body: "{", headers })
    expect(await answerOf(response)).toEqual([401, "invalid_api_key"])
    expect(response.headers.get("www-authenticate")).toBe("Bearer")
  })

  it("a bad body before a rate limit, before an unknown model, before a lack of money", async () => {
    const post = (body: unknown) => strict.post("/v1/chat/completions", body)
    expect(await answerOf(await post({ ...valid, n: 2 }))).toEqual([400, expect.any(String)])
    expect(await answerOf(await post({ ...valid, model: "one/unknown" }))).toEqual([404, "model_not_found"])
    expect(await answerOf(await post(valid))).toEqual([402, "insufficient_balance"])
    const limited = await post({ ...valid, model: "one/unknown" })
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
    expect(await answerOf(limited)).toEqual([429, "rate_limit_exceeded"])
    expect(await answerOf(await post({ ...valid, n: 2 }))).toEqual([400, expect.any(String)])
  })
})

describe("a credential", () => {
  it.each([
    ["none", {}],
    ["of another scheme", { authorization: `Basic ${callerKey}` }],
    ["that is empty", { authorization: "Bearer " }],
    ["that is unknown", { authorization: "Bearer mrg_sk_00000000000000000000000000000000abcdef" }],
    ["in x-api-key", { "x-api-key": callerKey }],
    ["in a cookie", { cookie: `authorization=${callerKey}` }]
  ])("%s is refused with one and the same answer", async (_, headers) => {
    for (const path of ["/v1/chat/completions", "/v1/responses"]) {
      const response = await open.post(`${path}?api_key=${callerKey}`, valid, {
        headers: { "content-type": "application/json", ...headers }
      })
      expect(response.status).toBe(401)
      expect(await response.json()).toEqual({
        error: {
          message:
            "A valid credential is required: for calls a project API key as a bearer token (for Anthropic's Messages also as `x-api-key`), for the account API a session or an identity token, to sign in a code that has not been used or expired.",
          type: "authentication_error",
          param: null,
          code: "invalid_api_key"
        }
      })
    }
  })
})

describe("an unknown path", () => {
  it.each([
    "/",
    "/v1",
    "/v1/chat",
    "/v1/chat/completions/",
    "/v1/embeddings",
    "/v1/../livez",
    "//v1/models",
    "/v1/route/one"
  ])("%s needs no key to be called that", async (path) => {
    const response = await fetch(`${open.url}${path}`, { method: "POST" })
    expect(await answerOf(response)).toEqual(
      path === "/v1/../livez" ? [400, "method_not_allowed"] : [404, "unknown_path"]
    )
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
  })
})
