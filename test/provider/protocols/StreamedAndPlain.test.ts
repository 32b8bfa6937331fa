import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Tool } from "../../../src/domain/Chat.ts"
import type { ChatEvent } from "../../../src/domain/ChatEvent.ts"
import { Accumulator } from "../../../src/domain/Completion.ts"
import { ResponseTally } from "../../../src/gateway/ResponseTally.ts"
import { anthropicMessages } from "../../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import { bedrockConverse } from "../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import * as Gemini from "../../../src/provider/protocols/gemini/Gemini.ts"
import * as OpenAiChat from "../../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { openAi } from "../../../src/provider/protocols/openai-chat/Quirks.ts"
import type { Protocol, Step } from "../../../src/provider/protocols/shared/Protocol.ts"
import * as EventStream from "../../../src/wire/framing/EventStream.ts"
import { call } from "./calls.ts"

/** What a provider has generated, whatever way it is sent. */
interface Generated {
  readonly reasoning: ReadonlyArray<string>
  readonly signature: string | undefined
  readonly text: ReadonlyArray<string>
  readonly calls: ReadonlyArray<{ readonly name: string; readonly input: object | undefined }>
  readonly isCut: boolean
  readonly counts: {
    readonly fresh: number
    readonly read: number
    readonly written: number
    readonly output: number
    readonly reasoning: number
  }
}

interface Dialect {
  readonly name: string
  readonly protocol: Protocol
  readonly stream: (generated: Generated) => Uint8Array
  readonly plain: (generated: Generated) => object
}

const sse = (events: ReadonlyArray<object>): Uint8Array =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""))

const aws = (events: ReadonlyArray<readonly [type: string, payload: object]>): Uint8Array =>
  Buffer.concat(
    events.map(([type, payload]) =>
      EventStream.write(
        { ":message-type": { type: "string", value: "event" }, ":event-type": { type: "string", value: type } },
        Buffer.from(JSON.stringify(payload))
      )
    )
  )

const sum = (counts: Generated["counts"]) => counts.fresh + counts.read + counts.written
const halves = (text: string): ReadonlyArray<string> => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)]
const finishOf = ({ calls, isCut }: Generated, words: readonly [string, string, string]): string =>
  isCut ? words[0] : calls.length > 0 ? words[1] : words[2]
const idOf = (index: number): string => `call_${index}`

const openAiUsage = ({ counts }: Generated) => ({
  prompt_tokens: sum(counts),
  completion_tokens: counts.output + counts.reasoning,
  total_tokens: sum(counts) + counts.output + counts.reasoning,
  prompt_tokens_details: { cached_tokens: counts.read, cache_write_tokens: counts.written },
  completion_tokens_details: { reasoning_tokens: counts.reasoning }
})
const openAiHead = { model: "m", service_tier: "flex", system_fingerprint: "fp_1" }
const openAiFinish = (g: Generated) => finishOf(g, ["length", "tool_calls", "stop"])
const logprob = (token: string) => ({ token, logprob: -1, bytes: null, top_logprobs: [] })
const openAiDialect: Dialect = {
  name: "OpenAI chat",
  protocol: OpenAiChat.make(openAi),
  stream: (g) => {
    const chunk = (delta: object, more: object = {}) => ({
      ...openAiHead,
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
      usage: null
    })
    return Buffer.concat([
      sse([
        chunk({ role: "assistant", content: "" }),
        ...g.reasoning.map((text) => chunk({ reasoning_content: text })),
        ...g.text.map((text) => chunk({ content: text }, { logprobs: { content: [logprob(text)] } })),
        ...g.calls.flatMap(({ input, name }, index) => [
          chunk({ tool_calls: [{ index, id: idOf(index), type: "function", function: { name, arguments: "" } }] }),
          ...halves(JSON.stringify(input ?? {})).map((text) =>
            chunk({ tool_calls: [{ index, function: { arguments: text } }] })
          )
        ]),
        chunk({}, { finish_reason: openAiFinish(g) }),
        { ...openAiHead, choices: [], usage: openAiUsage(g) }
      ]),
      Buffer.from("data: [DONE]\n\n")
    ])
  },
  plain: (g) => ({
    ...openAiHead,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: g.text.join(""),
          refusal: null,
          ...(g.reasoning.length > 0 && { reasoning_content: g.reasoning.join("") }),
          ...(g.calls.length > 0 && {
            tool_calls: g.calls.map(({ input, name }, index) => ({
              id: idOf(index),
              type: "function",
              function: { name, arguments: JSON.stringify(input ?? {}) }
            }))
          })
        },
        logprobs: g.text.length === 0 ? null : { content: g.text.map(logprob) },
        finish_reason: openAiFinish(g)
      }
    ],
    usage: openAiUsage(g)
  })
}

const anthropicUsage = ({ counts }: Generated) => ({
  input_tokens: counts.fresh,
  cache_read_input_tokens: counts.read,
  cache_creation_input_tokens: counts.written,
  service_tier: "standard"
})
const anthropicOutput = ({ counts }: Generated) => ({
  output_tokens: counts.output + counts.reasoning,
  output_tokens_details: { thinking_tokens: counts.reasoning }
})
const anthropicStop = (g: Generated) => finishOf(g, ["max_tokens", "tool_use", "end_turn"])
const anthropicDialect: Dialect = {
  name: "Anthropic Messages",
  protocol: anthropicMessages,
  stream: (g) => {
    let index = -1
    const block = (content_block: object, deltas: ReadonlyArray<object>) => {
      index++
      return [
        { type: "content_block_start", index, content_block },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index }
      ]
    }
    return sse([
      { type: "message_start", message: { model: "m", usage: { ...anthropicUsage(g), output_tokens: 1 } } },
      { type: "ping" },
      ...(g.reasoning.length === 0
        ? []
        : block({ type: "thinking", thinking: "", signature: "" }, [
            ...g.reasoning.map((thinking) => ({ type: "thinking_delta", thinking })),
            ...(g.signature === undefined ? [] : [{ type: "signature_delta", signature: g.signature }])
          ])),
      ...(g.text.length === 0
        ? []
        : block(
            { type: "text", text: "" },
            g.text.map((text) => ({ type: "text_delta", text }))
          )),
      ...g.calls.flatMap(({ input, name }, at) =>
        block(
          { type: "tool_use", id: idOf(at), name, input: {} },
          input === undefined
            ? []
            : ["", ...halves(JSON.stringify(input))].map((partial_json) => ({ type: "input_json_delta", partial_json }))
        )
      ),
      {
        type: "message_delta",
        delta: { stop_reason: anthropicStop(g), stop_sequence: null },
        usage: anthropicOutput(g)
      },
      { type: "message_stop" }
    ])
  },
  plain: (g) => ({
    type: "message",
    model: "m",
    content: [
      ...(g.reasoning.length === 0
        ? []
        : [{ type: "thinking", thinking: g.reasoning.join(""), signature: g.signature ?? "" }]),
      ...(g.text.length === 0 ? [] : [{ type: "text", text: g.text.join("") }]),
      ...g.calls.map(({ input, name }, at) => ({ type: "tool_use", id: idOf(at), name, input: input ?? {} }))
    ],
    stop_reason: anthropicStop(g),
    stop_sequence: null,
    usage: { ...anthropicUsage(g), ...anthropicOutput(g) }
  })
}

const geminiUsage = ({ counts }: Generated) => ({
  promptTokenCount: sum(counts),
  cachedContentTokenCount: counts.read,
  candidatesTokenCount: counts.output,
  thoughtsTokenCount: counts.reasoning,
  totalTokenCount: sum(counts) + counts.output + counts.reasoning
})
const geminiFinish = (g: Generated) => finishOf(g, ["MAX_TOKENS", "STOP", "STOP"])
const geminiCalls = (g: Generated): ReadonlyArray<object> =>
  g.calls.map(({ input, name }, at) => ({
    functionCall: { id: idOf(at), name, args: input ?? {} },
    ...(g.signature !== undefined && at === 0 && { thoughtSignature: g.signature })
  }))
const geminiDialect: Dialect = {
  name: "Gemini",
  protocol: Gemini.make("json"),
  stream: (g) => {
    const parts = [
      ...g.reasoning.map((text) => ({ text, thought: true })),
      ...g.text.map((text) => ({ text })),
      ...geminiCalls(g),
      { text: "" }
    ]
    return sse(
      parts.map((part, at) => ({
        candidates: [
          {
            index: 0,
            content: { role: "model", parts: [part] },
            ...(at === parts.length - 1 && { finishReason: geminiFinish(g) })
          }
        ],
        usageMetadata:
          at === parts.length - 1
            ? geminiUsage(g)
            : { promptTokenCount: sum(g.counts), totalTokenCount: sum(g.counts) },
        modelVersion: "m"
      }))
    )
  },
  plain: (g) => ({
    candidates: [
      {
        index: 0,
        content: {
          role: "model",
          parts: [
            ...(g.reasoning.length === 0 ? [] : [{ text: g.reasoning.join(""), thought: true }]),
            ...(g.text.length === 0 ? [] : [{ text: g.text.join("") }]),
            ...geminiCalls(g)
          ]
        },
        finishReason: geminiFinish(g)
      }
    ],
    usageMetadata: geminiUsage(g),
    modelVersion: "m"
  })
}

const bedrockUsage = ({ counts }: Generated) => ({
  inputTokens: counts.fresh,
  cacheReadInputTokens: counts.read,
  cacheWriteInputTokens: counts.written,
  outputTokens: counts.output + counts.reasoning,
  totalTokens: sum(counts) + counts.output + counts.reasoning
})
const bedrockDialect: Dialect = {
  name: "Bedrock Converse",
  protocol: bedrockConverse,
  stream: (g) => {
    let contentBlockIndex = -1
    const block = (
      start: object | undefined,
      deltas: ReadonlyArray<object>
    ): ReadonlyArray<readonly [string, object]> => {
      contentBlockIndex++
      return [
        ...(start === undefined ? [] : [["contentBlockStart", { contentBlockIndex, start }] as const]),
        ...deltas.map((delta) => ["contentBlockDelta", { contentBlockIndex, delta }] as const),
        ["contentBlockStop", { contentBlockIndex }] as const
      ]
    }
    return aws([
      ["messageStart", { role: "assistant" }],
      ...(g.reasoning.length === 0
        ? []
        : block(undefined, [
            ...g.reasoning.map((text) => ({ reasoningContent: { text } })),
            ...(g.signature === undefined ? [] : [{ reasoningContent: { signature: g.signature } }])
          ])),
      ...(g.text.length === 0
        ? []
        : block(
            undefined,
            g.text.map((text) => ({ text }))
          )),
      ...g.calls.flatMap(({ input, name }, at) =>
        block(
          { toolUse: { toolUseId: idOf(at), name } },
          input === undefined ? [] : halves(JSON.stringify(input)).map((text) => ({ toolUse: { input: text } }))
        )
      ),
      ["messageStop", { stopReason: anthropicStop(g) }],
      ["metadata", { usage: bedrockUsage(g), metrics: { latencyMs: 1 } }]
    ])
  },
  plain: (g) => ({
    output: {
      message: {
        role: "assistant",
        content: [
          ...(g.reasoning.length === 0
            ? []
            : [
                {
                  reasoningContent: {
                    reasoningText: {
                      text: g.reasoning.join(""),
                      ...(g.signature !== undefined && { signature: g.signature })
                    }
                  }
                }
              ]),
          ...(g.text.length === 0 ? [] : [{ text: g.text.join("") }]),
          ...g.calls.map(({ input, name }, at) => ({ toolUse: { toolUseId: idOf(at), name, input: input ?? {} } }))
        ]
      }
    },
    stopReason: anthropicStop(g),
    usage: bedrockUsage(g)
  })
}

const count = fc.integer({ min: 0, max: 500 })
const piece = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" })
const generated: fc.Arbitrary<Generated> = fc
  .record({
    reasoning: fc.array(piece, { maxLength: 3 }),
    signature: fc.option(fc.constant("c2lnbmVk"), { nil: undefined }),
    text: fc.array(piece, { maxLength: 4 }),
    calls: fc.array(
      fc.oneof(
        fc.record({
          name: fc.constantFrom("look", "tell"),
          input: fc.option(fc.dictionary(piece, fc.oneof(piece, fc.integer(), fc.constant(null)), { maxKeys: 3 }), {
            nil: undefined
          })
        }),
        fc.record({ name: fc.constant("write"), input: fc.record({ input: piece }) })
      ),
      { maxLength: 4 }
    ),
    isCut: fc.boolean(),
    counts: fc.record({ fresh: count, read: count, written: count, output: count, reasoning: count })
  })
  .filter(({ calls, text }) => calls.length + text.length > 0)

const functionTool = (name: string): Tool => ({ type: "function", function: { name } })
const tools: ReadonlyArray<Tool> = [
  functionTool("look"),
  functionTool("tell"),
  { type: "custom", custom: { name: "write" } }
]

/** The answer as clients get it, and what its charge is made from. */
const summed = (events: ReadonlyArray<ChatEvent>, progress: Step["progress"]) => {
  const accumulator = new Accumulator()
  const tally = new ResponseTally()
  for (const event of events) {
    accumulator.add(event)
    tally.add(event)
  }
  const { answer } = accumulator
  return {
    progress,
    answer: answer && {
      ...answer,
      toolCalls: answer.toolCalls.map((each) => ({
        ...each,
        arguments: each.kind === "custom" ? each.arguments : JSON.parse(each.arguments)
      }))
    },
    usage: tally.usage,
    tier: tally.servedTier,
    unreported: tally.unreportedTokens
  }
}

const streamed = (protocol: Protocol, bytes: Uint8Array, size: number) => {
  const reader = protocol.stream.open(call({ tools }))
  const events: Array<ChatEvent> = []
  let progress: Step["progress"] = "incomplete"
  for (let from = 0; from < bytes.length && progress === "incomplete"; from += size) {
    const step = reader.push(bytes.subarray(from, from + size))
    for (const event of step.events) events.push(event)
    progress = step.progress
  }
  if (progress === "incomplete") {
    const step = reader.end()
    for (const event of step.events) events.push(event)
    progress = step.progress
  }
  return summed(events, progress)
}

const atOnce = (protocol: Protocol, body: object) => {
  const { events, progress } = protocol.nonStreaming(call({ stream: false, tools }), JSON.stringify(body))
  return summed(events, progress)
}

describe.each([openAiDialect, anthropicDialect, geminiDialect, bedrockDialect])("an answer of $name", (dialect) => {
  it("is the same streamed and plain: text, reasoning, tool calls, finish, usage and what is charged", () => {
    fc.assert(
      fc.property(generated, fc.integer({ min: 1, max: 300 }), (content, size) => {
        const plain = atOnce(dialect.protocol, dialect.plain(content))
        expect(plain.progress).toBe("complete")
        expect(plain.unreported).toBe(0)
        expect(streamed(dialect.protocol, dialect.stream(content), size)).toEqual(plain)
      })
    )
  })
})
