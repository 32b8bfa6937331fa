import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import OpenAI from "openai"
import type { ChatEvent } from "../../../src/domain/ChatEvent.ts"
import { Accumulator } from "../../../src/domain/Completion.ts"
import { chatCompletion } from "../../../src/wire/chat/ChatAnswer.ts"
import { ChatCompletion, ChatCompletionChunk } from "../../../src/wire/chat/ChatAnswerSchema.ts"
import { ChatStream, type ChatStreamOptions } from "../../../src/wire/chat/ChatStream.ts"
import { chatUsage } from "../../../src/wire/chat/ChatUsage.ts"
import { counts, events, finished, head, metadata, text } from "./AnswerArbitraries.ts"

const plain: ChatStreamOptions = { includeUsage: false, excludeReasoning: false }
const withUsage: ChatStreamOptions = { includeUsage: true, excludeReasoning: false }

const framesOf = (sent: ReadonlyArray<ChatEvent>, options: ChatStreamOptions): ReadonlyArray<string> => {
  const frames: Array<string> = []
  const stream = new ChatStream(head, options, (frame) => frames.push(frame) > 0)
  for (const event of sent) stream.event(event)
  stream.complete(finished, counts, metadata)
  return frames
}

const dataOf = (frame: string): string => {
  expect(frame.startsWith("data: ") && frame.endsWith("\n\n")).toBe(true)
  const data = frame.slice(6, -2)
  expect(data).not.toMatch(/[\r\n\u0085\u2028\u2029]/)
  return data
}
const strict = Schema.decodeUnknownSync(ChatCompletionChunk, { onExcessProperty: "error" })
const chunksOf = (frames: ReadonlyArray<string>): ReadonlyArray<ChatCompletionChunk> =>
  frames.filter((frame) => frame !== "data: [DONE]\n\n").map((frame) => strict(JSON.parse(dataOf(frame))))
const deltasOf = (sent: ReadonlyArray<ChatEvent>, options = plain) =>
  chunksOf(framesOf(sent, options)).flatMap((chunk) => chunk.choices.map((choice) => choice.delta))

const client = (body: string) =>
  new OpenAI({
    apiKey: "k",
    baseURL: "http://gateway.test/v1",
    maxRetries: 0,
    fetch: async () => new Response(body, { headers: { "content-type": "text/event-stream" } })
  })
const params = { model: "auto", messages: [{ role: "user" as const, content: "hi" }] }

describe("a stream", () => {
  it("is the role, the text, the finish with its metadata, and the end", () => {
    const sent: ReadonlyArray<ChatEvent> = [
      { _tag: "ResponseInfo", serviceTier: "default" },
      { _tag: "Text", text: "Hel" },
      { _tag: "ResponseInfo", systemFingerprint: "fp" },
      { _tag: "Text", text: "lo" }
    ]
    const same = {
      id: "chatcmpl-01941f297c007abc8def0123456789ab",
      object: "chat.completion.chunk",
      created: 1_795_160_000,
      model: "acme/large",
      service_tier: "default"
    }
    const choice = (delta: object) => ({ index: 0, delta, logprobs: null, finish_reason: null })
    const frames = framesOf(sent, plain)
    expect(frames.at(-1)).toBe("data: [DONE]\n\n")
    expect(chunksOf(frames)).toEqual([
      { ...same, choices: [choice({ role: "assistant", content: "" })] },
      { ...same, choices: [choice({ content: "Hel" })] },
      { ...same, system_fingerprint: "fp", choices: [choice({ content: "lo" })] },
      {
        ...same,
        system_fingerprint: "fp",
        choices: [{ ...choice({}), finish_reason: "stop" }],
        router_metadata: metadata
      }
    ])
  })

  it("carries usage only when asked: null on every chunk, then one chunk without choices", () => {
    const chunks = chunksOf(framesOf([{ _tag: "Text", text: "a" }], withUsage))
    expect(chunks.slice(0, -1).map((chunk) => chunk.usage)).toEqual([null, null, null])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: chatUsage(counts), router_metadata: metadata })
    for (const chunk of chunksOf(framesOf([{ _tag: "Text", text: "a" }], plain))) expect("usage" in chunk).toBe(false)
  })

  it("announces a tool call once with empty arguments and then only adds to them", () => {
    const sent: ReadonlyArray<ChatEvent> = [
      {
        _tag: "ToolCall",
        index: 0,
        kind: "function",
        id: "c0",
        name: "f",
        arguments: '{"a"',
        extraContent: { google: 1 }
      },
      { _tag: "ToolCall", index: 1, kind: "custom", id: "c1", name: "g", arguments: "" },
      { _tag: "ToolCall", index: 0, kind: "function", id: "c0", name: "f", arguments: ":1}" },
      { _tag: "ToolCall", index: 1, kind: "custom", arguments: "in" }
    ]
    expect(deltasOf(sent)).toEqual([
      { role: "assistant", content: null },
      {
        tool_calls: [
          { index: 0, id: "c0", type: "function", function: { name: "f", arguments: "" }, extra_content: { google: 1 } }
        ]
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] },
      { tool_calls: [{ index: 1, id: "c1", type: "custom", custom: { name: "g", input: "" } }] },
      { tool_calls: [{ index: 0, function: { arguments: ":1}" } }] },
      { tool_calls: [{ index: 1, custom: { input: "in" } }] },
      {}
    ])
  })

  it("shows reasoning under every name clients know, with its origin, and hides it on request", () => {
    const sent: ReadonlyArray<ChatEvent> = [
      { _tag: "Reasoning", index: 0, kind: "text", text: "hm" },
      { _tag: "Reasoning", index: 0, kind: "text", text: "", signature: "sig" },
      { _tag: "Reasoning", index: 1, kind: "encrypted", text: "AA", id: "rs_1" },
      { _tag: "Reasoning", index: 2, kind: "text", text: "", signature: "sig of none" },
      { _tag: "Text", text: "a" }
    ]
    const format = "acme/large"
    expect(deltasOf(sent).slice(1, 5)).toEqual([
      {
        reasoning_content: "hm",
        reasoning: "hm",
        reasoning_details: [{ type: "reasoning.text", text: "hm", format, index: 0 }]
      },
      // without text: the fragment alone is not the whole block, as an empty text would make it
      { reasoning_details: [{ type: "reasoning.text", signature: "sig", format, index: 0 }] },
      { reasoning_details: [{ type: "reasoning.encrypted", data: "AA", format, id: "rs_1", index: 1 }] },
      { reasoning_details: [{ type: "reasoning.text", text: "", signature: "sig of none", format, index: 2 }] }
    ])
    expect(deltasOf(sent, { ...plain, excludeReasoning: true })).toEqual([
      { role: "assistant", content: "" },
      { content: "a" },
      {}
    ])
  })

  it("writes text exactly as any other chunk is written", () => {
    fc.assert(
      fc.property(text, fc.boolean(), (piece, includeUsage) => {
        fc.pre(piece !== "")
        const frames = framesOf(
          [
            { _tag: "ResponseInfo", systemFingerprint: piece },
            { _tag: "Text", text: piece }
          ],
          { ...plain, includeUsage }
        )
        const [role, quick] = frames
        const slow = {
          ...JSON.parse(dataOf(role ?? "")),
          choices: [{ index: 0, delta: { content: piece }, logprobs: null, finish_reason: null }]
        }
        expect(quick).toBe(`data: ${JSON.stringify(slow).replace(/[\u0085\u2028\u2029]/g, escaped)}\n\n`)
      })
    )
  })

  it("says when its reader is slow", () => {
    const slow = new ChatStream(head, plain, () => false)
    expect(slow.event({ _tag: "ResponseInfo", model: "x" })).toBe(true)
    expect(slow.event({ _tag: "Text", text: "a" })).toBe(false)
    let writes = 0
    const once = new ChatStream(head, plain, () => ++writes > 1)
    expect(once.event({ _tag: "Text", text: "a" })).toBe(false)
    expect(once.event({ _tag: "Text", text: "b" })).toBe(true)
    expect(once.complete(finished, counts, metadata)).toBe(true)
  })

  it("ends once, whatever comes after", () => {
    const frames: Array<string> = []
    const stream = new ChatStream(head, plain, (frame) => frames.push(frame) > 0)
    stream.complete(finished, counts, metadata)
    const whole = [...frames]
    stream.complete(finished, counts, metadata)
    stream.event({ _tag: "Text", text: "late" })
    stream.fail({ message: "m", type: "provider_error", param: null, code: "c" })
    expect(frames).toEqual(whole)
    expect(chunksOf(frames).map((chunk) => chunk.choices[0]?.finish_reason)).toEqual([null, "stop"])
  })

  it("that fails has one error frame and no end for success", async () => {
    const frames: Array<string> = []
    const stream = new ChatStream(head, plain, (frame) => frames.push(frame) > 0)
    stream.event({ _tag: "Text", text: "a" })
    stream.fail({
      message: "The provider stopped sending.",
      type: "provider_error",
      param: null,
      code: "stream_stalled"
    })
    stream.event({ _tag: "Text", text: "b" })
    stream.complete(finished, counts, metadata)
    expect(frames).toHaveLength(3)
    expect(JSON.parse(dataOf(frames[2] ?? ""))).toEqual({
      error: { message: "The provider stopped sending.", type: "provider_error", param: null, code: "stream_stalled" }
    })
    await expect(client(frames.join("")).chat.completions.stream(params).finalChatCompletion()).rejects.toMatchObject({
      code: "stream_stalled",
      type: "provider_error"
    })
  })
})

describe("any order of events", () => {
  it("is a legal stream that the official client adds up to the non-streaming response", async () => {
    await fc.assert(
      fc.asyncProperty(events, fc.boolean(), async (sent, includeUsage) => {
        const frames = framesOf(sent, { ...plain, includeUsage })
        const chunks = chunksOf(frames)
        expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant")
        expect(chunks.slice(1).every((chunk) => chunk.choices[0]?.delta.role === undefined)).toBe(true)
        expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason === "stop")).toHaveLength(1)
        expect(frames.filter((frame) => frame === "data: [DONE]\n\n")).toHaveLength(1)

        const sum = new Accumulator()
        for (const event of [...sent, finished]) sum.add(event)
        const answer = sum.answer
        if (answer === undefined) return expect.fail("the events hold a finish")
        const whole = Schema.decodeUnknownSync(ChatCompletion)(
          JSON.parse(chatCompletion(head, { ...answer, usage: counts }, metadata, plain))
        )

        const streamed = await client(frames.join("")).chat.completions.stream(params).finalChatCompletion()
        const [choice] = streamed.choices
        const [expected] = whole.choices
        expect({ id: streamed.id, created: streamed.created, model: streamed.model }).toEqual({
          id: whole.id,
          created: whole.created,
          model: whole.model
        })
        expect(streamed).toMatchObject({ router_metadata: metadata })
        expect(choice?.finish_reason).toBe(expected.finish_reason)
        expect(choice?.message.content || null).toBe(expected.message.content || null)
        expect(choice?.message.refusal ?? null).toBe(expected.message.refusal)
        expect(choice?.message.tool_calls ?? []).toEqual(expected.message.tool_calls ?? [])
        expect(choice?.message.annotations ?? []).toEqual(expected.message.annotations ?? [])
        expect(choice?.message.audio ?? null).toEqual(expected.message.audio ?? null)
        expect(choice?.logprobs?.content ?? []).toEqual(expected.logprobs?.content ?? [])
        expect(streamed.usage ?? null).toEqual(includeUsage ? whole.usage : null)
        expect(reasoningOf(chunks)).toEqual(whole.choices[0].message.reasoning_details ?? [])
        const shown = chunks.map((chunk) => chunk.choices[0]?.delta.reasoning_content ?? "").join("")
        expect(sorted(shown)).toEqual(sorted(whole.choices[0].message.reasoning_content ?? ""))
      }),
      { numRuns: 60 }
    )
  })
})

const sorted = (value: string): ReadonlyArray<string> => value.split("").sort()

const escaped = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`

/** What a client adds up that keeps the blocks apart by their index. */
const reasoningOf = (chunks: ReadonlyArray<ChatCompletionChunk>): ReadonlyArray<unknown> => {
  const blocks = new Map<number, Record<string, unknown>>()
  for (const chunk of chunks) {
    for (const detail of chunk.choices[0]?.delta.reasoning_details ?? []) {
      const index = detail.index ?? 0
      const before: Record<string, unknown> = blocks.get(index) ?? {}
      const joined = (key: "text" | "summary" | "data") =>
        detail[key] === undefined ? {} : { [key]: `${before[key] ?? ""}${detail[key]}` }
      blocks.set(index, { ...before, ...detail, ...joined("text"), ...joined("summary"), ...joined("data") })
    }
  }
  return [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block)
}
