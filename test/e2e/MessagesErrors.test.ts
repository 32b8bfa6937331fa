// Promise: Anthropic's client gets the errors of its own format, and tries again where that can help.
import Anthropic from "@anthropic-ai/sdk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Timers } from "../../src/domain/Timers.ts"
import { LoadShedding } from "../../src/http/overload/LoadShedding.ts"
import { model } from "../provider/protocols/calls.ts"
import { callerKey, type InProcess, type InProcessOptions, startInProcess } from "../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

const noLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }

let upstream: Upstream
const gateways: Array<InProcess> = []
const gatewayOf = async (more: Partial<InProcessOptions> = {}): Promise<InProcess> => {
  const names = ["ok", "held", "status-500", "error-mid", "cut-mid"]
  const gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: names.map((name) => model({ id: `one/${name}`, providerId: "one", upstreamModel: name, alias: name })),
    ...more
  })
  gateways.push(gateway)
  return gateway
}
let gateway: InProcess

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await gatewayOf()
})
afterAll(async () => {
  for (const one of gateways) {
    expect(await one.held()).toBe(0)
    expect(await one.audit()).toEqual([])
    await one.stop()
  }
  await upstream.stop()
})

type Options = ConstructorParameters<typeof Anthropic>[0]
const clientOf = ({ url }: InProcess, options: Options = {}) =>
  new Anthropic({ apiKey: callerKey, baseURL: url, maxRetries: 0, ...options })
const asked = { model: "one/ok", max_tokens: 100, messages: [{ role: "user" as const, content: "hi" }] }
const tokensOf = { model: "one/ok", messages: asked.messages }

/** What the client throws. */
const thrown = async (answer: Promise<unknown>) => {
  const error = await answer.then(
    () => undefined,
    (failure: unknown) => failure
  )
  if (!(error instanceof Anthropic.APIError)) throw new Error(`no error of the client: ${String(error)}`)
  const body = error.error as { readonly type: string; readonly error: Readonly<Record<string, unknown>> }
  expect(body.type).toBe("error")
  expect(error.message).toContain(String(body.error["message"]))
  return { error, told: body.error, status: error.status }
}

describe("a typed error", () => {
  it("of status 401: AuthenticationError, for a key in either header", async () => {
    for (const options of [{ apiKey: "no" }, { apiKey: null, authToken: "no" }]) {
      const client = clientOf(gateway, options)
      for (const answer of [client.messages.create(asked), client.messages.countTokens(tokensOf)]) {
        const { error, status, told } = await thrown(answer)
        expect(error).toBeInstanceOf(Anthropic.AuthenticationError)
        expect([status, told["type"], told["code"]]).toEqual([401, "authentication_error", "invalid_api_key"])
        expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/)
      }
    }
  })

  it("of status 400: BadRequestError, which names the field as it was sent", async () => {
    const client = clientOf(gateway)
    for (const [more, param] of [
      [{ max_tokens: 0 }, "max_tokens"],
      [{ messages: [{ role: "robot", content: "hi" }] }, "messages[0].role"],
      [{ tools: [{ type: "bash_20250124", name: "bash" }] }, "tools[0]"],
      [{ output_config: { effort: "max" } }, "output_config.effort"]
    ] as const) {
      const { error, told } = await thrown(client.messages.create({ ...asked, ...more } as typeof asked))
      expect(error).toBeInstanceOf(Anthropic.BadRequestError)
      expect([told["type"], told["param"]]).toEqual(["invalid_request_error", param])
    }
  })

  it("of status 404: NotFoundError, for a model and for a path that are not there", async () => {
    const client = clientOf(gateway)
    const unknown = await thrown(client.messages.create({ ...asked, model: "one/nope" }))
    expect(unknown.error).toBeInstanceOf(Anthropic.NotFoundError)
    expect([unknown.told["type"], unknown.told["code"]]).toEqual(["not_found_error", "model_not_found"])
    const batches = await thrown(client.messages.batches.create({ requests: [] }))
    expect(batches.error).toBeInstanceOf(Anthropic.NotFoundError)
    expect(batches.told["code"]).toBe("unknown_path")
  })

  it("of status 402: an APIError of type billing_error", async () => {
    const poor = await gatewayOf({ creditMicroUsd: 1 })
    const { status, told } = await thrown(clientOf(poor).messages.create(asked))
    expect([status, told["type"], told["code"]]).toEqual([402, "billing_error", "insufficient_balance"])
  })

  it("of a provider that fails: InternalServerError, which the client does not try again", async () => {
    const before = upstream.requests.length
    const client = clientOf(gateway, { maxRetries: 2 })
    const { error, status, told } = await thrown(client.messages.create({ ...asked, model: "one/status-500" }))
    expect(error).toBeInstanceOf(Anthropic.InternalServerError)
    expect([status, told["type"]]).toEqual([502, "api_error"])
    // the gateway's own attempts: one candidate, retried
    expect(upstream.requests.length - before).toBe(2)
  })

  it.each(["error-mid", "cut-mid"])(
    "of a stream that breaks (%s) is thrown by the helpers for streams",
    async (name) => {
      const client = clientOf(gateway)
      let text = ""
      const stream = client.messages.stream({ ...asked, model: `one/${name}` }).on("text", (piece) => {
        text += piece
      })
      const { status, told } = await thrown(stream.finalMessage())
      expect([status, told["type"], text]).toEqual([undefined, "api_error", "partial"])
    }
  )
})

describe("the client tries again", () => {
  it("after a 429 with Retry-After, and gets the answer of the request that was running", async () => {
    const named = { headers: { "idempotency-key": "one of the client" } }
    const first = clientOf(gateway).messages.create({ ...asked, model: "one/held" }, named)
    await upstream.received(upstream.requests.length + 1)
    const { error, told } = await thrown(clientOf(gateway).messages.create({ ...asked, model: "one/held" }, named))
    expect(error).toBeInstanceOf(Anthropic.RateLimitError)
    expect([told["type"], told["code"]]).toEqual(["rate_limit_error", "idempotent_request_in_progress"])
    expect(error.headers?.get("retry-after")).toBe("1")
    const patient = clientOf(gateway, { maxRetries: 3 }).messages.create({ ...asked, model: "one/held" }, named)
    upstream.release()
    const [answer, replayed] = [await first, await patient]
    expect(replayed.content).toEqual(answer.content)
    expect(replayed.id).toBe(answer.id)
  })

  it("after the 429 of a rate limit only as long as it has retries left", async () => {
    const limited = await gatewayOf({ rateLimits: { key: { ...noLimit, requestsPerMinute: 1 }, project: noLimit } })
    await clientOf(limited).messages.create(asked)
    const { error, told } = await thrown(clientOf(limited).messages.countTokens(tokensOf))
    expect(error).toBeInstanceOf(Anthropic.RateLimitError)
    expect([told["type"], told["code"]]).toEqual(["rate_limit_error", "rate_limit_exceeded"])
    expect(Number(error.headers?.get("retry-after"))).toBeGreaterThanOrEqual(1)
  })

  it("after the 503 of an overloaded node, which is an overloaded_error", async () => {
    let rejections = 0
    const shedding = Layer.effect(
      LoadShedding,
      Effect.map(LoadShedding, (real) => ({ ...real, rejects: () => rejections-- > 0 }))
    ).pipe(Layer.provide(LoadShedding.layer), Layer.provide(Timers.layer))
    const busy = await gatewayOf({ loadShedding: shedding })
    rejections = 1
    const { error, status, told } = await thrown(clientOf(busy).messages.create(asked))
    expect(error).toBeInstanceOf(Anthropic.InternalServerError)
    expect([status, told["type"], told["code"]]).toEqual([503, "overloaded_error", "overloaded"])
    rejections = 1
    const answer = await clientOf(busy, { maxRetries: 1 }).messages.create(asked)
    expect(answer.stop_reason).toBe("end_turn")
  })
})

describe("the list of models", () => {
  it("takes the bearer, which the client sends for either kind of key, and says so where the key is in x-api-key", async () => {
    for (const options of [{}, { apiKey: null, authToken: callerKey }]) {
      const ids = []
      for await (const { id } of clientOf(gateway, options).models.list()) ids.push(id)
      expect(ids).toContain("one/ok")
    }
    for (const path of ["/v1/models", "/v1/models/one/ok"]) {
      const response = await fetch(gateway.url + path, {
        headers: { "x-api-key": callerKey, "anthropic-version": "2023-06-01" }
      })
      expect(response.status).toBe(401)
      const { error, type } = (await response.json()) as { error: Record<string, unknown>; type: string }
      expect([type, error["type"]]).toEqual(["error", "authentication_error"])
      expect(error["message"]).toContain("as a bearer token")
    }
  })
})

describe("a conversation that is to stay on the server", () => {
  it("is refused in the way by which the client knows to send all of it", async () => {
    const thread = clientOf(gateway).beta.messages.thread({ model: "one/ok", max_tokens: 100 })
    const { error, told } = await thrown(thread.send(asked.messages))
    expect(error).toBeInstanceOf(Anthropic.BadRequestError)
    expect([told["code"], told["param"]]).toEqual(["unsupported_parameter", "thread"])
    const patient = clientOf(gateway).beta.messages.thread({
      model: "one/ok",
      max_tokens: 100,
      unsupportedRequestBehavior: "continue_unthreaded"
    })
    for (const _ of [1, 2]) expect((await patient.send(asked.messages)).stop_reason).toBe("end_turn")
    expect(upstream.requests.at(-1)?.body["messages"]).toHaveLength(3)
    const none = await gateway.post("/v1/messages", { ...asked, thread: null })
    expect(none.status).toBe(200)
  })
})

it("a node that stops refuses new messages with overloaded_error, and finishes what runs", async () => {
  const held = await startUpstream()
  const stopping = await gatewayOf({ drainGrace: "30 seconds", origins: { one: held.baseUrl } })
  const running = clientOf(stopping).messages.create({ ...asked, model: "one/held" })
  await held.received(1)
  const drained = stopping.drain()
  for (const answer of [clientOf(stopping).messages.create(asked), clientOf(stopping).messages.countTokens(tokensOf)]) {
    const { status, told } = await thrown(answer)
    expect([status, told["type"], told["code"]]).toEqual([503, "overloaded_error", "shutting_down"])
  }
  held.release()
  expect((await running).content).toMatchObject([{ type: "text", text: "released" }])
  await drained
  await held.stop()
})
