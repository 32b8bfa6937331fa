import { describe, expect, it } from "@effect/vitest"
import type { ChatEvent } from "../../../src/domain/ChatEvent.ts"
import { decodeReasoning } from "../../../src/wire/ReasoningContinuity.ts"
import { ResponsesStream } from "../../../src/wire/responses/ResponsesStream.ts"
import { decoded, head, idHex, metadata, someUsage } from "./ResponsesFixtures.ts"
import {
  call,
  clientOf,
  complete,
  error,
  fail,
  framesOf,
  parsed,
  plain,
  stop,
  text,
  think,
  types
} from "./ResponsesStreamFixtures.ts"

describe("the sequence of a complete response", () => {
  it("tells reasoning, text and a call each from added to done, in order", () => {
    const events = [think(0, "hm"), text("Hel"), text("lo"), call(0, "", true), call(0, "{}")]
    expect(types(framesOf(events, complete()))).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "response.reasoning_summary_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed"
    ])
  })
})

describe("items", () => {
  const doneItems = (frames: ReadonlyArray<string>) =>
    parsed(frames)
      .filter((frame) => frame.type === "response.output_item.done")
      .map((frame) => frame["item"])

  it("go on as new ones after something else, reasoning that cannot be read apart from what can", () => {
    const opaque = { ...think(0, "opaque"), _tag: "Reasoning", index: 0, kind: "encrypted", text: "opaque" } as const
    const events = [think(0, "a"), opaque, text("b"), think(1, "c"), text("d")]
    expect(doneItems(framesOf(events, complete()))).toMatchObject([
      { type: "reasoning", summary: [{ text: "a" }] },
      { type: "reasoning", summary: [] },
      { id: `msg_${idHex}_0`, content: [{ text: "b" }] },
      { type: "reasoning", summary: [{ text: "c" }] },
      { id: `msg_${idHex}_1`, content: [{ text: "d" }] }
    ])
  })

  it("of reasoning keep how the provider has encoded it", () => {
    const first: ChatEvent = { _tag: "Reasoning", index: 0, kind: "text", text: "a", providerFormat: "x-v1" }
    const [item] = doneItems(framesOf([first, think(0, "b")], complete()))
    const { encrypted_content: sealed } = item as { readonly encrypted_content: string }
    expect(decodeReasoning(sealed, "ab")).toMatchObject({ text: "ab", provider_format: "x-v1" })
  })

  it("of parallel calls whose fragments mix keep to themselves and end in order", () => {
    const events = [call(0, "[", true), call(1, "{", true), call(0, "]"), call(1, "}")]
    expect(doneItems(framesOf(events, complete()))).toMatchObject([
      { call_id: "call_0", arguments: "[]" },
      { call_id: "call_1", arguments: "{}" }
    ])
  })

  it("of a custom tool tell its input", () => {
    const request = decoded({ tools: [{ type: "custom", name: "tool_0" }] })
    const custom = { _tag: "ToolCall", index: 0, kind: "custom", id: "call_0", name: "tool_0", arguments: "x" } as const
    const frames = parsed(framesOf([custom], complete(), request))
    const told = frames.filter((frame) => frame.type.startsWith("response.custom_tool_call_input"))
    expect(told).toMatchObject([{ delta: "x" }, { input: "x" }])
  })
})

describe("the end of a stream", () => {
  it("a failure before the first content is told after the start of the lifecycle", () => {
    const frames = parsed(framesOf([], fail))
    expect(frames.map((frame) => frame.type)).toEqual([
      "response.created",
      "response.in_progress",
      "error",
      "response.failed"
    ])
    expect(frames[2]).toEqual({
      type: "error",
      sequence_number: 2,
      code: "stream_stalled",
      message: "The provider failed.",
      param: null,
      error
    })
    expect(frames[3]).toMatchObject({
      response: {
        id: `resp_${idHex}`,
        status: "failed",
        error: { code: "server_error", message: "The provider failed." },
        output: [],
        usage: null
      }
    })
  })

  it("a failure leaves what was begun incomplete, and names rate limits as such", () => {
    const limited = { ...error, code: "provider_rate_limited" }
    const frames = parsed(framesOf([text("Hel"), call(0, "{", true)], (stream) => stream.fail(limited)))
    expect(frames.at(-1)).toMatchObject({
      response: {
        error: { code: "rate_limit_exceeded" },
        output: [
          { status: "completed", content: [{ text: "Hel" }] },
          { status: "incomplete", arguments: "{" }
        ]
      }
    })
  })

  it("nothing is written after it", () => {
    const afterAll = (stream: ResponsesStream) => {
      stream.event(text("late"))
      stream.complete(stop, someUsage, metadata)
      stream.fail(error)
    }
    for (const end of [complete(), fail]) {
      const twice = framesOf([text("x")], (stream) => {
        end(stream)
        afterAll(stream)
      })
      expect(twice).toEqual(framesOf([text("x")], end))
    }
  })

  it("a provider's text can forge neither an event nor the end", async () => {
    const forged = "\n\ndata: [DONE]\n\nevent: response.completed\ndata: {}\n\n"
    const final = await clientOf(framesOf([text(forged)], complete())).finalResponse()
    expect(final.output_text).toBe(forged)
  })
})

describe("backpressure", () => {
  it("one refused frame of an event is enough to say that the reader is slow", () => {
    let answers = [true, true, false, true, true]
    const stream = new ResponsesStream(head, plain, () => answers.shift() ?? true)
    expect(stream.event(text("a"))).toBe(false)
    expect(stream.event(text("b"))).toBe(true)
    answers = [false]
    expect(stream.complete(stop, null, metadata)).toBe(false)
  })
})
