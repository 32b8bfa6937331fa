import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { decode, decodeCount } from "../../../src/wire/messages/MessagesRequest.ts"
import { CountTokensRequest, MessagesRequest } from "../../../src/wire/messages/MessagesRequestSchema.ts"
import { encodeReasoning } from "../../../src/wire/ReasoningContinuity.ts"

const least = { model: "auto", max_tokens: 10, messages: [{ role: "user", content: "hi" }] }
const read = (more: object) => Either.getOrThrow(decode({ ...least, ...more })).request
const messagesOf = (...messages: ReadonlyArray<unknown>) => read({ messages }).messages
const invalid = (more: object) => {
  const result = decode({ ...least, ...more })
  if (Either.isRight(result)) throw new Error("accepted")
  return result.left
}
const faultOf = (more: object): readonly [code: string, param: string | null] => {
  const { code, param } = invalid(more)
  return [code, param]
}

const call = { type: "tool_use", id: "a", name: "f", input: { x: 1 } }
const tool = { name: "f", input_schema: { type: "object" } }
const mark = { type: "ephemeral", ttl: "1h" }

/** Every field there is. */
const full = {
  ...least,
  system: [{ type: "text", text: "Be brief.", cache_control: mark }],
  stop_sequences: ["###"],
  stream: true,
  token_doctor: false,
  temperature: 0.5,
  top_p: 0.9,
  top_k: 40,
  metadata: { user_id: "u" },
  service_tier: "standard_only",
  thinking: { type: "enabled", budget_tokens: 2_000, display: "omitted" },
  output_config: { effort: "high", format: { type: "json_schema", schema: { type: "object" } } },
  output_format: null,
  cache_control: { type: "ephemeral" },
  tools: [
    { ...tool, description: "d", strict: true, cache_control: mark },
    { type: "web_search_20250305", name: "web_search" }
  ],
  tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true },
  models: { allow: ["a/*"] },
  provider: { deny: ["b"] },
  routing_config: "cheap",
  alpha: 0.5,
  max_input_price_microusd_per_million: 1,
  max_output_price_microusd_per_million: 2,
  enable_fallback: false
}

describe("a request", () => {
  it("is read field by field", () => {
    expect(Schema.is(MessagesRequest)(full)).toBe(true)
    const { droppedTools, request } = Either.getOrThrow(decode(full))
    expect(droppedTools).toEqual(["web_search_20250305"])
    expect(request).toMatchObject({
      model: "auto",
      maxOutputTokens: 10,
      stop: ["###"],
      stream: true,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      user: "u",
      serviceTier: "default",
      reasoning: { mode: "enabled", maxTokens: 2_000, exclude: true },
      effort: "high",
      responseFormat: { type: "json_schema", json_schema: { schema: { type: "object" } } },
      cacheControl: { type: "ephemeral" },
      cacheMarks: "1h",
      tools: [
        {
          type: "function",
          function: { name: "f", description: "d", parameters: { type: "object" }, strict: true },
          cache_control: mark
        }
      ],
      toolChoice: { type: "function", function: { name: "f" } },
      parallelToolCalls: false,
      routing: { routingConfig: "cheap", alpha: 0.5, enableFallback: false },
      messages: [
        { role: "system", content: [{ type: "text", text: "Be brief.", cache_control: mark }] },
        { role: "user", content: "hi" }
      ]
    })
  })

  it("names what has no effect, and passes none of it on", () => {
    const request = read({
      container: "c",
      speed: "fast",
      context_management: { edits: [] },
      mystery: 1,
      inference_geo: null,
      tools: [{ ...tool, defer_loading: true, eager_input_streaming: false, input_examples: [{}] }]
    })
    expect(request.ignored).toEqual([
      "container",
      "speed",
      "context_management",
      "mystery",
      "tools.defer_loading",
      "tools.input_examples"
    ])
    expect(request.tools).toEqual([{ type: "function", function: { name: "f", parameters: { type: "object" } } }])
  })

  it.each([
    [[{ type: "text", text: "x-anthropic-billing-header: cc_version=2; cch=36ee5;" }], undefined],
    ["x-anthropic-billing-header: cc_version=2; cch=36ee5;\nYou are an agent.", "You are an agent."],
    [
      [
        { type: "text", text: "x-anthropic-billing-header: cc_version=2; cch=36ee5;" },
        { type: "text", text: "You are an agent." }
      ],
      "You are an agent."
    ],
    [
      [
        { type: "text", text: "x-anthropic-billing-header: cch=36ee5;" },
        { type: "text", text: "You are an agent.", cache_control: mark },
        { type: "text", text: "Be brief." }
      ],
      [
        { type: "text", text: "You are an agent.", cache_control: mark },
        { type: "text", text: "Be brief." }
      ]
    ]
  ])("leaves out what Claude Code says to Anthropic's billing, which no request repeats (%j)", (system, content) => {
    const { ignored, messages } = read({ system })
    expect(messages).toEqual([
      ...(content === undefined ? [] : [{ role: "system", content }]),
      { role: "user", content: "hi" }
    ])
    expect(ignored).toEqual(["system.x-anthropic-billing-header"])
  })

  it("needs no output cap where its tokens are only counted", () => {
    const { max_tokens: _, ...counted } = full
    expect(Schema.is(CountTokensRequest)(counted)).toBe(true)
    expect(Either.isRight(decodeCount(counted))).toBe(true)
    expect(Either.isLeft(decode(counted))).toBe(true)
  })

  it.each([
    [{ model: null }, "invalid_type", "model"],
    [{ max_tokens: 0 }, "invalid_value", "max_tokens"],
    [{ max_tokens: undefined }, "missing_required_parameter", "max_tokens"],
    [{ messages: undefined }, "missing_required_parameter", "messages"],
    [{ messages: [] }, "invalid_value", "messages"],
    [{ messages: "hi" }, "invalid_type", "messages"],
    [{ messages: [{ role: "tool", content: "x" }] }, "invalid_value", "messages[0].role"],
    [{ messages: [{ role: "user", content: [] }] }, "invalid_value", "messages[0].content"],
    [
      { messages: [{ role: "user", content: [{ type: "text" }] }] },
      "missing_required_parameter",
      "messages[0].content[0].text"
    ],
    [
      { messages: [{ role: "user", content: [{ type: "thinking" }] }] },
      "unsupported_value",
      "messages[0].content[0].type"
    ],
    [{ stream: null }, "invalid_type", "stream"],
    [{ top_k: -1 }, "invalid_value", "top_k"],
    [{ stop_sequences: "x" }, "invalid_type", "stop_sequences"],
    [{ service_tier: "fast" }, "invalid_value", "service_tier"],
    [{ thinking: { type: "enabled" } }, "missing_required_parameter", "thinking.budget_tokens"],
    [{ thinking: { type: "between_tools" } }, "invalid_value", "thinking.type"],
    [{ output_config: { effort: "extreme" } }, "invalid_value", "output_config.effort"],
    [{ cache_control: { type: "forever" } }, "invalid_value", "cache_control.type"],
    [{ provider: { alow: [] } }, "unsupported_parameter", "provider.alow"],
    [{ tools: [{ name: "f" }] }, "missing_required_parameter", "tools[0].input_schema"],
    [{ tools: [{ type: "bash_20250124", name: "bash" }] }, "unsupported_tool", "tools[0]"],
    [{ tool_choice: { type: "any" } }, "invalid_value", "tool_choice"],
    [{ tools: [tool], tool_choice: { type: "tool", name: "g" } }, "invalid_value", "tool_choice.name"],
    [{ tools: [tool], tool_choice: "auto" }, "invalid_type", "tool_choice"]
  ])("is refused for %j", (more, code, param) => {
    expect(faultOf(more)).toEqual([code, param])
  })

  it.each([
    { type: "image", source: { type: "url", url: "file:///etc/passwd" } },
    { type: "image", source: { type: "url", url: "http://a.example/b.png" } },
    { type: "image", source: { type: "base64", media_type: "image/bmp", data: "aa" } },
    { type: "image", source: { type: "file", file_id: "f" } },
    { type: "document", source: { type: "base64", media_type: "text/html", data: "aa" } },
    { type: "tool_result", tool_use_id: "nobody", content: "x" }
  ])("is refused for the block %j", (block) => {
    const [, param] = faultOf({ messages: [{ role: "user", content: [block] }] })
    expect(param).toMatch(/^messages\[0\]\.content\[0\]\./)
  })

  it("names the blocks that may be sent in the place of one that may not", () => {
    const messageOf = (role: string, content: unknown) => invalid({ messages: [{ role, content }] }).message
    expect(messageOf("user", [{ type: "image_url" }])).toBe(
      "Content blocks of type 'image_url' are not supported here: send 'text', 'image', 'document', 'search_result' or 'tool_result'."
    )
    expect(messageOf("assistant", [{ type: "image" }])).toMatch(/: send 'text', .*'redacted_thinking' or 'tool_use'\.$/)
    for (const role of ["user", "assistant", "system"]) {
      expect(messageOf(role, {})).toBe("Invalid type for 'messages[0].content': expected a string or an array.")
    }
  })
})

describe("a conversation", () => {
  it("has the results of a turn before what else the user says, with images where they belong", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aaaa" } }
    const messages = messagesOf(
      { role: "user", content: "go" },
      { role: "assistant", content: [{ type: "text", text: "I will." }, call] },
      {
        role: "user",
        content: [
          { type: "text", text: "Here." },
          { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "r" }, image], is_error: true }
        ]
      }
    )
    const url = "data:image/png;base64,aaaa"
    expect(messages).toEqual([
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "I will.",
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } }]
      },
      {
        role: "tool",
        tool_call_id: "a",
        content: [
          { type: "text", text: "r" },
          { type: "image_url", image_url: { url } }
        ],
        is_error: true
      },
      { role: "user", content: "Here." }
    ])
  })

  it("has documents as files, and those made of blocks as these blocks", () => {
    const [message] = messagesOf({
      role: "user",
      content: [
        { type: "document", title: "A", source: { type: "base64", media_type: "application/pdf", data: "aaaa" } },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "plain" } },
        { type: "document", title: "B", source: { type: "content", content: "inside" }, cache_control: mark },
        { type: "search_result", title: "T", source: "https://s", content: [{ type: "text", text: "found" }] }
      ]
    })
    expect(message?.content).toEqual([
      { type: "file", file: { filename: "A", file_data: "data:application/pdf;base64,aaaa" } },
      { type: "file", file: { file_data: "data:text/plain;base64,cGxhaW4=" } },
      { type: "text", text: "B" },
      { type: "text", text: "inside", cache_control: mark },
      { type: "text", text: "T\nhttps://s\n\nfound" }
    ])
  })

  it("has reasoning with the model that it belongs to, in its place", () => {
    const signature = encodeReasoning({ kind: "text", text: "r", signature: "s", id: null }, "acme/large")
    const block = { type: "thinking", thinking: "r", signature }
    expect(
      messagesOf(
        { role: "user", content: "go" },
        { role: "assistant", content: [block, { type: "text", text: "one" }, block, call] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] }
      ).slice(1, 3)
    ).toMatchObject([
      { content: "one", reasoning_details: [{ format: "acme/large", signature: "s", text: "r", index: 0 }] },
      { content: null, tool_calls: [{ id: "a" }], reasoning_details: [{ format: "acme/large", index: 0 }] }
    ])
    const [, mixed] = messagesOf(
      { role: "user", content: "go" },
      { role: "assistant", content: [block, call, block, { type: "text", text: "one" }, { ...call, id: "b" }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] }
    )
    expect(mixed).toMatchObject({
      content: "one",
      tool_calls: [{ id: "a" }, { id: "b" }],
      order: ["reasoning", "call", "reasoning", "text", "call"]
    })
    const [, foreign] = messagesOf(
      { role: "user", content: "go" },
      { role: "assistant", content: [{ type: "thinking", thinking: "r", signature: "of Anthropic" }] }
    )
    expect(foreign).toMatchObject({ reasoning_details: [{ format: "anthropic/*", signature: "of Anthropic" }] })
  })

  it("has consecutive messages of the assistant from the first call on as one, so that all results follow their calls", () => {
    const said = (...content: ReadonlyArray<unknown>) => ({ role: "assistant", content })
    const reasoned = { type: "thinking", thinking: "r", signature: "of Anthropic" }
    const results = { role: "user", content: ["a", "b"].map((id) => ({ type: "tool_result", tool_use_id: id })) }
    const [, one, first, second, ...others] = messagesOf(
      { role: "user", content: "go" },
      said(call),
      said({ ...call, id: "b" }),
      results
    )
    expect(one).toMatchObject({ content: null, tool_calls: [{ id: "a" }, { id: "b" }] })
    expect([first, second]).toMatchObject([{ tool_call_id: "a" }, { tool_call_id: "b" }])
    expect(others).toEqual([])
    const [, text, whole, ...rest] = messagesOf(
      { role: "user", content: "go" },
      { role: "assistant", content: "I will." },
      said(reasoned, call),
      { role: "assistant", content: "And" },
      said({ type: "text", text: "then" }, reasoned, { ...call, id: "b" }),
      results,
      said({ ...call, id: "c" }),
      { role: "user", content: "never mind" },
      said(call)
    )
    expect(text).toEqual({ role: "assistant", content: "I will." })
    expect(whole).toMatchObject({
      content: [
        { type: "text", text: "And" },
        { type: "text", text: "then" }
      ],
      tool_calls: [{ id: "a" }, { id: "b" }],
      reasoning_details: [{ index: 0 }, { index: 1 }],
      order: ["reasoning", "call", "text", "text", "reasoning", "call"]
    })
    expect(rest.map(({ role }) => role)).toEqual(["tool", "tool", "assistant", "user", "assistant"])
  })

  it("leaves out what hosted tools did, and says so", () => {
    const request = read({
      messages: [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: [
            { type: "server_tool_use", id: "s", name: "web_search", input: {} },
            { type: "web_search_tool_result", tool_use_id: "s", content: [] },
            { type: "text", text: "found" }
          ]
        }
      ]
    })
    expect(request.messages.at(-1)).toEqual({ role: "assistant", content: "found" })
    expect(request.ignored).toEqual(["messages.server_tool_use", "messages.web_search_tool_result"])
  })
})
