import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { model } from "../../provider/protocols/calls.ts"
import { type InProcess, startInProcess } from "../../support/InProcess.ts"
import { start as startUpstream, type Upstream } from "../../support/Upstream.ts"

interface ErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string
  }
}

let upstream: Upstream
let gateway: InProcess

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: [model({ id: "one/ok", providerId: "one", upstreamModel: "ok", alias: "ok" })]
  })
})

afterAll(async () => {
  // nothing here may have reached the money or a provider
  expect(gateway.settlements).toEqual([])
  expect(upstream.requests).toEqual([])
  expect(await gateway.held()).toBe(0)
  await gateway.stop()
  await upstream.stop()
})

const valid = { model: "one/ok", messages: [{ role: "user", content: "hi" }] }

const expectRefused = async (response: Response, param: string | null, code?: string): Promise<void> => {
  const { error }: ErrorBody = JSON.parse(await response.text())
  expect([response.status, error.type, error.param]).toEqual([400, "invalid_request_error", param])
  if (code !== undefined) expect(error.code).toBe(code)
  expect(error.message).not.toBe("")
  expect(response.headers.get("content-type")).toContain("application/json")
  expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
}

const [text, number, object, list] = ["text", 5, { a: 1 }, [1]] as const
const strings = [number, true, object, list]
const numbers = [text, true, object, list]
const booleans = [text, number, object, list]
const objects = [text, number, true, list]

/** The specification's table: what each field must not be. `null` is a fault only where it says so. */
const wrong: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  model: [null, ...strings],
  messages: [null, text, number, object, []],
  tools: [text, number, object, [text]],
  tool_choice: ["sometimes", number, true, list],
  stream: [null, ...booleans],
  token_doctor: [null, ...booleans],
  stream_options: [text, number, list],
  temperature: numbers,
  top_p: numbers,
  max_tokens: [0, -1, 1.5, ...numbers],
  max_completion_tokens: [0, -1, 1.5, ...numbers],
  stop: [number, true, object],
  frequency_penalty: [-2.1, 2.1, ...numbers],
  presence_penalty: [-2.1, 2.1, ...numbers],
  n: [0, 2, 1.5, ...numbers],
  seed: [1.5, ...numbers],
  logprobs: booleans,
  top_logprobs: [-1, 21, 1.5, ...numbers],
  parallel_tool_calls: booleans,
  response_format: objects,
  reasoning_effort: ["huge", 0, 101, 1.5, true, object, list],
  reasoning: objects,
  verbosity: ["loud", number, object, list],
  service_tier: strings,
  metadata: [text, number, list, { a: 1 }],
  store: booleans,
  safety_identifier: strings,
  prompt_cache_key: strings,
  prompt_cache_options: objects,
  prompt_cache_retention: strings,
  prediction: objects,
  modalities: [text, number, object],
  audio: objects,
  moderation: objects,
  web_search_options: objects,
  user: strings,
  models: [text, number, list],
  provider: [text, number, list],
  routing_config: ["", "x".repeat(121), ...strings],
  alpha: [-0.1, 1.1, ...numbers],
  max_input_price_microusd_per_million: [-1, 1.5, ...numbers],
  max_output_price_microusd_per_million: [-1, 1.5, ...numbers],
  enable_fallback: booleans
}

describe("a field with a wrong value is named", () => {
  it.each(Object.entries(wrong))("%s", async (field, values) => {
    for (const value of values) {
      const response = await gateway.post("/v1/chat/completions", { ...valid, [field]: value })
      const { error }: ErrorBody = JSON.parse(await response.clone().text())
      const param = error.param ?? ""
      // an entry that is wrong is named by its own path
      expect(
        param === field || param.startsWith(`${field}[`) || param.startsWith(`${field}.`),
        `${field} = ${JSON.stringify(value)}: ${param}`
      ).toBe(true)
      await expectRefused(response, param)
    }
  })

  it.each([
    [{ messages: valid.messages }, "model", "missing_required_parameter"],
    [{ model: "one/ok" }, "messages", "missing_required_parameter"],
    [{ ...valid, messages: [{ role: "wizard", content: "hi" }] }, "messages[0].role", undefined],
    [{ ...valid, messages: [{ role: "user" }] }, "messages[0].content", "missing_required_parameter"],
    [{ ...valid, messages: [...valid.messages, { role: "user", content: 5 }] }, "messages[1].content", undefined],
    [
      { ...valid, messages: [{ role: "user", content: [{ type: "smell", smell: "x" }] }] },
      "messages[0].content[0].type",
      undefined
    ],
    [
      { ...valid, messages: [{ role: "tool", content: "x" }] },
      "messages[0].tool_call_id",
      "missing_required_parameter"
    ],
    [{ ...valid, tools: [{ type: "function", function: {} }] }, "tools[0].function.name", "missing_required_parameter"],
    [{ ...valid, metadata: { a: 1 } }, "metadata.a", "invalid_type"],
    [{ ...valid, stop: ["a", 5] }, "stop[1]", "invalid_type"],
    [{ ...valid, models: { allow: "one/ok" } }, "models.allow", "invalid_type"],
    [{ ...valid, provider: { deny: [5] } }, "provider.deny[0]", "invalid_type"],
    [{ ...valid, reasoning_effort: "low", reasoning: { effort: "high" } }, "reasoning.effort", undefined],
    [{ ...valid, n: 2 }, "n", undefined]
  ] as const)("%j", async (body, param, code) => {
    await expectRefused(await gateway.post("/v1/chat/completions", body), param, code)
  })

  it("but null is as good as absent, except where the table says otherwise", async () => {
    const fields = Object.keys(wrong).filter((field) => !wrong[field]?.includes(null))
    const nulls = Object.fromEntries(fields.map((field) => [field, null]))
    const response = await gateway.post("/v1/chat/completions", { ...nulls, ...valid, model: "one/unknown" })
    expect(await response.json()).toHaveProperty("error.code", "model_not_found")
  })

  it("as a number beyond all numbers", async () => {
    const body = `{"model":"one/ok","messages":[{"role":"user","content":"hi"}],"temperature":1e999}`
    await expectRefused(await send(body), "temperature")
  })

  it("when there are too many of it", async () => {
    const many = <A>(count: number, value: A) => Array.from({ length: count }, () => value)
    const tool = { type: "function", function: { name: "f" } }
    const post = (more: object) => gateway.post("/v1/chat/completions", { ...valid, ...more })
    await expectRefused(await post({ messages: many(20_001, valid.messages[0]) }), "messages", "invalid_value")
    await expectRefused(await post({ tools: many(1_025, tool) }), "tools", "invalid_value")
    await expectRefused(await post({ stop: many(65, "x") }), "stop", "invalid_value")
  })
})

const send = (
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  path = "/v1/chat/completions"
): Promise<Response> =>
  gateway.post(path, undefined, {
    body,
    headers: { authorization: `Bearer ${gateway.client.apiKey}`, "content-type": "application/json", ...headers }
  })

const messagesPaths = ["/v1/messages", "/v1/messages/count_tokens"]

describe("a body that is no request", () => {
  it.each([
    ["", "invalid_json"],
    ["{", "invalid_json"],
    ["{} x", "invalid_json"],
    ["{'model':1}", "invalid_json"],
    [`${"[".repeat(65)}${"]".repeat(65)}`, "invalid_json"],
    ["[".repeat(1_000_000), "invalid_json"],
    ["null", "invalid_type"],
    ["[]", "invalid_type"],
    ['"text"', "invalid_type"]
  ])("%.20s", async (body, code) => {
    await expectRefused(await send(body), null, code)
    for (const path of messagesPaths) await expectRefused(await send(body, {}, path), null, code)
  })

  it("is refused when it is not UTF-8", async () => {
    await expectRefused(await send(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])), null, "invalid_utf8")
  })

  it("does not have its content repeated in the error", async () => {
    const response = await send(`{"model": secret-of-mine}`)
    expect(await response.text()).not.toContain("secret")
  })

  it.each([
    ["text/plain", {}],
    ["application/json; charset=latin1", {}],
    ["multipart/form-data; boundary=x", {}],
    ["application/json", { "content-encoding": "gzip" }],
    ["application/json", { "content-encoding": "identity" }]
  ])("is refused as %s %j", async (type, more) => {
    await expectRefused(
      await send(JSON.stringify(valid), { "content-type": type, ...more }),
      null,
      "unsupported_content_type"
    )
  })

  it.each(["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])("is refused by the method %s", async (method) => {
    for (const path of ["/v1/chat/completions", "/v1/responses", ...messagesPaths]) {
      const response = await gateway.post(path, undefined, {
        method,
        body: null,
        headers: { authorization: `Bearer ${gateway.client.apiKey}` }
      })
      expect(response.status).toBe(400)
      if (method !== "HEAD") await expectRefused(response, null, "method_not_allowed")
    }
  })

  it("is refused by the Responses endpoint as well", async () => {
    const post = (body: object) => gateway.post("/v1/responses", body)
    await expectRefused(await post({ model: "one/ok" }), "input", "missing_required_parameter")
    await expectRefused(await post({ model: "one/ok", input: 5 }), "input")
    await expectRefused(
      await post({ model: "one/ok", input: "hi", previous_response_id: "resp_1" }),
      "previous_response_id",
      "unsupported_parameter"
    )
  })
})

describe.each(messagesPaths)("the bounds of %s", (path) => {
  const many = <A>(count: number, value: A) => Array.from({ length: count }, () => value)
  const [message] = valid.messages
  const tool = { name: "f", input_schema: { type: "object" } }
  const post = (more: object) => gateway.post(path, { ...valid, max_tokens: 100, ...more })

  it("are those of the other endpoints, and name the field", async () => {
    await expectRefused(await post({ messages: [] }), "messages", "invalid_value")
    await expectRefused(await post({ messages: many(20_001, message) }), "messages", "invalid_value")
    await expectRefused(await post({ tools: many(1_025, tool) }), "tools", "invalid_value")
    await expectRefused(await post({ stop_sequences: many(65, "x") }), "stop_sequences", "invalid_value")
    await expectRefused(await post({ tools: [{ ...tool, name: "n".repeat(257) }] }), "tools[0].name", "invalid_value")
    const large = `{"model":"one/ok","messages":[{"role":"user","content":"${"x".repeat(20 * 1024 * 1024)}"}]}`
    await expectRefused(await send(large, {}, path), null, "request_too_large")
  })

  it("hold for what is nested in tools, their results and their input", async () => {
    const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`)
    for (const more of [
      { tools: [{ ...tool, input_schema: deep(64) }] },
      {
        messages: [message, { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: deep(64) }] }]
      }
    ]) {
      await expectRefused(await post(more), null, "invalid_json")
    }
  })
})
