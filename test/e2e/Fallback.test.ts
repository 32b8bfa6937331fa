import OpenAI, { APIError } from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { RouterMetadata } from "../../src/domain/RouterMetadata.ts"
import { model } from "../provider/protocols/calls.ts"
import { readStream } from "../support/EventStream.ts"
import { type InProcess, type Settled, startInProcess } from "../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

/** By fault: its code, in streamed and in plain calls. */
const faults = [
  ["refused", "provider_unreachable"],
  ["reset", "provider_unreachable"],
  ["hang-head", "provider_timeout"],
  ["hang-content", "provider_timeout"],
  ["rate-limited", "provider_rate_limited"],
  ["no-quota", "provider_unavailable"],
  ["status-401", "provider_unavailable"],
  ["status-404", "provider_error"],
  ["status-500", "provider_error"],
  ["status-503", "provider_error"],
  ["status-529", "provider_error"],
  ["cut-before", "provider_disconnected"],
  ["malformed", "provider_bad_response"],
  ["html", "provider_bad_response"],
  ["redirect", "provider_error"],
  ["error-first", "provider_error"],
  ["error-200", "provider_error"],
  ["empty", "empty_completion"]
] as const

const afterContent = [
  ["cut-mid", "provider_disconnected"],
  ["end-mid", "provider_disconnected"],
  ["error-mid", "provider_error"],
  ["malformed-mid", "provider_bad_response"],
  ["hang-mid", "stream_stalled"]
] as const

const others = ["refuse", "too-long", "status-400", "second-400", "second-500"] as const
/** Each test of a fault has a provider of its own, so that no other test's failures weigh on it. */
const names: ReadonlyArray<string> = [
  ...faults.flatMap(([name]) => [name, `plain-${name}`]),
  ...afterContent.map(([name]) => name),
  ...others
]
const upstreamModelOf = (name: string) => name.replace("second-", "status-").replace("plain-", "")

const messages = [{ role: "user" as const, content: "hi" }]
/** What the second provider's answer costs: 10 tokens in and 3 out, at 1 and 2 micro-USD. */
const answerCost = 16

interface Body {
  readonly choices: ReadonlyArray<{ readonly message: { readonly content: string } }>
  readonly router_metadata: RouterMetadata
  readonly error: {
    readonly type: string
    readonly code: string
    readonly message: string
    readonly metadata?: { readonly attempts: RouterMetadata["attempts"] }
  }
}

let upstream: Upstream
/** Never reuses a connection, because it breaks each of them. */
let breaking: Upstream
let gateway: InProcess

beforeAll(async () => {
  upstream = await startUpstream()
  breaking = await startUpstream()
  const gone = await startUpstream()
  await gone.stop()
  const origins = Object.fromEntries(
    names.map((name) => [
      name,
      name.endsWith("refused") ? gone.baseUrl : name.endsWith("reset") ? breaking.baseUrl : upstream.baseUrl
    ])
  )
  gateway = await startInProcess({
    origins: { ...origins, good: upstream.baseUrl },
    models: [
      ...names.map((name) =>
        model({
          id: `${name}/m`,
          providerId: name,
          upstreamModel: upstreamModelOf(name),
          alias: `${name}-m`,
          quality: 0.9
        })
      ),
      model({
        id: "good/m",
        providerId: "good",
        upstreamModel: "ok",
        alias: "ok",
        quality: 0.3,
        contextTokens: 200_000
      })
    ],
    deadlines: { firstContentMillis: 2_000, plainAnswerMillis: 2_000, idleMillis: 2_000 }
  })
})

afterAll(async () => {
  expect(await gateway.audit()).toEqual([])
  expect(await gateway.held()).toBe(0)
  await gateway.stop()
  await upstream.stop()
  await breaking.stop()
})

/** The best of `tried` comes first: highest quality, then by id. */
const asking = (tried: ReadonlyArray<string>, more: Readonly<Record<string, unknown>> = {}) => ({
  model: "auto",
  alpha: 1,
  models: { allow: tried.map((name) => `${name}/m`) },
  messages,
  ...more
})

/** Asks, and waits for the one settlement that follows. */
const ask = async (
  body: Readonly<Record<string, unknown>>
): Promise<{ readonly response: Response; readonly settled: Settled }> => {
  const before = gateway.settlements.length
  const response = await gateway.post("/v1/chat/completions", body)
  const copy = response.clone()
  await copy.text()
  const settled = await gateway.settled(before + 1)
  expect(gateway.settlements.length).toBe(before + 1)
  return { response, settled }
}

const bodyOf = async (response: Response): Promise<Body> => JSON.parse(await response.text())

describe.each(faults)("a first provider with the fault %s", (fault, code) => {
  it("leaves one complete streamed response from the second, charged once", async () => {
    const { response, settled } = await ask(asking([fault, "good"], { stream: true }))
    const stream = await readStream(response)
    expect(stream.content).toBe("Hello from upstream")
    expect([stream.isDone, stream.errors]).toEqual([true, []])
    const metadata = stream.events.at(-1)?.router_metadata as RouterMetadata
    expectFallback(metadata, fault, code)
    expectChargedOnce(settled, metadata)
  })

  it("leaves one complete non-streaming response from the second, charged once", async () => {
    const { response, settled } = await ask(asking([`plain-${fault}`, "good"]))
    const body = await bodyOf(response)
    expect(body.choices[0]?.message.content).toBe("Hello from upstream")
    expectFallback(body.router_metadata, `plain-${fault}`, code)
    expectChargedOnce(settled, body.router_metadata)
  })
})

const expectFallback = (metadata: RouterMetadata, fault: string, code: string): void => {
  expect(metadata.attempts.map(({ error, model, status }) => [model, status, error?.code ?? null])).toEqual([
    [`${fault}/m`, code === "provider_timeout" ? "timeout" : "error", code],
    ["good/m", "success", null]
  ])
  expect(metadata.attempts[0]?.cost).toEqual({ amount_microusd: 0, currency: "USD", basis: "charged" })
  expect(metadata.fallback).toEqual({ enabled: true, used: true })
  expect(metadata.reason).toBe("fallback_after_error")
  expect([metadata.provider, metadata.model]).toEqual(["good", "good/m"])
  expect(metadata.candidate_pool.models).toEqual([`${fault}/m`, "good/m"])
}

const expectChargedOnce = (settled: Settled, metadata: RouterMetadata): void => {
  expect(metadata.cost).toEqual({ amount_microusd: answerCost, currency: "USD", basis: "charged" })
  expect([settled.state, settled.actual, settled.record.status]).toEqual(["settled", answerCost, "success"])
  expect(settled.record.attempts).toEqual(metadata.attempts)
  expect(settled.record.pool).toEqual(metadata.candidate_pool)
}

describe.each(afterContent)("a provider with the fault %s after its first content", (fault, code) => {
  it("ends the stream with an error frame and without [DONE], for nothing", async () => {
    const { response, settled } = await ask(asking([fault, "good"], { stream: true }))
    expect(response.status).toBe(200)
    const stream = await readStream(response)
    expect(stream.content).toBe("partial")
    expect(stream.isDone).toBe(false)
    expect(stream.errors.map((error) => error.code)).toEqual([code])
    expect(stream.events.at(-1)?.error?.type).toBe("provider_error")
    expect([settled.state, settled.actual]).toEqual(["void", 0])
    expect(settled.record.status).toBe(code === "stream_stalled" ? "timeout" : "error")
    expect(settled.record.error?.code).toBe(code)
    expect(settled.record.attempts.map((attempt) => attempt.model)).toEqual([`${fault}/m`])
  })

  it("makes the official client throw", async () => {
    const before = gateway.settlements.length
    const stream = await gateway.client.chat.completions.create({
      ...asking([fault, "good"]),
      messages,
      model: "auto",
      stream: true
    })
    let text = ""
    const failure = await (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ""
      return undefined
    })().catch((error: unknown) => error)
    expect(text).toBe("partial")
    expect(failure).toBeInstanceOf(APIError)
    expect(failure).toHaveProperty("code", code)
    await gateway.settled(before + 1)
  })
})

describe("without fallback", () => {
  const pinned = { model: "status-503/m", models: null, alpha: null }
  it.each([
    ["a pinned model", pinned],
    ["enable_fallback false", { enable_fallback: false }]
  ])("%s fails with its provider's fault and asks nobody else", async (_, more) => {
    const before = upstream.requests.length
    const { response, settled } = await ask(asking(["status-503", "good"], more))
    const { error } = await bodyOf(response)
    expect([response.status, error.type, error.code]).toEqual([502, "provider_error", "provider_error"])
    expect(response.headers.get("x-should-retry")).toBe("false")
    expect(upstream.requests.length - before).toBe(1)
    expect(error.metadata?.attempts.map((attempt) => attempt.model)).toEqual(["status-503/m"])
    expect([settled.state, settled.actual, settled.record.status]).toEqual(["void", 0, "error"])
  })

  it("a single 500 of a pinned model is retried once", async () => {
    const before = upstream.requests.length
    const { response } = await ask({ model: "second-500/m", messages })
    expect(response.status).toBe(502)
    expect(upstream.requests.length - before).toBe(2)
    expect((await bodyOf(response)).error.metadata?.attempts).toHaveLength(2)
  })

  it("a refused connection is retried once", async () => {
    const { response } = await ask({ model: "refused/m", messages })
    const { error } = await bodyOf(response)
    expect([response.status, error.code]).toEqual([502, "provider_unreachable"])
    expect(error.metadata?.attempts).toHaveLength(2)
  })
})

describe("a request that a provider blames", () => {
  it("is shown to one other provider before the client is told, with the first reason", async () => {
    const before = upstream.requests.length
    const { response, settled } = await ask(asking(["status-400", "second-400", "good"]))
    const { error } = await bodyOf(response)
    expect([response.status, error.code]).toEqual([400, "provider_rejected_request"])
    expect(error.message).toContain("status 400")
    expect(error.metadata?.attempts.map((attempt) => attempt.error?.code)).toEqual([
      "provider_rejected_request",
      "provider_rejected_request"
    ])
    expect(upstream.requests.length - before).toBe(2)
    expect(settled.state).toBe("void")
  })

  it("is answered when the other provider accepts it", async () => {
    const { response } = await ask(asking(["status-400", "good"]))
    expect((await bodyOf(response)).router_metadata.model).toBe("good/m")
  })

  it("that is too long goes only to a larger context", async () => {
    const larger = await ask(asking(["too-long", "good"]))
    expect(
      (await bodyOf(larger.response)).router_metadata.attempts.map((attempt) => attempt.error?.code ?? null)
    ).toEqual(["context_length_exceeded", null])
    const before = upstream.requests.length
    const same = await ask(asking(["too-long", "status-503"], { models: { allow: ["too-long/m", "status-503/m"] } }))
    const { error } = await bodyOf(same.response)
    // status-503 has the better id and is asked first; too-long then has no larger model to go to
    expect([same.response.status, error.code]).toEqual([400, "context_length_exceeded"])
    expect(upstream.requests.length - before).toBeLessThanOrEqual(2)
  })

  it("and that a content policy refuses is not shown to anyone else", async () => {
    const before = upstream.requests.length
    const { response } = await ask(asking(["refuse", "good"]))
    const { error } = await bodyOf(response)
    expect([response.status, error.code]).toEqual([400, "content_policy_violation"])
    expect(upstream.requests.length - before).toBe(1)
  })
})

describe("when everyone fails", () => {
  it("says so with every attempt, and that a repetition is pointless", async () => {
    const { response, settled } = await ask(asking(["second-500", "status-529"]))
    const { error } = await bodyOf(response)
    expect([response.status, error.type, error.code]).toEqual([502, "provider_error", "all_providers_failed"])
    expect(response.headers.get("x-should-retry")).toBe("false")
    expect(new Set(error.metadata?.attempts.map((attempt) => attempt.model))).toEqual(
      new Set(["second-500/m", "status-529/m"])
    )
    expect([settled.state, settled.actual, settled.record.status]).toEqual(["void", 0, "error"])
  })

  it("is asked once by the official client, whatever its own retries", async () => {
    const before = gateway.settlements.length
    const client = new OpenAI({ apiKey: gateway.client.apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 2 })
    const failure = await client.chat.completions
      .create({ ...asking(["second-500", "status-529"]), messages, model: "auto" })
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(OpenAI.InternalServerError)
    await gateway.settled(before + 1)
    expect(gateway.settlements.length).toBe(before + 1)
  })

  it("names the soonest end when all are rate limited", async () => {
    const { response } = await ask({ model: "rate-limited/m", messages })
    expect(response.status).toBe(502)
    expect(response.headers.get("retry-after")).toBe("7")
    expect(response.headers.get("x-should-retry")).toBeNull()
  })
})

describe("fallback switched off by the project", () => {
  const configuration = {
    id: "00000000-0000-7000-8000-00000000000a",
    slug: "strict",
    models: { allow: null, deny: [] },
    providers: { allow: null, deny: [] },
    maxInputPriceMicroUsdPerMillion: null,
    maxOutputPriceMicroUsdPerMillion: null,
    alpha: 1,
    enableFallback: false,
    isActive: true
  }
  it.each([
    ["in its policy", { policy: { enableFallback: false } }, "auto"],
    ["in a routing configuration", { configurations: [configuration] }, "auto:strict"]
  ])("%s cannot be switched on by the request", async (_, rules, modelName) => {
    const strict = await startInProcess({
      ...rules,
      origins: { first: upstream.baseUrl, good: upstream.baseUrl },
      models: [
        model({ id: "first/m", providerId: "first", upstreamModel: "status-503", quality: 0.9 }),
        model({ id: "good/m", providerId: "good", upstreamModel: "ok", quality: 0.3 })
      ]
    })
    const response = await strict.post("/v1/chat/completions", {
      model: modelName,
      alpha: 1,
      enable_fallback: true,
      messages
    })
    const { error } = await bodyOf(response)
    expect([response.status, error.code]).toEqual([502, "provider_error"])
    expect(error.metadata?.attempts).toHaveLength(1)
    await strict.stop()
  })
})
