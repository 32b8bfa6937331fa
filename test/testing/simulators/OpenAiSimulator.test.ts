import OpenAI from "openai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Simulator } from "../../../src/testing/simulators/core/Simulator.ts"
import { start } from "../../../src/testing/simulators/openai/OpenAiSimulator.ts"

let simulator: Simulator
beforeAll(async () => {
  simulator = await start()
})
afterAll(() => simulator.stop())

const user = { role: "user", content: "Hello." }
const call = { id: "a", type: "function", function: { name: "get_weather", arguments: "{}" } }
const calling = { role: "assistant", content: null, tool_calls: [call] }
const result = { role: "tool", tool_call_id: "a", content: "sunny" }
const parameters = { type: "object", properties: {} }
const tools = [{ type: "function", function: { name: "get_weather", parameters } }]
const allow = (mode: string, name: string) => ({
  tools,
  tool_choice: { type: "allowed_tools", allowed_tools: { mode, tools: [{ type: "function", function: { name } }] } }
})
const calls = (...given: ReadonlyArray<object>) => ({ messages: [user, { ...calling, tool_calls: given }, result] })
const attach = (file: object) => ({ messages: [{ role: "user", content: [{ type: "file", file }] }] })
const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key ${at}`, "value"]))
const functions = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ type: "function", function: { name: `f${at}` } }))
const a = { a: { type: "string" } }
const closed = { type: "object", properties: a, required: ["a"], additionalProperties: false }
const format = (schema: object) => ({
  response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema } }
})
const strictTool = (schema: object) => ({
  tools: [{ type: "function", function: { name: "f", strict: true, parameters: schema } }]
})

/** The message of its refusal, if it refuses. */
const refusalOf = async (more: object, headers: Readonly<Record<string, string>> = { authorization: "Bearer k" }) => {
  const response = await fetch(`${simulator.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "large", messages: [user], ...more })
  })
  const body: { readonly error?: { readonly message: string } } = JSON.parse(await response.text())
  return response.ok ? undefined : [response.status, body.error?.message]
}

describe("the simulator of chat completions", () => {
  it.each<[string, object]>([
    ["Unknown parameter: 'top_k'", { top_k: 4 }],
    ["must provide a model", { model: undefined }],
    ["Invalid 'messages': empty", { messages: [] }],
    ["'messages[0].role'", { messages: [{ role: "function", content: "x" }] }],
    [
      "'messages[1].reasoning_content'",
      { messages: [user, { role: "assistant", content: "x", reasoning_content: "y" }, user] }
    ],
    ["'messages[0].content'", { messages: [{ role: "user", content: null }] }],
    ["'messages[0].content': empty", { messages: [{ role: "user", content: [] }] }],
    ["'messages[0].content[0].type'", { messages: [{ role: "system", content: [{ type: "image_url" }] }] }],
    [
      "image_url.url",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64," } }] }] }
    ],
    ["must be followed by tool messages", { messages: [user, calling, user] }],
    ["must be followed by tool messages", { messages: [user, calling] }],
    ["must be a response to a preceding message", { messages: [user, result] }],
    ["must be a response to a preceding message", { messages: [user, calling, result, result] }],
    ["an id of its own", { messages: [user, { ...calling, tool_calls: [call, call] }, result] }],
    ["'messages[1].tool_calls': empty", { messages: [user, { ...calling, tool_calls: [] }] }],
    ["'tools': empty", { tools: [] }],
    ["must be unique", { tools: [...tools, ...tools] }],
    ["'tools[0].function.name'", { tools: [{ type: "function", function: { name: "get weather" } }] }],
    [
      "Invalid schema for function",
      { tools: [{ type: "function", function: { name: "a", parameters: { type: "string" } } }] }
    ],
    [
      "object schema missing properties",
      { tools: [{ type: "function", function: { name: "a", parameters: { type: "object" } } }] }
    ],
    ["'messages[0].content[0].text'", { messages: [{ role: "user", content: [{ type: "text" }] }] }],
    ["'tool_choice' is only allowed", { tool_choice: "auto" }],
    ["'parallel_tool_calls' is only allowed", { parallel_tool_calls: false }],
    ["not found in 'tools'", { tools, tool_choice: { type: "function", function: { name: "other" } } }],
    ["maximum length 4", { stop: ["1", "2", "3", "4", "5"] }],
    ["only allowed when 'stream'", { stream_options: { include_usage: true } }],
    ["only allowed when 'logprobs'", { top_logprobs: 2 }],
    ["'reasoning_effort'", { reasoning_effort: "deep" }],
    ["json_schema.name", { response_format: { type: "json_schema", json_schema: { schema: {} } } }],
    ["'temperature': expected a number from 0 to 2", { temperature: 2.1 }],
    ["'temperature'", { temperature: "hot" }],
    ["'top_p': expected a number from 0 to 1", { top_p: 1.5 }],
    ["'frequency_penalty': expected a number from -2 to 2", { frequency_penalty: -3 }],
    ["'presence_penalty'", { presence_penalty: 2.5 }],
    ["'top_logprobs': expected an integer from 0 to 20", { logprobs: true, top_logprobs: 21 }],
    ["'top_logprobs'", { logprobs: true, top_logprobs: 1.5 }],
    ["'n': expected an integer from 1 to 128", { n: 0 }],
    ["'seed': expected an integer", { seed: 1.5 }],
    ["'stream': expected a boolean", { stream: "yes" }],
    ["'verbosity': expected one of low, medium, high", { verbosity: "shouting" }],
    ["'service_tier': expected one of", { service_tier: "gold" }],
    ["'metadata': expected at most 16 pairs", { metadata: pairs(17) }],
    ["'metadata'", { metadata: { key: "x".repeat(513) } }],
    ["'metadata'", { metadata: { key: 1 } }],
    ["must contain the word 'json'", { response_format: { type: "json_object" } }],
    [
      "for response_format 'x': In context=(), 'additionalProperties'",
      format({ ...closed, additionalProperties: undefined })
    ],
    ["In context=(), 'required' is required", format({ ...closed, required: [] })],
    [
      "In context=('properties', 'b', 'items'), 'additionalProperties'",
      format({
        ...closed,
        properties: { ...a, b: { type: "array", items: { type: ["object", "null"], properties: a } } },
        required: ["a", "b"]
      })
    ],
    [
      "In context=('$defs', 'b', 'anyOf', '1'), 'required'",
      format({ ...closed, $defs: { b: { anyOf: [closed, { ...closed, required: undefined }] } } })
    ],
    ["for function 'f': In context=(), 'additionalProperties'", strictTool({ type: "object", properties: a })],
    ["for function 'f': In context=(), 'required'", strictTool({ ...closed, required: ["b"] })],
    ["maximum length 128", { tools: functions(129) }],
    ["'tool_choice'", { tools, tool_choice: { foo: 1 } }],
    ["'tool_choice'", { tools, tool_choice: { type: "function" } }],
    ["'tool_choice'", allow("none", "get_weather")],
    ["'other' not found in 'tools'", allow("auto", "other")],
    ["'messages[1].tool_calls[0].function.name'", calls({ ...call, function: { arguments: "{}" } })],
    ["'messages[1].tool_calls[0].function.name'", calls({ ...call, function: { name: "a b", arguments: "{}" } })],
    ["'messages[1].tool_calls[0].function.arguments'", calls({ ...call, function: { name: "a" } })],
    ["'messages[1].tool_calls[0].custom.input'", calls({ id: "a", type: "custom", custom: { name: "a" } })],
    ["'messages[1].tool_calls[0].type'", calls({ ...call, type: undefined })],
    ["'messages[0].content[0].file.file_id'", attach({})],
    ["'messages[0].content[0].file.file_id'", attach({ file_data: "data:application/pdf;base64,AAAA" })],
    ["Use 'max_completion_tokens'", { model: "gpt-5", max_tokens: 9 }],
    ["'temperature' does not support", { model: "o3", temperature: 0.5 }]
  ])("refuses with %s", async (message, more) => {
    expect(await refusalOf(more)).toEqual([400, expect.stringContaining(message)])
    expect(simulator.rejections.at(-1)).toContain(message)
  })

  it("wants a key", async () => {
    expect(await refusalOf({}, {})).toEqual([401, expect.stringContaining("API key")])
  })

  it("takes what keeps to the rules", async () => {
    expect(await refusalOf({ messages: [user, calling, result, user], tools, tool_choice: "auto" })).toBeUndefined()
    expect(await refusalOf({ model: "gpt-5", temperature: 1, max_completion_tokens: 9 })).toBeUndefined()
    const bounds = { temperature: 2, top_p: 0, frequency_penalty: -2, presence_penalty: 2, n: 1, seed: -1 }
    expect(await refusalOf({ ...bounds, logprobs: true, top_logprobs: 20, metadata: pairs(16) })).toBeUndefined()
    expect(await refusalOf({ temperature: null, verbosity: null, service_tier: "flex", stream: null })).toBeUndefined()
    expect(await refusalOf({ tools: functions(128), tool_choice: "required" })).toBeUndefined()
    expect(await refusalOf(allow("required", "get_weather"))).toBeUndefined()
    expect(await refusalOf(strictTool(closed))).toBeUndefined()
    expect(await refusalOf(format({ ...closed, properties: { a: { type: ["string", "null"] } } }))).toBeUndefined()
    const inJson = {
      messages: [{ role: "user", content: "Hello, in JSON." }],
      response_format: { type: "json_object" }
    }
    expect(await refusalOf(inJson)).toBeUndefined()
    expect(await refusalOf(attach({ file_id: "file-1" }))).toBeUndefined()
    expect(
      await refusalOf(attach({ filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" }))
    ).toBeUndefined()
  })

  it.each([true, false])("is read by the official client, its cache included (streamed: %s)", async (stream) => {
    const chat = new OpenAI({ apiKey: "k", baseURL: simulator.baseUrl, maxRetries: 0 }).chat.completions
    const ask = async (messages: Array<OpenAI.ChatCompletionMessageParam>) => {
      const body = { model: `gpt-5-${stream}`, messages }
      return stream
        ? chat.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
        : chat.create(body)
    }
    const first = await ask([{ role: "user", content: "Say exactly: héllo 🌍" }])
    expect(first.choices[0]?.message.content).toBe("héllo 🌍")
    const again = await ask([
      { role: "user", content: "Say exactly: héllo 🌍" },
      { role: "assistant", content: "héllo 🌍" },
      { role: "user", content: "Say exactly: more" }
    ])
    expect(first.usage?.prompt_tokens).toBeGreaterThan(0)
    expect(again.usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThan(0)
  })

  const weather = { role: "user", content: "What is the weather in Rome, and what does the clock say?" }
  const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  const two = [
    { type: "function", function: { name: "get_weather", parameters: city } },
    { type: "custom", custom: { name: "read_clock" } }
  ]
  const ask = async (more: object): Promise<string> => {
    const response = await fetch(`${simulator.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer k" },
      body: JSON.stringify({ model: "large", messages: [user], ...more })
    })
    return await response.text()
  }
  const chunksOf = async (more: object): Promise<ReadonlyArray<OpenAI.ChatCompletionChunk>> => {
    const frames = (await ask({ stream: true, ...more })).trimEnd().split("\n\n")
    expect(frames.pop()).toBe("data: [DONE]")
    return frames.map((frame) => JSON.parse(frame.slice("data: ".length)))
  }

  it("gives the usage of a stream to who asks for it, in a chunk of its own", async () => {
    expect((await chunksOf({})).some((chunk) => "usage" in chunk)).toBe(false)
    const chunks = await chunksOf({ stream_options: { include_usage: true } })
    expect(new Set(chunks.slice(0, -1).map(({ usage }) => usage))).toEqual(new Set([null]))
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } })
  })

  it("streams the calls of two tools in fragments, one call after the other", async () => {
    const chunks = await chunksOf({ messages: [weather], tools: two })
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: null, refusal: null })
    const fragments = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    const of = (index: number) => fragments.filter((fragment) => fragment.index === index)
    expect(fragments).toEqual([...of(0), ...of(1)])
    const id = expect.stringMatching(/^call_/)
    const [first, ...pieces] = of(0)
    expect(first).toEqual({ index: 0, id, type: "function", function: { name: "get_weather", arguments: "" } })
    expect(pieces.length).toBeGreaterThan(1)
    for (const piece of pieces) expect(piece).toEqual({ index: 0, function: { arguments: expect.any(String) } })
    expect(JSON.parse(pieces.map((piece) => piece.function?.arguments).join(""))).toEqual({ city: "Rome" })
    const [custom, ...inputs] = of(1)
    expect(custom).toEqual({ index: 1, id, type: "custom", custom: { name: "read_clock", input: "" } })
    for (const input of inputs) expect(input).toEqual({ index: 1, custom: { input: expect.any(String) } })
  })

  it("gives whole calls without an index in a response that does not stream", async () => {
    const { choices }: OpenAI.ChatCompletion = JSON.parse(await ask({ messages: [weather], tools: two }))
    const calls = choices[0]?.message.tool_calls ?? []
    expect(calls.map((one) => Object.keys(one))).toEqual([
      ["id", "type", "function"],
      ["id", "type", "custom"]
    ])
  })

  it("names the model that was asked for", async () => {
    expect(JSON.parse(await ask({})).model).toBe("large")
    expect(new Set((await chunksOf({})).map(({ model }) => model))).toEqual(new Set(["large"]))
  })

  it("gives log probabilities to who asks for them", async () => {
    const said = { messages: [{ role: "user", content: "Say exactly: héllo" }] }
    const token = { token: "héllo", logprob: 0, bytes: [...Buffer.from("héllo")] }
    const none = { content: [{ ...token, top_logprobs: [] }], refusal: null }
    expect(JSON.parse(await ask(said)).choices[0].logprobs).toBeNull()
    expect(JSON.parse(await ask({ ...said, logprobs: true })).choices[0].logprobs).toEqual(none)
    const chunks = await chunksOf({ ...said, logprobs: true, top_logprobs: 2 })
    expect(chunks.map(({ choices }) => choices[0]?.logprobs)).toEqual([
      null,
      { content: [{ ...token, top_logprobs: [token] }], refusal: null },
      null
    ])
  })
})
