import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ChatRequest } from "../../../../src/domain/Chat.ts"
import type { ChatEvent } from "../../../../src/domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../../../../src/domain/Completion.ts"
import * as Gemini from "../../../../src/provider/protocols/gemini/Gemini.ts"
import type { Step } from "../../../../src/provider/protocols/shared/Protocol.ts"
import { call, requestId } from "../calls.ts"
import { gemini } from "./gemini.ts"

const protocol = Gemini.make("json")
const asked = (request: Partial<ChatRequest> = {}) => call(request, { model: gemini("gemini-3-flash-preview") })

type Part = Readonly<Record<string, unknown>>

const chunk = (parts: ReadonlyArray<Part>, finishReason?: string, more: Part = {}): Part => ({
  candidates: [{ content: { parts, role: "model" }, index: 0, ...(finishReason !== undefined && { finishReason }) }],
  ...more
})
const bytes = (chunks: ReadonlyArray<Part>): Uint8Array =>
  Buffer.from(chunks.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join(""))

/** Reads a stream to its end, cut into the pieces that are told. */
const read = (
  chunks: ReadonlyArray<Part>,
  request: Partial<ChatRequest> = {},
  cuts: ReadonlyArray<number> = []
): { readonly events: ReadonlyArray<ChatEvent>; readonly progress: Step["progress"] } => {
  const reader = protocol.stream.open(asked(request))
  const all = bytes(chunks)
  const events: Array<ChatEvent> = []
  let from = 0
  for (const to of [...cuts.map((cut) => cut % all.length).sort((a, b) => a - b), all.length]) {
    const step = reader.push(all.subarray(from, to))
    events.push(...step.events)
    if (step.progress !== "incomplete") return { events, progress: step.progress }
    from = to
  }
  const step = reader.end()
  return { events: [...events, ...step.events], progress: step.progress }
}

const summed = (events: ReadonlyArray<ChatEvent>): Answer | undefined => {
  const accumulator = new Accumulator()
  for (const event of events) accumulator.add(event)
  return accumulator.answer
}

const functionCall = (name: string, args: Part, more: Part = {}): Part => ({ functionCall: { name, args }, ...more })

const usageMetadata = {
  promptTokenCount: 100,
  cachedContentTokenCount: 60,
  toolUsePromptTokenCount: 7,
  candidatesTokenCount: 20,
  thoughtsTokenCount: 30,
  totalTokenCount: 157
}

const whole: ReadonlyArray<Part> = [
  chunk([{ text: "Let me ", thought: true }], undefined, {
    modelVersion: "gemini-3-flash",
    usageMetadata: { promptTokenCount: 100 }
  }),
  chunk([{ text: "sée.", thought: true }]),
  chunk([{ text: "Ünd 🌍 " }]),
  chunk([{ text: "now:" }]),
  chunk([functionCall("get", { city: "Røm" }, { thoughtSignature: "c2ln" })]),
  chunk([functionCall("get", { city: "Oslo" }), functionCall("clock", {})]),
  chunk([], "STOP", { usageMetadata, modelVersion: "gemini-3-flash" })
]

describe("a stream of Gemini's", () => {
  it("numbers parallel calls by one counter, whatever chunk and name they come under", () => {
    const { events, progress } = read(whole)
    expect(progress).toBe("complete")
    expect(events.filter((event) => event._tag === "ToolCall")).toMatchObject([
      { index: 0, name: "get", arguments: '{"city":"Røm"}', extraContent: { google: { thought_signature: "c2ln" } } },
      { index: 1, name: "get", arguments: '{"city":"Oslo"}' },
      { index: 2, name: "clock", arguments: "{}" }
    ])
    const ids = events.flatMap((event) => (event._tag === "ToolCall" ? [event.id] : []))
    expect(ids).toEqual([0, 1, 2].map((n) => `call_${requestId.replaceAll("-", "")}${n}`))
  })

  it("finishes with tool calls although the provider says stop, and keeps its word", () => {
    expect(summed(read(whole).events)).toMatchObject({
      text: "Ünd 🌍 now:",
      finish: "tool_calls",
      nativeFinish: "STOP",
      servedModel: "gemini-3-flash",
      reasoning: [
        { kind: "text", text: "Let me sée." },
        { kind: "encrypted", text: "c2ln", id: `call_${requestId.replaceAll("-", "")}0` }
      ]
    })
  })

  it("counts each token once: cached ones inside the prompt, reasoning beside the answer", () => {
    expect(summed(read(whole).events)?.usage).toMatchObject({
      inputTokens: 47,
      cacheReadTokens: 60,
      cacheWriteTokens: 0,
      outputTokens: 20,
      reasoningTokens: 30
    })
  })

  it.each([
    [{ promptTokenCount: 10, totalTokenCount: 14 }, 4, 0],
    [{ promptTokenCount: 10, toolUsePromptTokenCount: 3, thoughtsTokenCount: 2, totalTokenCount: 19 }, 4, 2],
    [{ promptTokenCount: 10, totalTokenCount: 10 }, 0, 0],
    [{ promptTokenCount: 10, totalTokenCount: 7 }, 0, 0],
    [{ promptTokenCount: 10 }, 0, 0],
    [{ promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 14 }, 2, 0]
  ])("takes a missing count of the answer from the total: %j", (usageMetadata, outputTokens, reasoningTokens) => {
    expect(summed(read([chunk([{ text: "All" }], "STOP", { usageMetadata })]).events)?.usage).toMatchObject({
      outputTokens,
      reasoningTokens
    })
  })

  it.each([
    [0, undefined, 50],
    // of a recording that the cache has, and of one that it has in part
    [50, [{ modality: "AUDIO", tokenCount: 50 }], 0],
    [
      35,
      [
        { modality: "AUDIO", tokenCount: 20 },
        { modality: "TEXT", tokenCount: 15 }
      ],
      30
    ],
    [15, [{ modality: "TEXT", tokenCount: 15 }], 50],
    // where it does not say what was cached, the audio that must have been read anew
    [30, undefined, 20],
    [60, undefined, 0]
  ])("counts as audio what the cache did not have of it: %i cached, %j", (cached, cacheTokensDetails, audio) => {
    const usageMetadata = {
      promptTokenCount: 70,
      cachedContentTokenCount: cached,
      candidatesTokenCount: 1,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 20 },
        { modality: "AUDIO", tokenCount: 50 }
      ],
      cacheTokensDetails
    }
    expect(summed(read([chunk([{ text: "All" }], "STOP", { usageMetadata })]).events)?.usage).toMatchObject({
      inputTokens: 70 - cached,
      cacheReadTokens: cached,
      details: { inputAudioTokens: audio }
    })
  })

  it("reports at its finish what it has used, also where the counts have not changed", () => {
    const used = { usageMetadata: { promptTokenCount: 50, candidatesTokenCount: 6 } }
    const { events } = read([chunk([{ text: "All" }], undefined, used), chunk([{ text: "." }], "STOP", used)])
    expect(events.findLastIndex(({ _tag }) => _tag === "Usage")).toBeGreaterThan(
      events.findLastIndex(({ _tag }) => _tag === "Text")
    )
  })

  it("survives any split of its bytes", () => {
    const expected = read(whole)
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 40 }), (cuts) => {
        expect(read(whole, {}, cuts)).toEqual(expected)
      })
    )
    const every = Array.from({ length: bytes(whole).length }, (_, at) => at)
    expect(read(whole, {}, every)).toEqual(expected)
  })

  it("keeps the provider's call ids where they are usable, and none twice", () => {
    const named = (id: string) => ({ functionCall: { id, name: "f", args: {} } })
    const { events } = read([chunk([named("fc_1"), named("fc_1"), named("not usable")], "STOP")])
    const ids = events.flatMap((event) => (event._tag === "ToolCall" ? [event.id] : []))
    expect(ids[0]).toBe("fc_1")
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id).toMatch(/^[\w-]{1,64}$/)
  })

  it("puts a call together whose arguments come in pieces", () => {
    const piece = (jsonPath: string, value: Part) => ({ jsonPath, ...value })
    const part = (name: string | undefined, willContinue: boolean, ...partialArgs: ReadonlyArray<Part>): Part => ({
      functionCall: { ...(name !== undefined && { name }), partialArgs, willContinue }
    })
    const { events, progress } = read([
      chunk([part("save", true, piece("$.text", { stringValue: "one ", willContinue: true }))]),
      chunk([part(undefined, true, piece("$.text", { stringValue: "two" }), piece("$.list[0].n", { numberValue: 1 }))]),
      chunk([
        part(undefined, false, piece("$['a.b']", { nullValue: "NULL_VALUE" }), piece("$.ok", { boolValue: true }))
      ]),
      chunk([functionCall("next", {})], "STOP")
    ])
    expect(progress).toBe("complete")
    expect(summed(events)?.toolCalls.map(({ arguments: text, name }) => [name, JSON.parse(text)])).toEqual([
      ["save", { text: "one two", list: [{ n: 1 }], "a.b": null, ok: true }],
      ["next", {}]
    ])
    expect(read([chunk([part("save", true)], "STOP")]).progress).toMatchObject({ _tag: "BadResponse" })
    expect(read([chunk([part("save", true, piece("$.a[5]", { numberValue: 1 }))])]).progress).toMatchObject({
      _tag: "BadResponse"
    })
  })

  it("gives custom tools their text and every tool its own name back", () => {
    const tools: ChatRequest["tools"] = [
      { type: "custom", custom: { name: "sh" } },
      { type: "function", function: { name: "a b" } }
    ]
    const body: unknown = JSON.parse(String(protocol.lower(asked({ tools }))))
    const declared = /"name":"(a_b_[0-9a-f]{8})"/.exec(JSON.stringify(body))?.[1] ?? ""
    const { events } = read([chunk([functionCall("sh", { input: "ls" }), functionCall(declared, { x: 1 })], "STOP")], {
      tools
    })
    expect(summed(events)?.toolCalls).toMatchObject([
      { kind: "custom", name: "sh", arguments: "ls" },
      { kind: "function", name: "a b", arguments: '{"x":1}' }
    ])
  })

  it("keeps the signature of a text, which may come on nothing, but takes it for no answer", () => {
    const signature = { text: "", thoughtSignature: "c2ln" }
    expect(summed(read([chunk([{ text: "a" }]), chunk([signature], "STOP")]).events)).toMatchObject({
      text: "a",
      reasoning: [{ kind: "encrypted", text: "c2ln", id: null }]
    })
    const { events } = read([chunk([signature], "STOP")])
    expect(events).toEqual([{ _tag: "Finish", reason: "stop", native: "STOP" }])
  })

  it("spells log probabilities as chat completions do", () => {
    const token = (text: string) => ({ token: text, tokenId: 1, logProbability: -0.5 })
    const logprobsResult = { chosenCandidates: [token("é")], topCandidates: [{ candidates: [token("é"), token("e")] }] }
    const candidates = [{ content: { parts: [{ text: "é" }] }, finishReason: "STOP", logprobsResult }]
    expect(summed(read([{ candidates }]).events)?.logprobs).toEqual([
      {
        token: "é",
        logprob: -0.5,
        bytes: [195, 169],
        top_logprobs: [
          { token: "é", logprob: -0.5, bytes: [195, 169] },
          { token: "e", logprob: -0.5, bytes: [101] }
        ]
      }
    ])
  })

  it("takes only the first candidate", () => {
    const candidates = [
      { content: { parts: [{ text: "other" }] }, index: 1 },
      { content: { parts: [{ text: "first" }] }, index: 0, finishReason: "STOP" }
    ]
    expect(summed(read([{ candidates }]).events)?.text).toBe("first")
  })
})

describe("how Gemini finishes", () => {
  const text = [{ text: "x" }]
  const finishes: ReadonlyArray<readonly [string, string]> = [
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["BLOCKLIST", "content_filter"],
    ["PROHIBITED_CONTENT", "content_filter"],
    ["SPII", "content_filter"],
    ["IMAGE_SAFETY", "content_filter"]
  ]

  it("is told in our words, its own kept", () => {
    for (const [native, reason] of finishes) {
      expect(read([chunk(text, native)]).events.at(-1)).toEqual({ _tag: "Finish", reason, native })
    }
  })

  it("is a failure when the model broke down, or gives no reason for nothing", () => {
    for (const native of ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"]) {
      expect(read([chunk([], native)]).progress).toMatchObject({ _tag: "BadResponse" })
    }
    expect(read([chunk([], "OTHER")]).progress).toEqual({ _tag: "EmptyCompletion" })
    expect(read([chunk(text, "OTHER")]).progress).toMatchObject({ _tag: "BadResponse" })
  })

  it("is missing from a stream that was cut off, and needless in an answer that is whole", () => {
    expect(read([chunk(text)]).progress).toEqual({ _tag: "Disconnected" })
    const whole = protocol.nonStreaming(asked(), JSON.stringify(chunk(text)))
    expect(whole.progress).toBe("complete")
    expect(whole.events.at(-1)).toEqual({ _tag: "Finish", reason: "stop", native: "" })
    expect(protocol.nonStreaming(asked(), "{}").progress).toMatchObject({ _tag: "BadResponse" })
  })

  it("is a refusal by policy when the prompt itself was blocked", () => {
    const blocked = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 9 } }
    for (const { events, progress } of [read([blocked]), protocol.nonStreaming(asked(), JSON.stringify(blocked))]) {
      expect(events).toEqual([])
      expect(progress).toMatchObject({ _tag: "ContentPolicy", message: expect.stringContaining("PROHIBITED_CONTENT") })
    }
  })
})

describe("an answer of Gemini's in another form", () => {
  it("is the same events as the stream of it", () => {
    const parts = whole.flatMap(
      ({ candidates }) =>
        (candidates as ReadonlyArray<{ content: { parts: ReadonlyArray<Part> } }>)[0]?.content.parts ?? []
    )
    const { events, progress } = protocol.nonStreaming(
      asked(),
      JSON.stringify(chunk(parts, "STOP", { usageMetadata, modelVersion: "gemini-3-flash" }))
    )
    expect(progress).toBe("complete")
    expect(summed(events)).toEqual(summed(read(whole).events))
  })

  it("may be a stream that is one list", () => {
    const { events, progress } = protocol.nonStreaming(asked(), JSON.stringify(whole))
    expect(progress).toBe("complete")
    expect(events).toEqual(read(whole).events)
  })

  it("is an error although it began as a success", () => {
    const error = { error: { code: 503, message: "busy", status: "UNAVAILABLE" } }
    expect(read([error])).toEqual({ events: [], progress: { _tag: "Overloaded", retryAfterMillis: null } })
    expect(read([chunk([{ text: "x" }]), error]).progress).toMatchObject({ _tag: "Overloaded" })
    for (const body of [error, [error]]) {
      expect(protocol.nonStreaming(asked(), JSON.stringify(body)).progress).toMatchObject({ _tag: "Overloaded" })
    }
    expect(protocol.nonStreaming(asked(), "<html>").progress).toMatchObject({ _tag: "BadResponse" })
    expect(read([{ unknown: 1 }]).progress).toMatchObject({ _tag: "BadResponse" })
  })
})
