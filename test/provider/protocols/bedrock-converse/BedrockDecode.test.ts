import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ChatRequest } from "../../../../src/domain/Chat.ts"
import type { ChatEvent } from "../../../../src/domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../../../../src/domain/Completion.ts"
import { usage } from "../../../../src/domain/Usage.ts"
import { bedrockConverse } from "../../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import type { Step } from "../../../../src/provider/protocols/shared/Protocol.ts"
import { answerTo } from "../../../../src/testing/simulators/bedrock/BedrockReply.ts"
import { rejectedBy } from "../../../../src/testing/simulators/bedrock/BedrockRules.ts"
import { defaultIdentity } from "../../../../src/testing/simulators/bedrock/BedrockSimulator.ts"
import * as EventStream from "../../../../src/wire/framing/EventStream.ts"
import { call } from "../calls.ts"
import { clock, weather } from "../ProtocolContract.ts"
import { sonnet } from "./bedrock.ts"

type Json = Readonly<Record<string, unknown>>

const bytesOf = (json: unknown): Uint8Array => Buffer.from(JSON.stringify(json), "utf8")
const headersOf = (headers: Readonly<Record<string, string>>): EventStream.Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, { type: "string", value }]))
const frame = (type: string, payload: Json): Uint8Array =>
  EventStream.write(headersOf({ ":message-type": "event", ":event-type": type }), bytesOf(payload))
const exception = (type: string, message: string): Uint8Array =>
  EventStream.write(headersOf({ ":message-type": "exception", ":exception-type": type }), bytesOf({ message }))

const start = (contentBlockIndex: number, toolUse: Json): Uint8Array =>
  frame("contentBlockStart", { contentBlockIndex, start: { toolUse } })
const delta = (contentBlockIndex: number, one: Json): Uint8Array =>
  frame("contentBlockDelta", { contentBlockIndex, delta: one })
const stop = (contentBlockIndex: number): Uint8Array => frame("contentBlockStop", { contentBlockIndex })
const reasoningAt = (index: number, reasoningContent: Json): Uint8Array => delta(index, { reasoningContent })
const input = (index: number, piece: string): Uint8Array => delta(index, { toolUse: { input: piece } })
const began = frame("messageStart", { role: "assistant" })
const ended = (stopReason: string): Uint8Array => frame("messageStop", { stopReason })
const counts = { inputTokens: 5, outputTokens: 9, totalTokens: 24, cacheReadInputTokens: 7, cacheWriteInputTokens: 3 }
const metadata = frame("metadata", { usage: counts, metrics: { latencyMs: 1 } })

interface Heard {
  readonly events: ReadonlyArray<ChatEvent>
  readonly progress: Step["progress"]
}

const hear = (pieces: ReadonlyArray<Uint8Array>, asked: Partial<ChatRequest> = {}): Heard => {
  const reader = bedrockConverse.stream.open(call(asked))
  const events: Array<ChatEvent> = []
  for (const piece of pieces) {
    const step = reader.push(piece)
    events.push(...step.events)
    if (step.progress !== "incomplete") return { events, progress: step.progress }
  }
  const last = reader.end()
  return { events: [...events, ...last.events], progress: last.progress }
}
const heardPlain = (answer: Json, asked: Partial<ChatRequest> = {}): Step =>
  bedrockConverse.nonStreaming(call(asked), JSON.stringify(answer))

const answerOf = (events: ReadonlyArray<ChatEvent>): Answer | undefined => {
  const accumulator = new Accumulator()
  for (const event of events) accumulator.add(event)
  return accumulator.answer
}

describe("a stream", () => {
  it("is text, a finish, and usage after it; the kinds of tokens stay apart", () => {
    const { events, progress } = hear([
      began,
      delta(0, { text: "Hel" }),
      delta(0, { text: "lo" }),
      stop(0),
      ended("end_turn"),
      metadata
    ])
    expect(progress).toBe("complete")
    expect(events).toEqual([
      { _tag: "Text", text: "Hel" },
      { _tag: "Text", text: "lo" },
      { _tag: "Finish", reason: "stop", native: "end_turn" },
      { _tag: "Usage", usage: usage({ inputTokens: 5, outputTokens: 9, cacheReadTokens: 7, cacheWriteTokens: 3 }) }
    ])
  })

  it("rule 13: numbers tool calls for themselves, however they are mixed with other blocks", () => {
    const { events } = hear([
      began,
      reasoningAt(0, { text: "hm" }),
      stop(0),
      delta(1, { text: "let me see" }),
      stop(1),
      start(2, { toolUseId: "a", name: "get_weather" }),
      start(3, { toolUseId: "b", name: "read_clock" }),
      input(3, '{"x"'),
      input(2, '{"city":'),
      input(3, ":1}"),
      input(2, '"Rome"}'),
      stop(2),
      stop(3),
      ended("tool_use"),
      metadata
    ])
    const answer = answerOf(events)
    expect(answer?.finish).toBe("tool_calls")
    expect(answer?.toolCalls.map(({ arguments: text, id, name }) => [id, name, text])).toEqual([
      ["a", "get_weather", '{"city":"Rome"}'],
      ["b", "read_clock", '{"x":1}']
    ])
  })

  it("rule 6: a call without any input has an empty object, once", () => {
    for (const end of [[stop(0)], []]) {
      const { events } = hear([
        began,
        start(0, { toolUseId: "a", name: "read_clock" }),
        ...end,
        ended("tool_use"),
        metadata
      ])
      expect(answerOf(events)?.toolCalls).toMatchObject([{ arguments: "{}" }])
    }
  })

  it("rule 8: gives a tool that was renamed its own name back, and a custom one its text", () => {
    const name = "köln wetter!"
    const tools: ChatRequest["tools"] = [
      { type: "function", function: { name } },
      { type: "custom", custom: { name: "shell" } }
    ]
    const body = String(bedrockConverse.lower(call({ tools })))
    const sent: string = JSON.parse(body).toolConfig.tools[0].toolSpec.name
    expect(sent).not.toBe(name)
    const { events } = hear(
      [
        began,
        start(0, { toolUseId: "a", name: sent }),
        input(0, "{}"),
        stop(0),
        start(1, { toolUseId: "b", name: "shell" }),
        input(1, '{"input":"ls '),
        input(1, '-l"}'),
        stop(1),
        ended("tool_use"),
        metadata
      ],
      { tools }
    )
    expect(answerOf(events)?.toolCalls).toMatchObject([
      { kind: "function", name, arguments: "{}" },
      { kind: "custom", name: "shell", arguments: "ls -l" }
    ])
  })

  it("rule 18: keeps signatures, and puts the pieces of redacted reasoning together as bytes", () => {
    const { events } = hear([
      began,
      reasoningAt(0, { text: "hm" }),
      reasoningAt(0, { text: "!" }),
      reasoningAt(0, { signature: "sig" }),
      stop(0),
      reasoningAt(1, { redactedContent: Buffer.from("ab").toString("base64") }),
      reasoningAt(1, { redactedContent: Buffer.from("cd").toString("base64") }),
      stop(1),
      reasoningAt(2, { signature: "alone" }),
      stop(2),
      delta(3, { text: "x" }),
      stop(3),
      ended("end_turn"),
      metadata
    ])
    expect(answerOf(events)?.reasoning).toEqual([
      { kind: "text", text: "hm!", signature: "sig", id: null },
      { kind: "encrypted", text: Buffer.from("abcd").toString("base64"), signature: null, id: null },
      { kind: "text", text: "", signature: "alone", id: null }
    ])
  })

  it("is whole without usage once it has its finish, and cut off without that", () => {
    expect(hear([began, delta(0, { text: "x" }), ended("end_turn")]).progress).toBe("complete")
    expect(hear([began, delta(0, { text: "x" })]).progress).toEqual({ _tag: "Disconnected" })
    expect(hear([]).progress).toEqual({ _tag: "Disconnected" })
  })

  it("does not mind events that will be invented, nor blocks that begin for text", () => {
    const { events, progress } = hear([
      began,
      frame("sparkle", { any: 1 }),
      frame("contentBlockStart", { contentBlockIndex: 0, start: {} }),
      delta(0, { text: "x" }),
      ended("end_turn"),
      metadata
    ])
    expect([answerOf(events)?.text, progress]).toEqual(["x", "complete"])
  })

  it("that makes no sense is a bad response", () => {
    const bad: ReadonlyArray<Uint8Array> = [
      EventStream.write(headersOf({ ":message-type": "event", ":event-type": "messageStop" }), Buffer.from("{oh")),
      EventStream.write({}, bytesOf({})),
      start(0, { toolUseId: "a" }),
      input(0, "{}"),
      Buffer.from("data: not this framing\n\n")
    ]
    for (const one of bad) expect(hear([began, one]).progress).toMatchObject({ _tag: "BadResponse" })
    const whole = delta(0, { text: "x" })
    expect(hear([began, whole.subarray(0, whole.length - 1)]).progress).toMatchObject({ _tag: "BadResponse" })
  })

  it("with blocks and calls without end is refused", () => {
    const flood = Array.from({ length: 3000 }, (_, at) => start(at, { toolUseId: `a${at}`, name: "x" }))
    expect(hear(flood).progress).toMatchObject({ _tag: "BadResponse" })
  })

  it("breaks with what its exception says, before and after content", () => {
    const reasons = [
      ["throttlingException", "RateLimited"],
      ["serviceUnavailableException", "Overloaded"],
      ["modelStreamErrorException", "ServerError"],
      ["internalServerException", "ServerError"],
      ["validationException", "RequestRejected"],
      ["inventedException", "ServerError"]
    ] as const
    for (const [type, reason] of reasons) {
      for (const before of [[], [began], [began, delta(0, { text: "x" })]]) {
        expect([type, hear([...before, exception(type, "No.")]).progress]).toMatchObject([type, { _tag: reason }])
      }
    }
    const error = EventStream.write(
      headersOf({ ":message-type": "error", ":error-code": "InternalFailure", ":error-message": "x" }),
      new Uint8Array()
    )
    expect(hear([began, error]).progress).toMatchObject({ _tag: "ServerError", status: 500 })
  })
})

describe("stop reasons", () => {
  const reasons = [
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["guardrail_intervened", "content_filter"],
    ["content_filtered", "content_filter"]
  ] as const

  it("are finishes, the native word kept", () => {
    for (const [native, reason] of reasons) {
      const streamed = hear([began, delta(0, { text: "x" }), ended(native), metadata])
      const plain = heardPlain({ output: { message: { content: [{ text: "x" }] } }, stopReason: native, usage: counts })
      for (const { events, progress } of [streamed, plain]) {
        expect(progress).toBe("complete")
        expect(events).toContainEqual({ _tag: "Finish", reason, native })
      }
    }
  })

  it("that say the model has failed are failures, for which another may do better", () => {
    for (const native of ["malformed_model_output", "malformed_tool_use"]) {
      expect(hear([began, ended(native)]).progress).toMatchObject({ _tag: "BadResponse" })
      expect(heardPlain({ output: { message: { content: [] } }, stopReason: native }).progress).toMatchObject({
        _tag: "BadResponse"
      })
    }
  })

  it("are tool calls when there are some, whatever the word", () => {
    const { events } = hear([began, start(0, { toolUseId: "a", name: "x" }), stop(0), ended("end_turn"), metadata])
    expect(events).toContainEqual({ _tag: "Finish", reason: "tool_calls", native: "end_turn" })
  })
})

describe("a non-streaming response", () => {
  it("that is none says what it is", () => {
    const failed = (body: string) => bedrockConverse.nonStreaming(call(), body).progress
    expect(failed("<html>")).toMatchObject({ _tag: "BadResponse" })
    expect(failed("{}")).toMatchObject({ _tag: "BadResponse" })
    expect(failed('{"__type":"com.amazon#ThrottlingException","message":"slow"}')).toMatchObject({
      _tag: "RateLimited"
    })
    expect(failed('{"output":{"message":{"content":[]}}}')).toEqual({ _tag: "EmptyCompletion" })
    const { events, progress } = bedrockConverse.nonStreaming(
      call(),
      '{"output":{"message":{"content":[{"text":"x"}]}}}'
    )
    expect(progress).toBe("complete")
    expect(events.at(-1)).toEqual({ _tag: "Finish", reason: "stop", native: "" })
  })
})

describe("properties", () => {
  const asked: Partial<ChatRequest> = {
    tools: [weather, clock],
    messages: [{ role: "user", content: "weather and clock in 東京 🌧?" }]
  }
  const replyTo = (stream: boolean) => {
    const one = call({ ...asked, stream }, { model: sonnet, effort: "low", maxOutputTokens: 4000 })
    const accepted = rejectedBy(
      {
        method: "POST",
        path: bedrockConverse.path(one),
        headers: { authorization: "Bearer x", "content-type": "application/json" },
        text: String(bedrockConverse.lower(one)),
        closed: Promise.resolve("answered")
      },
      defaultIdentity
    )
    if ("rejection" in accepted) throw new Error(accepted.rejection.message)
    return answerTo(accepted, undefined, new Set()).chunks
  }
  const streamed = Buffer.concat(replyTo(true).map((chunk) => Buffer.from(chunk)))

  it("any split of the bytes gives the same events and the same ending", () => {
    const whole = hear([streamed], asked)
    expect(whole.progress).toBe("complete")
    expect(whole.events.some((event) => event._tag === "Reasoning" && event.signature !== undefined)).toBe(true)
    fc.assert(
      fc.property(fc.array(fc.nat(streamed.length), { maxLength: 40 }), (places) => {
        const at = [0, ...[...places].sort((a, b) => a - b), streamed.length]
        const pieces = at.slice(1).map((end, n) => streamed.subarray(at[n], end))
        expect(hear(pieces, asked)).toEqual(whole)
      })
    )
    expect(
      hear(
        Array.from(streamed, (byte) => Uint8Array.of(byte)),
        asked
      )
    ).toEqual(whole)
  })

  it("the non-streaming response and the stream add up to the same", () => {
    const plain = bedrockConverse.nonStreaming(call(asked), String(replyTo(false)[0]))
    expect(plain.progress).toBe("complete")
    expect(answerOf(plain.events)).toEqual(answerOf(hear([streamed], asked).events))
  })

  it("a stream that ends early at any byte is never taken for a whole one", () => {
    const finishAt = streamed.indexOf(Buffer.from("messageStop"))
    fc.assert(
      fc.property(fc.nat(finishAt), (length) => {
        expect(hear([streamed.subarray(0, length)], asked).progress).toMatchObject({
          _tag: expect.stringMatching(/^(?:Disconnected|BadResponse)$/)
        })
      })
    )
  })
})
