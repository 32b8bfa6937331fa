import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ChatRequest } from "../../../../src/domain/Chat.ts"
import type { ChatEvent } from "../../../../src/domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../../../../src/domain/Completion.ts"
import { usage } from "../../../../src/domain/Usage.ts"
import { anthropicMessages } from "../../../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import type { Step } from "../../../../src/provider/protocols/shared/Protocol.ts"
import { answerTo } from "../../../../src/testing/simulators/anthropic/AnthropicAnswer.ts"
import { rejectedBy } from "../../../../src/testing/simulators/anthropic/AnthropicRules.ts"
import { call } from "../calls.ts"
import { clock, weather } from "../ProtocolContract.ts"
import { claude } from "./claude.ts"

type Event = Readonly<Record<string, unknown>>

const encoder = new TextEncoder()
const frames = (events: ReadonlyArray<Event>): string =>
  events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("")

interface Heard {
  readonly events: ReadonlyArray<ChatEvent>
  readonly progress: Step["progress"]
}

const hear = (pieces: ReadonlyArray<Uint8Array>, asked: Partial<ChatRequest> = {}): Heard => {
  const reader = anthropicMessages.stream.open(call(asked))
  const events: Array<ChatEvent> = []
  for (const piece of pieces) {
    const step = reader.push(piece)
    events.push(...step.events)
    if (step.progress !== "incomplete") return { events, progress: step.progress }
  }
  const last = reader.end()
  return { events: [...events, ...last.events], progress: last.progress }
}
const heard = (events: ReadonlyArray<Event>, asked: Partial<ChatRequest> = {}): Heard =>
  hear([encoder.encode(frames(events))], asked)

const answerOf = (events: ReadonlyArray<ChatEvent>): Answer | undefined => {
  const accumulator = new Accumulator()
  for (const event of events) accumulator.add(event)
  return accumulator.answer
}

const began = (counts: Event = { input_tokens: 5, output_tokens: 1 }): Event => ({
  type: "message_start",
  message: { type: "message", role: "assistant", model: "claude-opus-4-8-20260101", content: [], usage: counts }
})
const start = (index: number, content_block: Event): Event => ({ type: "content_block_start", index, content_block })
const delta = (index: number, one: Event): Event => ({ type: "content_block_delta", index, delta: one })
const stop = (index: number): Event => ({ type: "content_block_stop", index })
const said = (index: number, text: string): Event => delta(index, { type: "text_delta", text })
const input = (index: number, partial_json: string): Event => delta(index, { type: "input_json_delta", partial_json })
const ended = (stop_reason: string, more: Event = {}, counts: Event = { output_tokens: 9 }): ReadonlyArray<Event> => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null, ...more }, usage: counts },
  { type: "message_stop" }
]
const text = start(0, { type: "text", text: "" })
const toolUse = (id: string, name: string): Event => ({ type: "tool_use", id, name, input: {} })

describe("a stream of Anthropic's", () => {
  it("says who answers, what, why it ends and what it took, and nothing else", () => {
    expect(
      heard([
        began(),
        { type: "ping" },
        text,
        said(0, "He"),
        { type: "invented" },
        said(0, "llo"),
        stop(0),
        ...ended("end_turn")
      ])
    ).toEqual({
      events: [
        { _tag: "ResponseInfo", model: "claude-opus-4-8-20260101" },
        { _tag: "Usage", usage: usage({ inputTokens: 5 }) },
        { _tag: "Text", text: "He" },
        { _tag: "Text", text: "llo" },
        { _tag: "Finish", reason: "stop", native: "end_turn" },
        { _tag: "Usage", usage: usage({ inputTokens: 5, outputTokens: 9 }) }
      ],
      progress: "complete"
    })
  })

  it("counts tool calls for themselves, whatever blocks stand between them", () => {
    const { events } = heard([
      began(),
      start(0, { type: "thinking", thinking: "", signature: "" }),
      stop(0),
      start(1, { type: "text", text: "" }),
      stop(1),
      start(2, toolUse("a", "f")),
      start(5, toolUse("b", "g")),
      input(5, '{"y"'),
      input(2, '{"x":1}'),
      input(5, ":2}"),
      stop(2),
      stop(5),
      ...ended("tool_use")
    ])
    expect(answerOf(events)).toMatchObject({
      finish: "tool_calls",
      toolCalls: [
        { id: "a", name: "f", arguments: '{"x":1}' },
        { id: "b", name: "g", arguments: '{"y":2}' }
      ]
    })
    expect(events.flatMap((event) => (event._tag === "ToolCall" ? [event.index] : []))).toEqual([0, 1, 1, 0, 1])
  })

  it("gives a call without input an empty object, once", () => {
    for (const pieces of [[], [input(0, "")]]) {
      const { events } = heard([began(), start(0, toolUse("a", "f")), ...pieces, stop(0), ...ended("tool_use")])
      expect(events.filter((event) => event._tag === "ToolCall").map((event) => event.arguments)).toEqual(["", "{}"])
    }
  })

  it("gives tools the names and kinds that the client knows them by", () => {
    const asked: Partial<ChatRequest> = {
      tools: [
        { type: "function", function: { name: "mcp.read" } },
        { type: "custom", custom: { name: "patch" } }
      ]
    }
    const body = anthropicMessages.lower(call(asked, { model: claude("claude-opus-4-8") }))
    const [name] = /mcp_read_[0-9a-f]{8}/.exec(String(body)) ?? []
    const { events } = heard(
      [
        began(),
        start(0, toolUse("a", name ?? "")),
        input(0, '{"x":1}'),
        stop(0),
        start(1, toolUse("b", "patch")),
        input(1, '{"input":"*** ü'),
        input(1, '\\n"}'),
        stop(1),
        ...ended("tool_use")
      ],
      asked
    )
    expect(answerOf(events)?.toolCalls).toMatchObject([
      { kind: "function", name: "mcp.read", arguments: '{"x":1}' },
      { kind: "custom", name: "patch", arguments: "*** ü\n" }
    ])
  })

  it("keeps reasoning apart by block, with signatures, also those without text, and what is redacted", () => {
    const { events } = heard([
      began(),
      start(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "hm" }),
      delta(0, { type: "signature_delta", signature: "s1" }),
      stop(0),
      start(1, { type: "thinking", thinking: "", signature: "" }),
      delta(1, { type: "signature_delta", signature: "s2" }),
      stop(1),
      start(2, { type: "redacted_thinking", data: "opaque" }),
      stop(2),
      start(3, { type: "text", text: "so" }),
      ...ended("end_turn", {}, { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } })
    ])
    expect(answerOf(events)).toMatchObject({
      text: "so",
      reasoning: [
        { kind: "text", text: "hm", signature: "s1" },
        { kind: "text", text: "", signature: "s2" },
        { kind: "encrypted", text: "opaque" }
      ],
      usage: usage({ inputTokens: 5, outputTokens: 5, reasoningTokens: 4 })
    })
  })

  it("counts each kind of token once: the last count of each holds", () => {
    const { events } = heard([
      began({ input_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: null, output_tokens: 1 }),
      text,
      said(0, "x"),
      { type: "message_delta", delta: {}, usage: { output_tokens: 3 } },
      ...ended("end_turn", {}, { input_tokens: 7, cache_creation_input_tokens: 20, output_tokens: 8 })
    ])
    expect(events.filter((event) => event._tag === "Usage").at(-1)?.usage).toEqual(
      usage({ inputTokens: 7, cacheReadTokens: 100, cacheWriteTokens: 20, outputTokens: 8 })
    )
  })

  it("keeps the prompt's counts where the end repeats nothing but zeros for them", () => {
    const prompt = { input_tokens: 5, cache_read_input_tokens: 100 }
    const usageOfEnd = (counts: Event) =>
      heard([began({ ...prompt, output_tokens: 1 }), text, said(0, "x"), ...ended("end_turn", {}, counts)])
        .events.filter((event) => event._tag === "Usage")
        .at(-1)?.usage
    expect(
      usageOfEnd({ input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 8 })
    ).toEqual(usage({ inputTokens: 5, cacheReadTokens: 100, outputTokens: 8 }))
    // corrected: all of it was read from the cache
    expect(usageOfEnd({ input_tokens: 0, cache_read_input_tokens: 105, output_tokens: 8 })).toEqual(
      usage({ cacheReadTokens: 105, outputTokens: 8 })
    )
  })

  it("tells the prompt's usage at the beginning, and none of the output that does not exist yet", () => {
    const counts = { input_tokens: 7, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 3 }
    expect(heard([began(counts), text, said(0, "x")]).events.filter(({ _tag }) => _tag === "Usage")).toEqual([
      { _tag: "Usage", usage: usage({ inputTokens: 7, cacheReadTokens: 100, cacheWriteTokens: 20 }) }
    ])
    expect(heard([began({}), text, said(0, "x")]).events.some(({ _tag }) => _tag === "Usage")).toBe(false)
  })

  it("ends for the reasons that Anthropic has", () => {
    const finish = (native: string) => {
      const { events, progress } = heard([began(), text, said(0, "x"), ...ended(native)])
      return [progress, events.find((event) => event._tag === "Finish")?.reason]
    }
    expect(
      ["end_turn", "stop_sequence", "pause_turn", "max_tokens", "model_context_window_exceeded", "refusal"].map(finish)
    ).toEqual([
      ["complete", "stop"],
      ["complete", "stop"],
      ["complete", "stop"],
      ["complete", "length"],
      ["complete", "length"],
      ["complete", "content_filter"]
    ])
  })

  it("explains a refusal that has no words of its own, and leaves words as they are", () => {
    const details = { stop_details: { type: "refusal", category: null, explanation: "Not this." } }
    const silent = answerOf(heard([began(), ...ended("refusal", details)]).events)
    const spoken = answerOf(heard([began(), text, said(0, "I will not"), ...ended("refusal", details)]).events)
    expect([silent?.refusal, silent?.finish]).toEqual(["Not this.", "content_filter"])
    expect([spoken?.refusal, spoken?.text]).toEqual(["", "I will not"])
  })

  it("fails with what an error event says, before and after content", () => {
    const error = (type: string, message = "x"): Event => ({ type: "error", error: { type, message } })
    expect(heard([error("overloaded_error")])).toEqual({
      events: [],
      progress: { _tag: "Overloaded", retryAfterMillis: null }
    })
    const { events, progress } = heard([began(), text, said(0, "x"), error("api_error")])
    expect(answerOf(events)).toBeUndefined()
    expect(progress).toEqual({ _tag: "ServerError", status: 500 })
    expect(heard([error("invalid_request_error", "prompt is too long")]).progress).toMatchObject({
      _tag: "ContextLengthExceeded"
    })
    expect(heard([error("rate_limit_error")]).progress).toEqual({ _tag: "RateLimited", retryAfterMillis: null })
  })

  it("is whole when only its very end is missing, and cut off when more is", () => {
    const [last] = ended("end_turn")
    expect(heard([began(), text, said(0, "x"), ...(last === undefined ? [] : [last])]).progress).toBe("complete")
    expect(heard([began(), text, said(0, "x")]).progress).toEqual({ _tag: "Disconnected" })
    expect(heard([]).progress).toEqual({ _tag: "Disconnected" })
  })

  it("is bad when it breaks its own rules", () => {
    const bad = { _tag: "BadResponse", detail: expect.any(String) }
    expect(hear([encoder.encode("data: {broken\n\n")]).progress).toEqual(bad)
    expect(heard([began(), said(3, "x")]).progress).toEqual(bad)
    expect(heard([began(), start(0, { type: "tool_use", id: "a", input: {} })]).progress).toEqual(bad)
    expect(heard([began(), text, said(0, "x"), { type: "message_stop" }]).progress).toEqual(bad)
    expect(heard([began(), { type: "message_stop" }]).progress).toEqual({ _tag: "EmptyCompletion" })
    const many = Array.from({ length: 1025 }, (_, index) => start(index, toolUse(`id${index}`, "f")))
    expect(heard([began(), ...many]).progress).toEqual(bad)
  })
})

describe("a non-streaming response of Anthropic's", () => {
  const plain = (body: unknown): Step => anthropicMessages.nonStreaming(call({ stream: false }), JSON.stringify(body))

  it("is the same as its stream", () => {
    const step = plain({
      type: "message",
      model: "claude",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "so" },
        { type: "tool_use", id: "a", name: "f", input: { x: 1 } },
        { type: "tool_use", id: "b", name: "g", input: {} },
        { type: "server_tool_use", id: "c", name: "web_search", input: {} }
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 5, output_tokens: 9, service_tier: "standard" }
    })
    expect(step.progress).toBe("complete")
    expect(answerOf(step.events)).toMatchObject({
      text: "so",
      reasoning: [{ text: "hm", signature: "s" }],
      toolCalls: [
        { id: "a", arguments: '{"x":1}' },
        { id: "b", arguments: "{}" }
      ],
      finish: "tool_calls",
      serviceTier: "standard",
      usage: usage({ inputTokens: 5, outputTokens: 9 })
    })
  })

  it("is no answer when it is an error, or not whole", () => {
    expect(plain({ type: "error", error: { type: "overloaded_error", message: "x" } }).progress).toMatchObject({
      _tag: "Overloaded"
    })
    const unsaid = plain({ type: "message", content: [{ type: "text", text: "x" }], stop_reason: null })
    expect(unsaid.progress).toBe("complete")
    expect(unsaid.events.at(-1)).toEqual({ _tag: "Finish", reason: "stop", native: "" })
    const twice = [1, 2].map((x) => ({ type: "tool_use", id: "a", name: "f", input: { x } }))
    const calls = plain({ type: "message", content: twice, stop_reason: null }).events
    expect(calls.at(-1)).toEqual({ _tag: "Finish", reason: "tool_calls", native: "" })
    expect(new Set(calls.flatMap((event) => (event._tag === "ToolCall" && event.id ? [event.id] : []))).size).toBe(2)
    expect(plain({ type: "message", content: [], stop_reason: null }).progress).toEqual({ _tag: "EmptyCompletion" })
    expect(plain({ hello: "world" }).progress).toMatchObject({ _tag: "BadResponse" })
    expect(plain([]).progress).toMatchObject({ _tag: "BadResponse" })
  })
})

describe("properties", () => {
  /** What the simulator sends for a request. */
  const streamed = (asked: Partial<ChatRequest>, effort?: "low"): Uint8Array => {
    const lowered = anthropicMessages.lower(
      call(asked, { model: claude("claude-sonnet-5"), maxOutputTokens: 4000, effort })
    )
    const headers = { "x-api-key": "k", "anthropic-version": "2026-10-21", "content-type": "application/json" }
    const verdict = rejectedBy({
      method: "POST",
      path: "/v1/messages",
      headers,
      text: String(lowered),
      closed: Promise.resolve("answered")
    })
    if ("rejection" in verdict) throw new Error(verdict.rejection.message)
    return Buffer.concat(answerTo(verdict, undefined, new Set()).chunks.map((chunk) => Buffer.from(chunk)))
  }

  it("any split of the bytes gives the same events and the same ending", () => {
    const asked = [
      streamed({ messages: [{ role: "user", content: "Say exactly: héllo 🌍 wörld" }] }, "low"),
      streamed(
        { tools: [weather, clock], messages: [{ role: "user", content: "weather in Köln, and the clock" }] },
        "low"
      )
    ]
    fc.assert(
      fc.property(fc.constantFrom(...asked), fc.array(fc.nat(), { maxLength: 40 }), (bytes, cuts) => {
        const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b)
        const pieces = [...places, bytes.length].map((to, at) => bytes.subarray(places[at - 1] ?? 0, to))
        expect(hear(pieces)).toEqual(hear([bytes]))
      }),
      { numRuns: 300 }
    )
    for (const bytes of asked) expect(hear([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(hear([bytes]))
  })

  it("no order of events, however wrong, ends in anything but one verdict", () => {
    const index = fc.nat({ max: 3 })
    const event = fc.oneof(
      fc.constant(began()),
      index.map((at) => start(at, { type: "text", text: "" })),
      index.map((at) => start(at, toolUse("a", "f"))),
      index.map((at) => start(at, { type: "thinking" })),
      index.map((at) => said(at, "x")),
      index.map((at) => input(at, "{}")),
      index.map(stop),
      fc.constantFrom(...ended("end_turn")),
      fc.record({ type: fc.string(), error: fc.anything() })
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const { events: told, progress } = heard(events)
        expect(progress).not.toBe("incomplete")
        expect(told.filter(({ _tag }) => _tag === "Finish").length).toBeLessThanOrEqual(1)
        if (progress === "complete") expect(answerOf(told)).toBeDefined()
      })
    )
  })
})
