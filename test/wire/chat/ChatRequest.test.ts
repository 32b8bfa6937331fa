import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { ChatRequest } from "../../../src/domain/Chat.ts"
import { decode, make } from "../../../src/wire/chat/ChatRequest.ts"
import { chatRequest } from "../../support/ChatRequests.ts"

const messages = [{ role: "user", content: "hi" }]
const minimal = { model: "auto", messages }

const accepted = (more: object): ChatRequest => Either.getOrThrow(decode({ ...minimal, ...more }))
const fault = (json: unknown): readonly [code: string, param: string | null] => {
  const { code, param } = Either.getOrThrow(Either.flip(decode(json)))
  return [code, param]
}
const faultOf = (more: object) => fault({ ...minimal, ...more })

const nothing = chatRequest()

const nullable = [
  "tools",
  "tool_choice",
  "stream_options",
  "temperature",
  "top_p",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "frequency_penalty",
  "presence_penalty",
  "n",
  "seed",
  "logprobs",
  "top_logprobs",
  "parallel_tool_calls",
  "response_format",
  "reasoning_effort",
  "reasoning",
  "verbosity",
  "service_tier",
  "metadata",
  "store",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "prediction",
  "modalities",
  "audio",
  "moderation",
  "web_search_options",
  "user",
  "models",
  "provider",
  "routing_config",
  "alpha",
  "max_input_price_microusd_per_million",
  "max_output_price_microusd_per_million",
  "enable_fallback"
]

describe("every field", () => {
  it("may be left out, except model and messages", () => {
    expect(accepted({})).toEqual(nothing)
    expect(fault({ messages })).toEqual(["missing_required_parameter", "model"])
    expect(fault({ model: "auto" })).toEqual(["missing_required_parameter", "messages"])
  })

  it("is absent when null, except model, messages, stream and token_doctor, where null is refused", () => {
    expect(accepted(Object.fromEntries(nullable.map((name) => [name, null])))).toEqual(nothing)
    for (const name of ["model", "messages", "stream", "token_doctor"]) {
      expect(faultOf({ [name]: null })).toEqual(["invalid_type", name])
    }
  })

  it("is absent when undefined in a request that is written in code, as is one inside of messages, tools and restrictions", () => {
    const others: object = { unknown: undefined }
    const written = make({
      ...minimal,
      ...others,
      temperature: undefined,
      stream: undefined,
      models: { allow: undefined, deny: undefined },
      stream_options: { include_usage: undefined },
      reasoning: { effort: undefined },
      messages: [{ role: "user", content: "hi", name: undefined }],
      tools: [{ type: "function", function: { name: "f", description: undefined, strict: undefined } }]
    })
    expect(Either.getOrThrow(written)).toEqual({
      ...nothing,
      tools: [{ type: "function", function: { name: "f" } }]
    })
    expect(fault({ ...minimal, model: undefined })[1]).toBe("model")
  })

  it("reaches the call", () => {
    const tools = [{ type: "function", function: { name: "f" } }]
    expect(
      accepted({
        model: "acme/large",
        tools,
        tool_choice: "required",
        stream: true,
        token_doctor: true,
        stream_options: { include_usage: true, include_obfuscation: false },
        temperature: 3.5,
        top_p: -1,
        max_tokens: 9,
        stop: "END",
        frequency_penalty: -2,
        presence_penalty: 2,
        n: 1,
        seed: -7,
        logprobs: true,
        top_logprobs: 20,
        parallel_tool_calls: false,
        response_format: { type: "json_object" },
        reasoning_effort: 100,
        reasoning: { max_tokens: 1, summary: "auto", exclude: true, effort: 100 },
        verbosity: "low",
        service_tier: "flex",
        metadata: { a: "b" },
        store: false,
        safety_identifier: "s",
        prompt_cache_key: "k",
        prompt_cache_options: { o: 1 },
        prompt_cache_retention: "24h",
        prediction: { p: 1 },
        modalities: ["text"],
        audio: { voice: "v" },
        moderation: { m: 1 },
        web_search_options: { w: 1 },
        user: "u",
        models: { allow: ["acme/*"], deny: ["acme/small"] },
        provider: { only: ["acme"], ignore: ["b"], deny: ["c"] },
        routing_config: "cheap",
        alpha: 0.5,
        max_input_price_microusd_per_million: 0,
        max_output_price_microusd_per_million: 10,
        enable_fallback: false
      })
    ).toEqual({
      ...nothing,
      model: "acme/large",
      tools,
      toolChoice: "required",
      stream: true,
      tokenDoctor: true,
      includeUsage: true,
      temperature: 3.5,
      topP: -1,
      maxOutputTokens: 9,
      stop: ["END"],
      frequencyPenalty: -2,
      presencePenalty: 2,
      seed: -7,
      logprobs: true,
      topLogprobs: 20,
      parallelToolCalls: false,
      responseFormat: { type: "json_object" },
      effort: 100,
      reasoning: { maxTokens: 1, summary: "auto", exclude: true },
      verbosity: "low",
      serviceTier: "flex",
      metadata: { a: "b" },
      store: false,
      safetyIdentifier: "s",
      promptCacheKey: "k",
      promptCacheOptions: { o: 1 },
      promptCacheRetention: "24h",
      prediction: { p: 1 },
      modalities: ["text"],
      audio: { voice: "v" },
      moderation: { m: 1 },
      webSearchOptions: { w: 1 },
      user: "u",
      routing: {
        models: { allow: ["acme/*"], deny: ["acme/small"] },
        providers: { allow: ["acme"], deny: ["c", "b"] },
        routingConfig: "cheap",
        alpha: 0.5,
        maxInputPriceMicroUsdPerMillion: 0,
        maxOutputPriceMicroUsdPerMillion: 10,
        enableFallback: false
      }
    })
  })

  it.each([
    [{ n: 2 }, "unsupported_value", "n"],
    [{ n: 0 }, "unsupported_value", "n"],
    [{ n: "1" }, "invalid_type", "n"],
    [{ model: 5 }, "invalid_type", "model"],
    [{ messages: [] }, "invalid_value", "messages"],
    [{ stream: "true" }, "invalid_type", "stream"],
    [{ temperature: "1" }, "invalid_type", "temperature"],
    [{ temperature: Number.POSITIVE_INFINITY }, "invalid_value", "temperature"],
    [{ max_tokens: 0 }, "invalid_value", "max_tokens"],
    [{ max_tokens: 1.5 }, "invalid_type", "max_tokens"],
    [{ max_completion_tokens: -(2 ** 53) }, "invalid_value", "max_completion_tokens"],
    [{ seed: 2 ** 53 }, "invalid_value", "seed"],
    [{ frequency_penalty: 2.1 }, "invalid_value", "frequency_penalty"],
    [{ presence_penalty: -2.1 }, "invalid_value", "presence_penalty"],
    [{ top_logprobs: 21 }, "invalid_value", "top_logprobs"],
    [{ stop: Array.from({ length: 65 }, () => "s") }, "invalid_value", "stop"],
    [{ stop: ["a", 1] }, "invalid_type", "stop[1]"],
    [{ tool_choice: "always" }, "invalid_value", "tool_choice"],
    [{ tool_choice: [] }, "invalid_type", "tool_choice"],
    [{ response_format: "json" }, "invalid_type", "response_format"],
    [{ reasoning_effort: "huge" }, "invalid_value", "reasoning_effort"],
    [{ reasoning_effort: 101 }, "invalid_value", "reasoning_effort"],
    [{ reasoning: { effort: 0 } }, "invalid_value", "reasoning.effort"],
    [{ reasoning_effort: "low", reasoning: { effort: "high" } }, "invalid_value", "reasoning.effort"],
    [{ verbosity: "loud" }, "invalid_value", "verbosity"],
    [{ metadata: { a: 1 } }, "invalid_type", "metadata.a"],
    [{ metadata: ["a"] }, "invalid_type", "metadata"],
    [{ modalities: "text" }, "invalid_type", "modalities"],
    [{ models: ["acme/*"] }, "invalid_type", "models"],
    [{ models: { allow: [1] } }, "invalid_type", "models.allow[0]"],
    [{ provider: { only: ["a"], allow: ["b"] } }, "invalid_value", "provider.only"],
    [{ routing_config: "" }, "invalid_value", "routing_config"],
    [{ routing_config: "x".repeat(121) }, "invalid_value", "routing_config"],
    [{ alpha: 1.01 }, "invalid_value", "alpha"],
    [{ max_input_price_microusd_per_million: -1 }, "invalid_value", "max_input_price_microusd_per_million"],
    [{ max_output_price_microusd_per_million: 0.5 }, "invalid_type", "max_output_price_microusd_per_million"],
    [{ stream_options: { include_usage: 1 } }, "invalid_type", "stream_options.include_usage"],
    [
      { tools: Array.from({ length: 1_025 }, () => ({ type: "custom", custom: { name: "f" } })) },
      "invalid_value",
      "tools"
    ],
    [{ tools: [{ type: "web_search" }] }, "invalid_value", "tools[0].type"],
    [{ tools: [{ type: "function", function: { name: "" } }] }, "invalid_value", "tools[0].function.name"],
    [{ tools: [{ type: "function", function: {} }] }, "missing_required_parameter", "tools[0].function.name"]
  ])("is refused with the code and path of its fault: %j", (more, code, param) => {
    expect(faultOf(more)).toEqual([code, param])
  })

  it("may stand at its bounds", () => {
    const longest = "\u{1f600}".repeat(120)
    expect(accepted({ routing_config: longest }).routing.routingConfig).toBe(longest)
    expect(accepted({ stop: Array.from({ length: 64 }, () => "s") }).stop).toHaveLength(64)
    expect(accepted({ messages: Array.from({ length: 20_000 }, () => messages[0]) }).messages).toHaveLength(20_000)
    expect(faultOf({ messages: Array.from({ length: 20_001 }, () => messages[0]) })).toEqual([
      "invalid_value",
      "messages"
    ])
  })

  it("may be one that the gateway does not know, which is ignored and named", () => {
    const { ignored, ...others } = accepted({ functions: 5, base_url: "http://elsewhere", headers: null })
    expect(others).toEqual(nothing)
    expect(ignored).toEqual(["functions", "base_url"])
  })

  it("names at most 32 unknown ones, each cut to 64 characters", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${at}`.padStart(80, "x"), 1]))
    const { ignored } = accepted(many)
    expect(ignored).toHaveLength(32)
    expect(ignored?.every((name) => name.length === 64)).toBe(true)
  })

  it("is named where it asks for what the gateway does not do", () => {
    expect(accepted({ stream_options: { include_obfuscation: true } }).ignored).toEqual([
      "stream_options.include_obfuscation"
    ])
    expect(accepted({ stream_options: { include_obfuscation: false } }).ignored).toBeUndefined()
  })

  it.each([
    ["models", { allowed: ["sim/fast"] }, "models.allowed", "allow, deny, only, ignore"],
    ["provider", { order: ["sim2"] }, "provider.order", "allow, deny, only, ignore, allow_fallbacks"],
    ["provider", { sort: null }, "provider.sort", "allow, deny, only, ignore, allow_fallbacks"],
    ["reasoning", { enabled: true }, "reasoning.enabled", "effort, max_tokens, summary, exclude"],
    ["stream_options", { include: true }, "stream_options.include", "include_usage, include_obfuscation"]
  ])("rejects an unknown key inside %s, so that no restriction is lost", (field, value, param, known) => {
    const fault = Either.flip(decode({ model: "auto", messages, [field]: value }))
    expect(Either.getOrThrow(fault)).toMatchObject({
      code: "unsupported_parameter",
      param,
      message: `Unknown parameter: '${param}'. Known parameters: ${known}.`
    })
  })

  it("a bound of any size is one, as the largest safe integer", () => {
    expect(accepted({ max_completion_tokens: 2 ** 64 }).maxOutputTokens).toBe(Number.MAX_SAFE_INTEGER)
  })
})

describe("fields that say the same twice", () => {
  it("max_completion_tokens wins over max_tokens", () => {
    expect(accepted({ max_tokens: 5, max_completion_tokens: 7 }).maxOutputTokens).toBe(7)
    expect(accepted({ max_tokens: 5, max_completion_tokens: null }).maxOutputTokens).toBe(5)
  })

  it("either spelling of the effort holds, and both when they agree", () => {
    expect(accepted({ reasoning_effort: "low" }).effort).toBe("low")
    expect(accepted({ reasoning: { effort: "low" } }).effort).toBe("low")
    expect(accepted({ reasoning_effort: "low", reasoning: { effort: "low" } }).effort).toBe("low")
    expect(accepted({ reasoning_effort: "low", reasoning: { effort: null } }).effort).toBe("low")
  })

  it("only and ignore are other names of allow and deny", () => {
    const { models, providers } = accepted({ models: { only: ["a"], ignore: ["b"] }, provider: { only: [] } }).routing
    expect(models).toEqual({ allow: ["a"], deny: ["b"] })
    expect(providers).toEqual({ allow: [], deny: [] })
    expect(faultOf({ models: { allow: ["a"], only: ["a"] } })).toEqual(["invalid_value", "models.only"])
  })

  it.each([
    [undefined, false, false],
    [undefined, true, true],
    [true, false, false],
    [false, true, false],
    [true, undefined, true],
    [undefined, undefined, undefined]
  ])("enable_fallback %s and provider.allow_fallbacks %s allow fallback: %s", (enabled, allowed, expected) => {
    const asked = accepted({ enable_fallback: enabled ?? null, provider: { allow_fallbacks: allowed ?? null } })
    expect(asked.routing.enableFallback).toBe(expected)
  })
})

describe("messages", () => {
  const call = { id: "c", type: "function", function: { name: "f", arguments: "not json" } }

  it.each([
    [{ role: "function", name: "f", content: "x" }, "invalid_value", "messages[1].role"],
    [{ content: "x" }, "missing_required_parameter", "messages[1].role"],
    ["hi", "invalid_type", "messages[1]"],
    [{ role: "user" }, "missing_required_parameter", "messages[1].content"],
    [{ role: "user", content: null }, "invalid_type", "messages[1].content"],
    [
      { role: "user", content: [{ type: "text", text: "a" }, { type: "video" }] },
      "invalid_value",
      "messages[1].content[1].type"
    ],
    [{ role: "user", content: [{ type: "text" }] }, "missing_required_parameter", "messages[1].content[0].text"],
    [
      { role: "system", content: [{ type: "image_url", image_url: { url: "https://a" } }] },
      "invalid_value",
      "messages[1].content[0].type"
    ],
    [
      { role: "user", content: [{ type: "image_url", image_url: "https://a" }] },
      "invalid_type",
      "messages[1].content[0].image_url"
    ],
    [
      { role: "user", content: [{ type: "image_url", image_url: { url: "file:///etc/passwd" } }] },
      "invalid_value",
      "messages[1].content[0].image_url.url"
    ],
    [
      { role: "user", content: [{ type: "file", file: { filename: "a.pdf", file_data: null } }] },
      "missing_required_parameter",
      "messages[1].content[0].file.file_data"
    ],
    [{ role: "assistant" }, "missing_required_parameter", "messages[1].content"],
    [{ role: "assistant", content: null, tool_calls: [] }, "missing_required_parameter", "messages[1].content"],
    [
      { role: "assistant", tool_calls: [{ ...call, function: { name: "f", arguments: {} } }] },
      "invalid_type",
      "messages[1].tool_calls[0].function.arguments"
    ],
    [{ role: "assistant", tool_calls: [{ ...call, id: 5 }] }, "invalid_type", "messages[1].tool_calls[0].id"],
    [{ role: "tool", content: "r" }, "missing_required_parameter", "messages[1].tool_call_id"]
  ])("are refused with the code and path of their fault: %j", (message, code, param) => {
    expect(faultOf({ messages: [...messages, message] })).toEqual([code, param])
  })

  it.each([
    [{ role: "assistant", content: null, tool_calls: [call] }],
    [{ role: "assistant", tool_calls: [call] }],
    [{ role: "assistant", content: null, refusal: "no" }],
    [{ role: "assistant", content: null, audio: { id: "a" } }],
    [{ role: "assistant", content: "" }],
    [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA", detail: "low" } }] }],
    [{ role: "tool", content: [{ type: "text", text: "r" }], tool_call_id: "c" }]
  ])("are passed on untouched: %j", (message) => {
    expect(accepted({ messages: [message] }).messages[0]).toBe(message)
  })

  it("are rebuilt from known fields where they hold others, and only there", () => {
    const odd = { role: "assistant", content: "a", annotations: [], function_call: null, tool_calls: null, name: null }
    const parts = [
      { type: "text", text: "a", cache_control: { type: "ephemeral" } },
      { type: "text", text: "b" }
    ]
    const [first, second, third] = accepted({ messages: [messages[0], odd, { role: "user", content: parts }] }).messages
    expect(first).toBe(messages[0])
    expect(second).toStrictEqual({ role: "assistant", content: "a" })
    expect(third).toStrictEqual({
      role: "user",
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" }
      ]
    })
    expect((third?.content ?? [])[1]).toBe(parts[1])
  })

  it("cannot reach a prototype by the names of their keys", () => {
    const json: unknown = JSON.parse(
      `{"model":"auto","__proto__":{"stream":true},"constructor":1,"metadata":{"__proto__":"x"},
        "messages":[{"role":"user","content":"hi","__proto__":{"name":"evil"},"constructor":{"prototype":{}}}]}`
    )
    const request = Either.getOrThrow(decode(json))
    expect(request.stream).toBe(false)
    expect(JSON.stringify(request.messages)).toBe('[{"role":"user","content":"hi"}]')
    expect(Object.getPrototypeOf(request.messages[0])).toBe(Object.prototype)
    expect("name" in (request.messages[0] ?? {})).toBe(false)
    expect(JSON.stringify(request.metadata)).toBe('{"__proto__":"x"}')
  })
})

describe("an explanation", () => {
  const messageOf = (json: unknown): string => Either.getOrThrow(Either.flip(decode(json))).message

  it("tells a person what was expected", () => {
    expect(messageOf({ ...minimal, temperature: "hot" })).toBe(
      "Invalid type for 'temperature': expected a finite number, but got a string instead."
    )
    expect(messageOf({ ...minimal, messages: [{ role: "function", content: "x" }] })).toBe(
      "Invalid value for 'messages[0].role': expected one of 'developer', 'system', 'user', 'assistant', 'tool', but got \"function\"."
    )
    const image = { role: "user", content: [{ type: "image_url", image_url: { url: "iVBORw0KGgo=" } }] }
    expect(messageOf({ ...minimal, messages: [image] })).toBe(
      "Invalid value for 'messages[0].content[0].image_url.url': expected an https: or data: URL, but got \"iVBORw0KGgo=\"."
    )
    const call = { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } }
    expect(messageOf({ ...minimal, messages: [call] })).toBe(
      "Missing required parameter: 'messages[0].content'. An assistant message needs content unless it has 'tool_calls', a refusal or audio ('function_call' is not supported)."
    )
    expect(messageOf([])).toBe("Invalid type for the request body: expected an object, but got an array instead.")
  })

  it("never repeats a long input, in message or path", () => {
    const long = "z".repeat(10_000)
    for (const json of [
      { ...minimal, verbosity: long },
      { ...minimal, metadata: { [long]: 1 } },
      { ...minimal, messages: [{ role: long, content: "x" }] },
      { ...minimal, routing_config: long }
    ]) {
      const { message, param } = Either.getOrThrow(Either.flip(decode(json)))
      expect(message).not.toContain("z".repeat(65))
      expect((param ?? "").length).toBeLessThanOrEqual(256)
    }
  })

  it("looks only at what is near the fault: the rest of a body is read no more than once", () => {
    let reads = 0
    const part = (): object =>
      Object.defineProperty({ type: "text" }, "text", {
        enumerable: true,
        get: () => {
          reads++
          return "a"
        }
      })
    const parts = Array.from({ length: 2_000 }, part)
    expect(faultOf({ messages: [{ role: "user", content: [...parts, { type: "text" }] }] })).toEqual([
      "missing_required_parameter",
      "messages[0].content[2000].text"
    ])
    expect(reads).toBe(2_000)
  })
})
