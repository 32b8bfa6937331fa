import type OpenAI from "openai"
import { APIError, BadRequestError } from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Service, startService } from "../support/Service.ts"
import { start as startUpstream, type Upstream } from "../support/Upstream.ts"

const upstreamModels = ["ok", "status-503"]

let upstream: Upstream
let service: Service
let responses: OpenAI.Responses

beforeAll(async () => {
  upstream = await startUpstream()
  service = await startService({
    env: { SIMULATED_PROVIDERS: "on" },
    config: {
      providers: [
        {
          id: "one",
          protocol: "openai-chat",
          baseUrl: upstream.baseUrl,
          models: upstreamModels.map((name) => ({
            id: `one/${name}`,
            upstreamModel: name,
            inputPriceMicroUsdPerMillion: 1,
            outputPriceMicroUsdPerMillion: 1,
            contextTokens: 100_000,
            outputTokens: 4_000,
            quality: 1
          }))
        }
      ],
      routingConfigurations: [
        { slug: "broken", models: ["one/status-503", "sim/fast"], alpha: 1 },
        { slug: "cheap", models: ["sim/fast"] }
      ]
    }
  })
  responses = service.client.responses
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  await upstream.stop()
})

const weather: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "weather",
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: false
}

const failureOf = async (call: PromiseLike<unknown>): Promise<APIError> => {
  const error = await Promise.resolve(call).then(
    () => undefined,
    (failure: unknown) => failure
  )
  if (error instanceof APIError) return error
  throw new Error("it did not fail as the client reports failures", { cause: error })
}

/** A body that the client's types do not allow, sent by the client all the same. */
const create = (body: Readonly<Record<string, unknown>>): Promise<OpenAI.Responses.Response> =>
  service.client.post("/responses", { body: { model: "sim/fast", input: "Say: hi", ...body } })

const metadataOf = (answer: object): Readonly<Record<string, unknown>> =>
  "router_metadata" in answer ? Object(answer.router_metadata) : {}

describe("a plain response", () => {
  it("has its text, its id and the story of its routing", async () => {
    const { data, response } = await responses.create({ model: "auto:cheap", input: "Say: hello" }).withResponse()
    expect(data).toMatchObject({
      object: "response",
      status: "completed",
      output_text: "hello",
      error: null,
      incomplete_details: null,
      previous_response_id: null
    })
    const requestId = response.headers.get("x-request-id") ?? ""
    expect(data.id).toBe(`resp_${requestId.replaceAll("-", "")}`)
    expect(data).toHaveProperty("_request_id", requestId)
    expect(metadataOf(data)).toMatchObject({ request_id: requestId, requested_model: "auto:cheap", model: "sim/fast" })
    const { input_tokens = 0, output_tokens = 0, total_tokens } = data.usage ?? {}
    expect([input_tokens > 0, output_tokens > 0, total_tokens]).toEqual([true, true, input_tokens + output_tokens])
  })

  it("is incomplete when the output cap cuts it", async () => {
    const cut = await responses.create({ model: "sim/fast", input: "count to 100", max_output_tokens: 16 })
    expect([cut.status, cut.incomplete_details]).toEqual(["incomplete", { reason: "max_output_tokens" }])
    expect(cut.usage?.output_tokens).toBe(16)
  })

  it("follows a JSON schema", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
    const format = { type: "json_schema" as const, name: "place", schema, strict: true }
    const answer = await responses.create({ model: "sim/fast", input: "A trip to Rome", text: { format } })
    expect(JSON.parse(answer.output_text)).toEqual({ city: "Rome" })
    expect(answer.text?.format).toMatchObject(format)
  })
})

describe("tools", () => {
  const question = { role: "user" as const, content: "What is the weather in Rome?" }

  it("come back in a loop that replays the call and its output", async () => {
    const asked = await responses.create({ model: "sim/fast", input: [question], tools: [weather] })
    const call = asked.output.find((item) => item.type === "function_call")
    expect(call).toMatchObject({ name: "weather", arguments: '{"city":"Rome"}', status: "completed" })
    const { call_id = "" } = call ?? {}
    const output = { type: "function_call_output" as const, call_id, output: "21 degrees" }
    const input = [question, ...asked.output, output] as OpenAI.Responses.ResponseInput
    expect((await responses.create({ model: "sim/fast", input, tools: [weather] })).output_text).toContain("21 degrees")
  })

  it("are replayed without id and status as well", async () => {
    const call = { type: "function_call" as const, call_id: "call_1", name: "weather", arguments: '{"city":"Rome"}' }
    const output = { type: "function_call_output" as const, call_id: "call_1", output: "21 degrees" }
    const answer = await responses.create({ model: "sim/fast", input: [question, call, output], tools: [weather] })
    expect(answer.output_text).toContain("21 degrees")
  })

  it("that are hosted searches are removed and named in a header, once each", async () => {
    const { data, response } = await responses
      .create({
        model: "sim/fast",
        input: "Say: hi",
        tools: [{ type: "web_search" }, weather, { type: "web_search" }, { type: "web_search_preview" }],
        tool_choice: { type: "web_search_preview" }
      })
      .withResponse()
    expect(response.headers.get("x-service-dropped-tools")).toBe("web_search, web_search_preview")
    expect(data.tools.map((tool) => tool.type)).toEqual(["function"])
    expect([data.tool_choice, data.output_text]).toEqual(["auto", "hi"])
    const { response: without } = await responses.create({ model: "sim/fast", input: "Say: hi" }).withResponse()
    expect(without.headers.has("x-service-dropped-tools")).toBe(false)
  })

  it("of a namespace are called by their own name", async () => {
    const tools = [{ type: "namespace", name: "home", description: "The home", tools: [weather] }]
    const { output } = await create({ tools, input: [question] })
    expect(output).toMatchObject([{ type: "function_call", name: "weather", namespace: "home" }])
  })

  it("of any other hosted kind are refused", async () => {
    const refused = await failureOf(create({ tools: [weather, { type: "file_search", vector_store_ids: ["x"] }] }))
    expect([refused.status, refused.code, refused.param]).toEqual([400, "unsupported_tool", "tools[1]"])
  })
})

describe("a request", () => {
  it.each([
    ["previous_response_id", "resp_1"],
    ["conversation", "conv_1"],
    ["prompt", { id: "pmpt_1" }],
    ["context_management", [{ type: "compaction" }]],
    ["background", true]
  ])("with %s is refused by that name, and taken when it is null", async (param, value) => {
    const refused = await failureOf(create({ [param]: value }))
    expect(refused).toBeInstanceOf(BadRequestError)
    expect([refused.code, refused.param]).toEqual(["unsupported_parameter", param])
    expect((await create({ [param]: null })).status).toBe("completed")
  })

  it("that refers to stored items is told to send whole ones", async () => {
    const input = [
      { role: "user", content: "hi" },
      { type: "item_reference", id: "msg_1" }
    ]
    const refused = await failureOf(create({ input }))
    expect([refused.status, refused.code, refused.param]).toEqual([400, "unsupported_parameter", "input[1]"])
    expect(refused.message).toContain("store: false")
  })

  it.each([
    [{ input: undefined }, "missing_required_parameter", "input"],
    [{ model: undefined }, "missing_required_parameter", "model"],
    [{ input: [] }, "invalid_value", "input"],
    [{ input: [{ type: "computer_call" }] }, "unsupported_value", "input[0].type"],
    [{ input: [{ type: "function_call_output", call_id: "x", output: "" }] }, "invalid_value", "input[0].call_id"],
    [{ temperature: "hot" }, "invalid_type", "temperature"],
    [{ text: { format: { type: "json_schema", name: "x" } } }, "missing_required_parameter", "text.format.schema"],
    [{ stream: null }, "invalid_type", "stream"]
  ])("%o is refused with %s at %s", async (body, code, param) => {
    const refused = await failureOf(create(body))
    expect([refused.status, refused.code, refused.param]).toEqual([400, code, param])
  })

  it("reaches the provider as its known fields, instructions first, and nothing else", async () => {
    await create({
      model: "one/ok",
      instructions: "Be kind.",
      input: [
        { role: "user", content: [{ type: "input_text", text: "Hello" }] },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "of another gateway" },
        { role: "assistant", content: [{ type: "output_text", text: "Yes?", annotations: [] }], phase: "final_answer" },
        { role: "user", content: "Bye" }
      ],
      max_output_tokens: 64,
      store: true,
      metadata: { of: "the client" },
      include: ["reasoning.encrypted_content"],
      client_metadata: { secret: "x" },
      unknown_field: { nested: true }
    })
    const { body } = upstream.requests.at(-1) ?? {}
    expect(body).toEqual({
      model: "ok",
      stream: false,
      max_tokens: 64,
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hello" },
        { role: "assistant", content: "Yes?" },
        { role: "user", content: "Bye" }
      ]
    })
  })

  it("that asks to be stored is answered as not stored", async () => {
    const stored = await create({ store: true, metadata: { of: "the client" } })
    expect(stored).toMatchObject({ store: false, background: false, metadata: { of: "the client" } })
    const again = await failureOf(service.client.responses.retrieve(stored.id))
    expect([again.status, again.code]).toEqual([404, "unknown_path"])
  })
})

describe("routing", () => {
  const modelFor = async (body: Readonly<Record<string, unknown>>): Promise<string> =>
    (await create({ model: "auto", ...body })).model

  it("follows alpha, restrictions and price caps as in chat completions", async () => {
    const own = { provider: { deny: ["one"] } }
    expect(await modelFor({ ...own, alpha: 0 })).toBe("sim/fast")
    expect(await modelFor({ ...own, alpha: 1 })).toBe("sim/best")
    expect(await modelFor({ ...own, alpha: 1, models: { deny: ["sim/best"] } })).toMatch(/^sim2?\/deep$/)
    expect(await modelFor({ provider: { allow: ["sim2"] } })).toMatch(/^sim2\//)
    expect(await modelFor({ ...own, alpha: 1, max_output_price_microusd_per_million: 400_000 })).toBe("sim/fast")
    expect(await modelFor({ ...own, alpha: 1, max_input_price_microusd_per_million: 100_000 })).toBe("sim/fast")
    const none = await failureOf(create({ model: "auto", models: { allow: [] } }))
    expect([none.status, none.code]).toEqual([404, "no_eligible_model"])
  })

  it("follows a routing configuration by slug, in the model or beside it", async () => {
    expect(await modelFor({ model: "auto:cheap" })).toBe("sim/fast")
    expect(await modelFor({ routing_config: "cheap" })).toBe("sim/fast")
    const unknown = await failureOf(create({ model: "auto", routing_config: "other" }))
    expect([unknown.status, unknown.code]).toEqual([404, "routing_config_not_found"])
  })

  it("falls back unless it may not", async () => {
    const answered = await create({ model: "auto:broken" })
    expect(answered).toMatchObject({ model: "sim/fast", output: [{ content: [{ text: "hi" }] }] })
    expect(metadataOf(answered)).toMatchObject({
      fallback: { enabled: true, used: true },
      attempts: [
        { model: "one/status-503", status: "error" },
        { model: "sim/fast", status: "success" }
      ]
    })
    const failed = await failureOf(create({ model: "auto:broken", enable_fallback: false }))
    expect([failed.status, failed.type, failed.code]).toEqual([502, "provider_error", "provider_error"])
    expect(failed.headers?.get("x-should-retry")).toBe("false")
  })
})
