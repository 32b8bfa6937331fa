import Anthropic from "@anthropic-ai/sdk"
import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import type { ChatEvent, Finish } from "../../../src/domain/ChatEvent.ts"
import { Accumulator } from "../../../src/domain/Completion.ts"
import type { ResponseStart } from "../../../src/domain/ResponseStart.ts"
import * as Sse from "../../../src/wire/framing/Sse.ts"
import { MessagesEvent } from "../../../src/wire/messages/MessagesEventSchema.ts"
import { messageObject } from "../../../src/wire/messages/MessagesObject.ts"
import { Message } from "../../../src/wire/messages/MessagesObjectSchema.ts"
import { textDetail } from "../../../src/wire/messages/MessagesReasoning.ts"
import { MessagesStream, ping } from "../../../src/wire/messages/MessagesStream.ts"
import { counts, events, head, metadata } from "../chat/AnswerArbitraries.ts"

const stop: Finish = { _tag: "Finish", reason: "stop", native: "end_turn" }
const validEvent = Schema.decodeUnknownSync(MessagesEvent, { onExcessProperty: "error" })
const validMessage = Schema.decodeUnknownSync(Message, { onExcessProperty: "error" })

const framesOf = (
  sent: ReadonlyArray<ChatEvent>,
  finish: Finish = stop,
  omitReasoning = false,
  begun: ResponseStart = head
): string => {
  let text = ""
  const stream = new MessagesStream(begun, { omitReasoning }, (frame) => {
    text += frame
    return true
  })
  for (const event of sent) stream.event(event)
  stream.complete(finish, counts, metadata)
  return text
}

const parsed = (text: string, size = text.length): ReadonlyArray<MessagesEvent> => {
  const found: Array<MessagesEvent> = []
  const reader = Sse.reader(({ data, event }) => {
    const json = validEvent(JSON.parse(data))
    expect(json.type).toBe(event)
    found.push(json)
  })
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
  return found
}

/** What the official client makes of the frames. */
const clientOf = async (text: string): Promise<Anthropic.Message> => {
  const client = new Anthropic({
    apiKey: "k",
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(text, { headers: { "content-type": "text/event-stream" } }))
  })
  const asked = { model: "m", max_tokens: 1, messages: [{ role: "user" as const, content: "x" }] }
  return client.messages.stream(asked).finalMessage()
}

const answerOf = (sent: ReadonlyArray<ChatEvent>, finish: Finish = stop) => {
  const whole = new Accumulator()
  for (const event of [...sent, { _tag: "Usage" as const, usage: counts }, finish]) whole.add(event)
  const { answer } = whole
  if (answer === undefined) throw new Error("not whole")
  return answer
}

const text = (value: string): ChatEvent => ({ _tag: "Text", text: value })
const call = (index: number, piece: string, first = false): ChatEvent => ({
  _tag: "ToolCall",
  index,
  kind: "function",
  arguments: piece,
  ...(first && { id: `call_${index}`, name: `tool_${index}` })
})
const reasoning = (index: number, value: string, signature?: string): ChatEvent => ({
  _tag: "Reasoning",
  index,
  kind: "text",
  text: value,
  ...(signature !== undefined && { signature })
})

const blocksIn = ({ content }: Anthropic.Message) =>
  content.map((block) => {
    if (block.type === "text") return block.text
    if (block.type === "tool_use") return [block.id, block.name, block.input]
    return block.type
  })

describe("a streamed message", () => {
  it("is what the official client expects, block by block", async () => {
    const sent = [
      reasoning(0, "Let me "),
      reasoning(0, "see.", "signed"),
      text("Hello"),
      text(" there"),
      call(0, "", true),
      call(0, '{"a":'),
      call(0, '"b"}'),
      call(1, "{}", true)
    ]
    const frames = framesOf(sent, { _tag: "Finish", reason: "tool_calls", native: "tool_use" })
    const message = await clientOf(frames)
    expect(blocksIn(message)).toEqual([
      "thinking",
      "Hello there",
      ["call_0", "tool_0", { a: "b" }],
      ["call_1", "tool_1", {}]
    ])
    expect(message).toMatchObject({
      id: "msg_01941f297c007abc8def0123456789ab",
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: {
        input_tokens: 7,
        cache_read_input_tokens: 32,
        cache_creation_input_tokens: 2,
        output_tokens: 12,
        output_tokens_details: { thinking_tokens: 3 }
      }
    })
    expect(parsed(frames).map(({ type }) => type)).toEqual([
      "message_start",
      ...["content_block_start", "content_block_delta", "content_block_delta", "content_block_delta"],
      "content_block_stop",
      ...["content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"],
      ...["content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"],
      ...["content_block_start", "content_block_delta", "content_block_stop"],
      ...["message_delta", "message_stop"]
    ])
  })

  it("keeps how the provider has encoded its reasoning, as a whole one does", async () => {
    const providerFormat = "google-gemini-v1"
    const first: ChatEvent = { _tag: "Reasoning", index: 0, kind: "text", text: "a", providerFormat }
    const sent = [first, reasoning(0, "b", "g"), text("c")]
    const whole = messageObject(head, answerOf(sent), metadata, { omitReasoning: false })
    for (const message of [await clientOf(framesOf(sent)), JSON.parse(whole) as Anthropic.Message]) {
      const block = message.content[0]
      expect(block?.type === "thinking" && textDetail(block.thinking, block.signature)).toMatchObject({
        text: "ab",
        signature: "g",
        provider_format: providerFormat
      })
    }
  })

  it("keeps calls apart whose pieces come mixed, and sends a call that is whole before the end", async () => {
    const mixed = [call(0, '{"a"', true), call(1, '{"b":', true), call(0, ":1}"), call(1, "2}"), call(2, "{", true)]
    expect(blocksIn(await clientOf(framesOf([...mixed, call(2, "}")])))).toEqual([
      ["call_0", "tool_0", { a: 1 }],
      ["call_1", "tool_1", { b: 2 }],
      ["call_2", "tool_2", {}]
    ])
    let begun = 0
    const stream = new MessagesStream(head, { omitReasoning: false }, (frame) => {
      if (frame.startsWith("event: content_block_start")) begun++
      return true
    })
    for (const event of mixed) stream.event(event)
    expect(begun).toBe(3)
  })

  it("tells how it has ended", () => {
    const ends = (finish: Finish, sent: ReadonlyArray<ChatEvent> = [text("a")]) => {
      const last = parsed(framesOf(sent, finish)).find((event) => event.type === "message_delta")
      return last?.type === "message_delta" ? [last.delta.stop_reason, last.delta.stop_sequence] : []
    }
    expect(ends(stop)).toEqual(["end_turn", null])
    expect(ends({ ...stop, native: "stop_sequence", stopSequence: "###" })).toEqual(["stop_sequence", "###"])
    expect(ends({ _tag: "Finish", reason: "length", native: "length" })).toEqual(["max_tokens", null])
    expect(ends({ _tag: "Finish", reason: "length", native: "model_context_window_exceeded" })).toEqual([
      "model_context_window_exceeded",
      null
    ])
    expect(ends({ _tag: "Finish", reason: "content_filter", native: "SAFETY" })).toEqual(["refusal", null])
    expect(ends(stop, [{ _tag: "Refusal", text: "I will not." }])).toEqual(["refusal", null])
  })

  it("has the usage that is known when it begins", () => {
    const [first] = parsed(framesOf([{ _tag: "Usage", usage: counts }, text("a")]))
    expect(first?.type === "message_start" && first.message.usage.input_tokens).toBe(7)
  })

  it("begins with the estimated length of the prompt where the provider tells it at the end", () => {
    const frames = framesOf([text("a")], stop, false, { ...head, promptTokens: 120 })
    const usages = parsed(frames).flatMap((event) =>
      event.type === "message_start"
        ? [event.message.usage.input_tokens]
        : event.type === "message_delta"
          ? [event.usage.input_tokens]
          : []
    )
    expect(usages).toEqual([120, 7])
  })

  it("has signatures, but no text of reasoning that the client has no use for", async () => {
    const frames = framesOf([reasoning(0, "secret", "signed"), text("a")], stop, true)
    expect(frames).not.toContain("secret")
    expect((await clientOf(frames)).content[0]).toMatchObject({ type: "thinking", thinking: "" })
    expect(blocksIn(await clientOf(framesOf([reasoning(0, "unsigned"), text("a")], stop, true)))).toEqual(["a"])
  })

  it("ends with its error alone when it fails", async () => {
    let frames = ""
    const stream = new MessagesStream(head, { omitReasoning: false }, (frame) => {
      frames += frame
      return true
    })
    stream.event(text("Hel"))
    stream.fail({ type: "provider_error", code: "provider_disconnected", message: "It broke.", param: null })
    stream.event(text("lo"))
    stream.complete(stop, counts, metadata)
    const types = parsed(frames).map(({ type }) => type)
    expect(types).toEqual(["message_start", "content_block_start", "content_block_delta", "error"])
    await expect(clientOf(frames)).rejects.toMatchObject({
      error: { error: { type: "api_error", code: "provider_disconnected", message: "It broke." } }
    })
  })

  it("has pings that no client takes for content", async () => {
    expect(parsed(ping)).toEqual([{ type: "ping" }])
    expect(blocksIn(await clientOf(ping + framesOf([text("a")]) + ping))).toEqual(["a"])
  })
})

describe("whatever a provider sends", () => {
  it("is a message of blocks one after another, the same however its bytes are split", () => {
    fc.assert(
      fc.property(events, fc.boolean(), fc.integer({ min: 1, max: 40 }), (sent, omitReasoning, size) => {
        const frames = framesOf(sent, stop, omitReasoning)
        const found = parsed(frames)
        expect(parsed(frames, size)).toEqual(found)
        let open: number | undefined
        let next = 0
        for (const event of found) {
          if (event.type === "content_block_start") {
            expect(open).toBeUndefined()
            expect(event.index).toBe(next++)
            open = event.index
          } else if (event.type === "content_block_delta") expect(event.index).toBe(open)
          else if (event.type === "content_block_stop") {
            expect(event.index).toBe(open)
            open = undefined
          }
        }
        expect(open).toBeUndefined()
        expect(found.map(({ type }) => type).filter((type) => !type.startsWith("content_block"))).toEqual([
          "message_start",
          "message_delta",
          "message_stop"
        ])
      }),
      { numRuns: 200 }
    )
  })

  it("has the same text, reasoning and calls in a stream as in one piece", () => {
    fc.assert(
      fc.property(events, (sent) => {
        const whole = validMessage(JSON.parse(messageObject(head, answerOf(sent), metadata, { omitReasoning: false })))
        const streamed = { text: "", reasoning: "", calls: 0 }
        for (const event of parsed(framesOf(sent))) {
          if (event.type === "content_block_start" && event.content_block.type === "tool_use") streamed.calls++
          if (event.type !== "content_block_delta") continue
          if (event.delta.type === "text_delta") streamed.text += event.delta.text
          if (event.delta.type === "thinking_delta") streamed.reasoning += event.delta.thinking
        }
        const refusal = sent.flatMap((event) => (event._tag === "Refusal" ? [event.text] : [])).join("")
        const said = whole.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")
        // a refusal stands where it came in a stream, and last in one piece
        if (refusal === "") expect(streamed.text).toBe(said)
        else expect(streamed.text.length).toBe(said.length)
        expect(streamed.reasoning.length).toBe(
          whole.content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : [])).join("").length
        )
        // arguments that are no object are no block of a whole message
        expect(whole.content.filter(({ type }) => type === "tool_use").length).toBeLessThanOrEqual(streamed.calls)
      }),
      { numRuns: 200 }
    )
  })
})

describe("a message in one piece", () => {
  const blocks = (sent: ReadonlyArray<ChatEvent>, finish: Finish = stop) =>
    validMessage(JSON.parse(messageObject(head, answerOf(sent, finish), metadata, { omitReasoning: false }))).content

  it("has its blocks in their order, with the arguments as they came", () => {
    const body = messageObject(
      head,
      answerOf([
        text("a"),
        text("b"),
        reasoning(0, "r", "s"),
        call(0, ' {"id": 12345678901234567890} ', true),
        reasoning(1, "r", "s"),
        text("c"),
        call(1, "{}", true)
      ]),
      metadata,
      { omitReasoning: false }
    )
    const { content } = validMessage(JSON.parse(body))
    expect(content.map((block) => (block.type === "text" ? block.text : block.type))).toEqual([
      "ab",
      "thinking",
      "tool_use",
      "thinking",
      "c",
      "tool_use"
    ])
    expect(body).toContain('"input":{"id": 12345678901234567890}')
  })

  it("has text before calls where no reasoning comes after either", () => {
    const sent = [reasoning(0, "r", "s"), call(0, "{}", true), text("a")]
    expect(blocks(sent).map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"])
  })

  it("has an empty object for blank arguments, and no call that the output cap has cut short", () => {
    expect(blocks([call(0, "", true)])).toMatchObject([{ type: "tool_use", input: {} }])
    expect(blocks([call(0, '{"a', true)], { _tag: "Finish", reason: "length", native: "length" })).toEqual([])
  })

  it("never has two calls with one id", () => {
    const twice = [call(0, "{}", true), { ...call(1, "{}", true), id: "call_0" } as ChatEvent]
    const ids = blocks(twice).flatMap((block) => (block.type === "tool_use" ? [block.id] : []))
    expect(new Set(ids).size).toBe(2)
  })
})
