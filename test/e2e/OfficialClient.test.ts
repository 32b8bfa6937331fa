import * as Schema from "effect/Schema"
import OpenAI, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError
} from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { RouterMetadata } from "../../src/domain/RouterMetadata.ts"
import { type Service, startService } from "../support/Service.ts"

const concurrentRequests = 4

let service: Service
let chat: OpenAI.Chat.Completions

beforeAll(async () => {
  service = await startService({
    config: {
      rateLimits: { key: { concurrentRequests } },
      // dearer than the whole balance
      models: { "sim2/deep": { inputPriceMicroUsdPerMillion: 1e12, outputPriceMicroUsdPerMillion: 1e12 } }
    }
  })
  chat = service.client.chat.completions
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
})

const saying = (content: string): Array<OpenAI.ChatCompletionMessageParam> => [{ role: "user", content }]

const metadataSchema = Schema.decodeUnknownSync(RouterMetadata, { onExcessProperty: "error" })
const metadataOf = (answer: object): RouterMetadata =>
  metadataSchema("router_metadata" in answer ? answer.router_metadata : undefined)

describe("a non-streaming response", () => {
  it("has the shape, the id of its request and the whole story of its routing", async () => {
    const { data, response } = await chat
      .create({ model: "auto", messages: saying("Say hello."), user: "user-1" })
      .withResponse()
    expect(data.choices).toHaveLength(1)
    expect(data.choices[0]).toMatchObject({
      index: 0,
      finish_reason: "stop",
      message: { role: "assistant", content: "hello", refusal: null }
    })
    expect(data.object).toBe("chat.completion")
    expect(data.usage?.total_tokens).toBe((data.usage?.prompt_tokens ?? 0) + (data.usage?.completion_tokens ?? 0))

    const requestId = response.headers.get("x-request-id") ?? ""
    expect(requestId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(data.id).toBe(`chatcmpl-${requestId.replaceAll("-", "")}`)
    expect(data).toHaveProperty("_request_id", requestId)

    const metadata = metadataOf(data)
    expect(metadata).toMatchObject({
      request_id: requestId,
      requested_model: "auto",
      model: data.model,
      routing_config: null,
      alpha: 0.65,
      first_content_ms: null,
      fallback: { enabled: true, used: false },
      dropped_parameters: ["user"]
    })
    expect(data.model).toBe(`${metadata.provider}/${metadata.upstream_model}`)
    expect(metadata.candidate_pool.models[0]).toBe(data.model)
    expect(metadata.candidate_pool.models.every((id) => id.startsWith("sim"))).toBe(true)
    expect(metadata.attempts).toHaveLength(1)
    expect(metadata.attempts[0]).toMatchObject({
      provider: metadata.provider,
      model: data.model,
      status: "success",
      error: null
    })
    expect(metadata.cost).toMatchObject({ currency: "USD", basis: "charged" })
    expect(metadata.cost.amount_microusd).toBeGreaterThan(0)
    expect(metadata.attempts[0]?.cost).toEqual(metadata.cost)
  })

  it("of a concrete model is from that model, without routing", async () => {
    const metadata = metadataOf(await chat.create({ model: "sim/best", messages: saying("Say hello.") }))
    expect(metadata).toMatchObject({
      requested_model: "sim/best",
      model: "sim/best",
      reason: "pinned_model",
      alpha: null,
      fallback: { enabled: false, used: false },
      candidate_pool: { models: ["sim/best"] }
    })
  })

  it("can be cut by its cap on tokens", async () => {
    const cut = await chat.create({ model: "sim/fast", messages: saying("count to 100"), max_completion_tokens: 5 })
    expect(cut.choices[0]?.finish_reason).toBe("length")
    expect(cut.usage?.completion_tokens).toBe(5)
  })

  it("follows alpha from the cheapest to the best", async () => {
    const modelAt = async (alpha: number) =>
      (await service.post("/v1/chat/completions", { model: "auto", alpha, messages: saying("hi") })).json()
    expect(await modelAt(0)).toMatchObject({
      model: "sim/fast",
      router_metadata: { reason: "cheapest_eligible", alpha: 0 }
    })
    expect(await modelAt(1)).toMatchObject({
      model: "sim/best",
      router_metadata: { reason: "highest_quality", alpha: 1 }
    })
  })
})

describe("a streamed answer", () => {
  const collect = async (options: OpenAI.ChatCompletionStreamOptions | null | undefined) => {
    const stream = await chat.create({
      model: "sim/fast",
      messages: saying("count to 20"),
      stream: true,
      ...(options === undefined ? {} : { stream_options: options })
    })
    const chunks: Array<OpenAI.ChatCompletionChunk> = []
    for await (const chunk of stream) chunks.push(chunk)
    return chunks
  }

  it("adds up to the plain one", async () => {
    const streamed = await chat.stream({ model: "sim/fast", messages: saying("count to 20") }).finalChatCompletion()
    const plain = await chat.create({ model: "sim/fast", messages: saying("count to 20") })
    expect(streamed.choices[0]?.message.content).toBe(plain.choices[0]?.message.content)
    expect(streamed.choices[0]?.finish_reason).toBe("stop")
  })

  it("begins with the role, has one id, and its metadata on the finish chunk alone", async () => {
    const chunks = await collect(undefined)
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "" })
    expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.object} ${chunk.model} ${chunk.created}`)).size).toBe(1)
    expect(chunks.every((chunk) => chunk.usage === undefined && chunk.choices.length === 1)).toBe(true)
    expect(chunks.filter((chunk) => "router_metadata" in chunk)).toEqual([chunks.at(-1)])
    const last = chunks.at(-1)
    expect(last?.choices[0]?.finish_reason).toBe("stop")
    const metadata = metadataOf(last ?? {})
    expect(metadata.first_content_ms).toBeGreaterThan(0)
    expect(metadata.latency_ms).toBeGreaterThanOrEqual(metadata.first_content_ms ?? Number.POSITIVE_INFINITY)
    expect(metadata.cost.basis).toBe("charged")
  })

  it("tells its usage where that is asked for: null on every chunk, then one chunk without choices", async () => {
    const chunks = await collect({ include_usage: true })
    const [usage, finish] = [chunks.at(-1), chunks.at(-2)]
    expect(usage?.choices).toEqual([])
    expect(usage?.usage?.completion_tokens).toBeGreaterThan(10)
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null && chunk.choices.length === 1)).toBe(true)
    expect(metadataOf(usage ?? {})).toEqual(metadataOf(finish ?? {}))
  })

  it.each([[{ include_usage: false }], [{}], [null]])("tells none with %j", async (options) => {
    const chunks = await collect(options)
    expect(chunks.some((chunk) => "usage" in chunk)).toBe(false)
  })

  it("is an event stream that nobody caches, ended by [DONE]", async () => {
    const response = await service.post("/v1/chat/completions", { model: "auto", stream: true, messages: saying("hi") })
    expect(response.headers.get("content-type")).toContain("text/event-stream")
    expect(response.headers.get("cache-control")).toContain("no-transform")
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
    expect((await response.text()).endsWith("data: [DONE]\n\n")).toBe(true)
  })
})

describe("tools and structure", () => {
  it("run a tool and answer from its result", async () => {
    const asked: Array<unknown> = []
    const runner = chat.runTools({
      model: "auto",
      messages: saying("What is the weather in Rome?"),
      tools: [
        {
          type: "function",
          function: {
            name: "get_weather",
            description: "The weather at a place.",
            parse: JSON.parse,
            parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
            function: (given: unknown) => {
              asked.push(given)
              return "19 degrees and rain"
            }
          }
        }
      ]
    })
    expect(await runner.finalContent()).toContain("19 degrees and rain")
    expect(asked).toEqual([{ city: "Rome" }])
  })

  it("stream the arguments of a tool call in pieces", async () => {
    const answer = await chat
      .stream({
        model: "sim/best",
        messages: saying("What is the weather in Rome?"),
        tool_choice: "required",
        tools: [
          {
            type: "function",
            function: {
              name: "get_weather",
              parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
            }
          }
        ]
      })
      .finalChatCompletion()
    const [call, ...others] = answer.choices[0]?.message.tool_calls ?? []
    expect(others).toEqual([])
    expect(answer.choices[0]?.finish_reason).toBe("tool_calls")
    expect(call).toMatchObject({ type: "function", function: { name: "get_weather", arguments: `{"city":"Rome"}` } })
  })

  it("parse into the shape of a JSON schema", async () => {
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer", minimum: 18 } },
      required: ["name", "age"],
      additionalProperties: false
    }
    const answer = await chat.parse({
      model: "auto",
      messages: saying(`Make up a person called "Ada", 36 years old`),
      response_format: { type: "json_schema", json_schema: { name: "person", strict: true, schema } }
    })
    expect(answer.choices[0]?.message.parsed).toEqual({ name: "Ada", age: 36 })
  })
})

describe("errors", () => {
  const failing = async (body: object, client = service.client) => {
    const failure: unknown = await client.chat.completions
      .create({ model: "auto", messages: saying("hi"), ...body })
      .catch((error: unknown) => error)
    if (!(failure instanceof APIError)) throw new Error(`not an API error: ${String(failure)}`)
    expect(failure.requestID).toMatch(/^[0-9a-f-]{36}$/)
    return failure
  }

  it("AuthenticationError for a wrong key", async () => {
    const stranger = new OpenAI({ apiKey: "wrong", baseURL: `${service.url}/v1`, maxRetries: 0 })
    const failure = await failing({}, stranger)
    expect(failure).toBeInstanceOf(AuthenticationError)
    expect(failure).toMatchObject({ code: "invalid_api_key", type: "authentication_error" })
  })

  it("NotFoundError for an unknown model, routing configuration, or nothing allowed", async () => {
    const unknown = await failing({ model: "sim/none" })
    expect(unknown).toBeInstanceOf(NotFoundError)
    expect(unknown).toMatchObject({ code: "model_not_found", param: "model" })
    expect(await failing({ model: "auto:none" })).toMatchObject({ status: 404, code: "model_not_found" })
    const config = { routing_config: "none" }
    expect(await failing(config)).toMatchObject({
      status: 404,
      code: "routing_config_not_found",
      param: "routing_config"
    })
    const nothing = { models: { allow: [] } }
    expect(await failing(nothing)).toMatchObject({ status: 404, code: "no_eligible_model" })
  })

  it("BadRequestError with the field that is wrong", async () => {
    const failure = await failing({ temperature: 1, n: 2 })
    expect(failure).toBeInstanceOf(BadRequestError)
    expect(failure).toMatchObject({ type: "invalid_request_error", param: "n" })
    const effort = await failing({ model: "sim/fast", reasoning_effort: "high" })
    expect(effort).toMatchObject({ status: 400, param: "reasoning_effort" })
  })

  it("APIError 402 for a call that is dearer than the balance", async () => {
    expect(await failing({ model: "sim2/deep" })).toMatchObject({
      status: 402,
      type: "insufficient_quota",
      code: "insufficient_balance",
      error: { metadata: { reason: "too_large", scope: "account" } }
    })
  })

  it("APIError 502 when the provider fails, told once and not repeated by the client", async () => {
    const persistent = new OpenAI({ apiKey: service.client.apiKey, baseURL: `${service.url}/v1`, maxRetries: 2 })
    const failure = await failing({ model: "sim/overloaded" }, persistent)
    expect(failure).toMatchObject({ status: 502, type: "provider_error", code: "provider_error" })
    expect(failure.headers?.get("x-should-retry")).toBe("false")
  })

  it("RateLimitError with Retry-After beyond the limit", async () => {
    const leaving = new AbortController()
    const stalled = Array.from({ length: concurrentRequests + 1 }, () =>
      chat
        .create({ model: "sim/stall", messages: saying("hi") }, { signal: leaving.signal })
        .catch((error: unknown) => error)
    )
    // all but one wait for an answer that never comes
    const failure = await Promise.race(stalled)
    leaving.abort()
    expect(failure).toBeInstanceOf(RateLimitError)
    expect(failure).toMatchObject({ code: "rate_limit_exceeded", type: "rate_limit_error" })
    expect(failure instanceof APIError && Number(failure.headers?.get("retry-after"))).toBeGreaterThanOrEqual(1)
    const others = (await Promise.all(stalled)).filter((each) => each !== failure)
    expect(others).toEqual(others.map(() => expect.any(APIUserAbortError)))
  })
})
