import { describe, expect, it } from "vitest"
import { anthropicMessages } from "../../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import { bedrockConverse } from "../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import * as Gemini from "../../../src/provider/protocols/gemini/Gemini.ts"
import * as OpenAiChat from "../../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { openAi } from "../../../src/provider/protocols/openai-chat/Quirks.ts"
import type { Protocol, Step } from "../../../src/provider/protocols/shared/Protocol.ts"
import * as EventStream from "../../../src/wire/framing/EventStream.ts"
import { call } from "./calls.ts"

/** How one protocol says that some text is followed by a finish. */
interface Dialect {
  readonly name: string
  readonly protocol: Protocol
  readonly stream: (finish: unknown) => Uint8Array
  readonly plain: (finish: unknown) => unknown
}

const sse = (...events: ReadonlyArray<object>): Uint8Array =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""))

const aws = (...events: ReadonlyArray<readonly [type: string, payload: object]>): Uint8Array =>
  Buffer.concat(
    events.map(([type, payload]) =>
      EventStream.write(
        { ":message-type": { type: "string", value: "event" }, ":event-type": { type: "string", value: type } },
        Buffer.from(JSON.stringify(payload))
      )
    )
  )

const openAiChat = OpenAiChat.make(openAi)
const gemini = Gemini.make("json")

const openAiStream = (...choices: ReadonlyArray<object>): Uint8Array =>
  sse(...choices.map((choice) => ({ choices: [choice] })))
const openAiDelta = (delta: unknown): object => ({ index: 0, delta, finish_reason: null })
const openAiFinish = { index: 0, delta: {}, finish_reason: "stop" }
const text = openAiDelta({ content: "half" })

const anthropicStream = (...events: ReadonlyArray<object>): Uint8Array =>
  sse({ type: "message_start", message: { model: "m", usage: { input_tokens: 1, output_tokens: 1 } } }, ...events)
const anthropicText: ReadonlyArray<object> = [
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "half" } },
  { type: "content_block_stop", index: 0 }
]
const anthropicEnd = (stop_reason: unknown): ReadonlyArray<object> => [
  { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 1 } },
  { type: "message_stop" }
]

const candidate = (parts: unknown, finishReason?: unknown): object => ({
  candidates: [{ index: 0, content: { role: "model", parts }, finishReason }]
})

const dialects: ReadonlyArray<Dialect> = [
  {
    name: "OpenAI chat",
    protocol: openAiChat,
    stream: (finish) => openAiStream(text, { index: 0, delta: {}, finish_reason: finish }),
    plain: (finish) => ({
      choices: [{ index: 0, message: { role: "assistant", content: "half" }, finish_reason: finish }]
    })
  },
  {
    name: "Anthropic Messages",
    protocol: anthropicMessages,
    stream: (finish) => anthropicStream(...anthropicText, ...anthropicEnd(finish)),
    plain: (finish) => ({ content: [{ type: "text", text: "half" }], stop_reason: finish, usage: {} })
  },
  {
    name: "Bedrock Converse",
    protocol: bedrockConverse,
    stream: (finish) =>
      aws(
        ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "half" } }],
        ["messageStop", { stopReason: finish }],
        ["metadata", { usage: {} }]
      ),
    plain: (finish) => ({ output: { message: { content: [{ text: "half" }] } }, stopReason: finish })
  },
  {
    name: "Gemini",
    protocol: gemini,
    stream: (finish) => sse(candidate([{ text: "half" }], finish)),
    plain: (finish) => candidate([{ text: "half" }], finish)
  }
]

const streamed = (protocol: Protocol, bytes: Uint8Array): Step["progress"] => {
  const reader = protocol.stream.open(call())
  const { progress } = reader.push(bytes)
  return progress === "incomplete" ? reader.end().progress : progress
}
const atOnce = (protocol: Protocol, body: unknown): Step["progress"] =>
  protocol.nonStreaming(call({ stream: false }), JSON.stringify(body)).progress

const unknownReasons = [
  "abort",
  "aborted",
  "cancelled",
  "timeout",
  "model_error",
  "interrupted",
  "failed",
  "incomplete",
  "load",
  "malformed",
  "recitation",
  "zebra",
  "STOPPED",
  "null",
  "constructor",
  "stop ",
  "x".repeat(10_000),
  7,
  true,
  ["stop"],
  { reason: "stop" }
]

describe.each(dialects)("an unknown finish reason of $name", ({ plain, protocol, stream }) => {
  it.each(unknownReasons)("%j fails the answer, streamed and plain", (reason) => {
    expect(streamed(protocol, stream(reason))).toMatchObject({ _tag: "BadResponse" })
    expect(atOnce(protocol, plain(reason))).toMatchObject({ _tag: "BadResponse" })
  })
})

const odd = [7, true, {}, { text: "lost" }, ["lost"], [["lost"]]]

describe("a fragment that cannot be read fails the answer", () => {
  const streams: ReadonlyArray<readonly [string, Protocol, (value: unknown) => Uint8Array]> = [
    ["content", openAiChat, (value) => openAiStream(openAiDelta({ content: value }), openAiFinish)],
    ["a refusal", openAiChat, (value) => openAiStream(openAiDelta({ refusal: value }), openAiFinish)],
    ["reasoning", openAiChat, (value) => openAiStream(openAiDelta({ reasoning_content: value }), openAiFinish)],
    ["a delta", openAiChat, (value) => openAiStream(openAiDelta([value]), openAiFinish)],
    ["a choice", openAiChat, (value) => sse({ choices: [[value], text] }, { choices: [openAiFinish] })],
    ["choices", openAiChat, (value) => sse({ choices: { 0: value } }, { choices: [openAiFinish] })],
    ["a tool call's name", openAiChat, (value) => toolCall({ id: "a", function: { name: value } })],
    [
      "a tool call's arguments",
      openAiChat,
      (value) => toolCall({ id: "a", function: { name: "f", arguments: [value] } })
    ],
    ["a tool call's function", openAiChat, (value) => toolCall({ id: "a", function: [value] })],
    ["an annotation", openAiChat, (value) => openAiStream(text, openAiDelta({ annotations: [[value]] }), openAiFinish)],
    ["a text delta", anthropicMessages, (value) => anthropicPiece({ type: "text_delta", text: value })],
    ["a delta's type", anthropicMessages, (value) => anthropicPiece({ type: value, text: "lost" })],
    ["a block", anthropicMessages, (value) => anthropicBlock([value])],
    ["a block's type", anthropicMessages, (value) => anthropicBlock({ type: value, text: "lost" })],
    [
      "a block's input",
      anthropicMessages,
      (value) => anthropicBlock({ type: "tool_use", id: "a", name: "f", input: [value] })
    ],
    ["text", bedrockConverse, (value) => bedrock({ text: value })],
    ["a tool call's input", bedrockConverse, (value) => bedrock({ toolUse: { input: value } })],
    ["an unknown piece", bedrockConverse, (value) => bedrock({ picture: value })],
    ["text", gemini, (value) => sse(candidate([{ text: value }], "STOP"))],
    ["a part", gemini, (value) => sse(candidate([[value]], "STOP"))],
    ["parts", gemini, (value) => sse(candidate({ 0: value }, "STOP"))],
    ["a part of another kind", gemini, (value) => sse(candidate([{ inlineData: value }], "STOP"))],
    ["arguments", gemini, (value) => sse(candidate([{ functionCall: { name: "f", args: [value] } }], "STOP"))]
  ]
  const toolCall = (fragment: object): Uint8Array =>
    openAiStream(openAiDelta({ tool_calls: [{ index: 0, ...fragment }] }), openAiFinish)
  const anthropicPiece = (delta: object): Uint8Array =>
    anthropicStream(
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      ...anthropicEnd("end_turn")
    )
  const anthropicBlock = (content_block: unknown): Uint8Array =>
    anthropicStream(
      { type: "content_block_start", index: 0, content_block },
      { type: "content_block_stop", index: 0 },
      ...anthropicEnd("end_turn")
    )
  const bedrock = (delta: object): Uint8Array =>
    aws(
      ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "half" } }],
      ["contentBlockDelta", { contentBlockIndex: 0, delta }],
      ["messageStop", { stopReason: "end_turn" }],
      ["metadata", { usage: {} }]
    )

  it.each(streams)("%s", (_, protocol, stream) => {
    for (const value of odd) expect(streamed(protocol, stream(value))).toMatchObject({ _tag: "BadResponse" })
  })

  it("and so do two choices with one index, in any protocol that has them", () => {
    const twice = [text, openAiDelta({ content: "lost" })]
    expect(streamed(openAiChat, sse({ choices: twice }, { choices: [openAiFinish] }))).toMatchObject({
      _tag: "BadResponse"
    })
    const one = { index: 0, content: { parts: [{ text: "x" }] }, finishReason: "STOP" }
    expect(streamed(gemini, sse({ candidates: [one, one] }))).toMatchObject({ _tag: "BadResponse" })
  })

  it("but other alternatives, null and empty fields are none", () => {
    const fields = { content: null, refusal: null, tool_calls: null, annotations: [], audio: null, reasoning: "" }
    const stream = sse(
      { choices: [text, { index: 1, delta: { content: 7 } }] },
      { choices: [{ ...openAiDelta(fields), logprobs: null }] },
      { choices: [openAiFinish] }
    )
    expect(streamed(openAiChat, stream)).toBe("complete")
  })
})

/** The stream with other bytes for its text; messages of AWS get their checksums anew. */
const withText = (protocol: Protocol, stream: Uint8Array, text: Uint8Array): Uint8Array => {
  if (protocol.stream.mediaType === "text/event-stream") return replaced(stream, text)
  const messages: Array<Uint8Array> = []
  EventStream.reader(({ headers, payload }) => messages.push(EventStream.write(headers, replaced(payload, text)))).push(
    stream
  )
  return Buffer.concat(messages)
}

const replaced = (bytes: Uint8Array, text: Uint8Array): Uint8Array => {
  const at = Buffer.from(bytes).indexOf("half")
  return at < 0 ? bytes : Buffer.concat([bytes.subarray(0, at), text, bytes.subarray(at + "half".length)])
}

/** What is read of a stream that comes in pieces of this size. */
const inPieces = (protocol: Protocol, bytes: Uint8Array, size: number) => {
  const reader = protocol.stream.open(call())
  let text = ""
  const take = ({ events, progress }: Step): Step["progress"] => {
    for (const event of events) if (event._tag === "Text") text += event.text
    return progress
  }
  let progress: Step["progress"] = "incomplete"
  for (let at = 0; at < bytes.length && progress === "incomplete"; at += size) {
    progress = take(reader.push(bytes.subarray(at, at + size)))
  }
  return { progress: progress === "incomplete" ? take(reader.end()) : progress, text }
}

describe.each([
  { dialect: dialects[0], finish: "stop" },
  { dialect: dialects[1], finish: "end_turn" },
  { dialect: dialects[2], finish: "end_turn" },
  { dialect: dialects[3], finish: "STOP" }
])("the bytes of a stream of $dialect.name", ({ dialect, finish }) => {
  const { protocol, stream } = dialect as Dialect
  const whole = stream(finish)

  it.each(["ff", "c3", "e282", "c0af", "eda080", "f4908080"])("%s, which is not UTF-8, fails the answer", (hex) => {
    const invalid = withText(protocol, whole, Buffer.from(hex, "hex"))
    for (const size of [1, 3, invalid.length]) {
      expect(inPieces(protocol, invalid, size)).toMatchObject({ progress: { _tag: "BadResponse" }, text: "" })
    }
  })

  it("are whole characters again, wherever the reads cut them", () => {
    const text = "ü€😀\ufffd"
    for (const size of [1, 2, 3]) {
      const read = inPieces(protocol, withText(protocol, whole, Buffer.from(text)), size)
      expect(read).toEqual({ progress: "complete", text })
    }
  })
})
