import { expect, it } from "vitest"
import type { Message, ToolCall } from "../../../../src/domain/Chat.ts"
import type { Answer } from "../../../../src/domain/Completion.ts"
import type { Usage } from "../../../../src/domain/Usage.ts"
import { anthropicMessages } from "../../../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import * as Auth from "../../../../src/provider/transport/Auth.ts"
import { start } from "../../../../src/testing/simulators/anthropic/AnthropicSimulator.ts"
import { reasoningDetail } from "../../../../src/wire/chat/ChatAnswer.ts"
import { pixelUrl } from "../../../support/Pixel.ts"
import { benches, clock, weather } from "../ProtocolContract.ts"
import { claude } from "./claude.ts"

const bench = benches({
  start,
  protocol: anthropicMessages,
  auth: Auth.header("x-api-key"),
  model: claude("claude-sonnet-5")
})

/** As a client sends an answer back. */
const remembered = (answer: Answer, model: string): Message => ({
  role: "assistant",
  content: answer.text === "" ? null : answer.text,
  ...(answer.toolCalls.length > 0 && {
    tool_calls: answer.toolCalls.map(
      ({ arguments: text, id, name }): ToolCall => ({ id, type: "function", function: { name, arguments: text } })
    )
  }),
  reasoning_details: answer.reasoning.map((block, index) => reasoningDetail({ ...block, index, model }))
})

it("a conversation of twelve turns over three models is refused nowhere and loses nothing but other models' reasoning", async () => {
  const models = [claude("claude-sonnet-5"), claude("claude-haiku-4-5"), claude("claude-opus-4-6")]
  const messages: Array<Message> = [
    { role: "system", content: [{ type: "text", text: "Be brief. ".repeat(50), prompt_cache_breakpoint: {} }] }
  ]
  const usages: Array<Usage> = []
  const schema = { type: "object", properties: { city: { type: "string", minLength: 1 } }, required: ["city"] }
  const asks: ReadonlyArray<Message> = [
    { role: "user", content: "Say exactly: one" },
    { role: "user", content: "What is the weather in Rome, and what does the clock say?" },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this picture?" },
        { type: "image_url", image_url: { url: pixelUrl } }
      ]
    },
    { role: "user", content: "The forecast for Rome, in the agreed shape" },
    { role: "user", content: "Say exactly: five" },
    { role: "user", content: "And the weather in Oslo?" },
    { role: "developer", content: "Stay brief." },
    { role: "user", content: "Say exactly: seven" },
    { role: "user", content: "What does the clock say?" },
    { role: "user", content: "Say exactly: nine" },
    { role: "user", content: "Say exactly: ten" },
    { role: "user", content: "Say exactly: eleven" },
    { role: "user", content: "Say exactly: twelve" }
  ]
  const texts: Array<string> = []
  let turn = 0
  for (const ask of asks) {
    messages.push(ask)
    if (ask.role !== "user") continue
    const model = models[turn % models.length] ?? models[0]
    if (model === undefined) throw new Error("no model")
    const shaped = turn === 3
    for (;;) {
      const { answer, error } = await bench().run(
        {
          stream: turn % 4 !== 3,
          messages: [...messages],
          tools: [weather, clock],
          ...(shaped && {
            toolChoice: "none",
            responseFormat: { type: "json_schema", json_schema: { name: "forecast", schema } }
          })
        },
        { model, effort: "low", maxOutputTokens: 5000 }
      )
      expect(bench().simulator.rejections).toEqual([])
      if (answer === undefined || answer.usage === null) throw new Error(`turn ${turn}: ${error?.reason._tag}`)
      usages.push(answer.usage)
      messages.push(remembered(answer, model.id))
      if (answer.toolCalls.length === 0) {
        texts.push(answer.text)
        break
      }
      for (const { id, name } of [...answer.toolCalls].reverse()) {
        messages.push({ role: "tool", tool_call_id: id, content: `${name} is fine` })
      }
    }
    turn++
  }
  expect(texts).toEqual([
    "one",
    "The tools answered: get_weather is fine; read_clock is fine",
    expect.stringContaining("image"),
    '{"city":"Rome"}',
    "five",
    "The tools answered: get_weather is fine",
    "seven",
    "The tools answered: read_clock is fine",
    "nine",
    "ten",
    "eleven",
    "twelve"
  ])
  const [first] = usages
  expect(first?.cacheWriteTokens).toBeGreaterThan(100)
  for (const later of usages.slice(1)) {
    expect([later.cacheReadTokens, later.cacheWriteTokens].sort((a, b) => a - b)[0]).toBe(0)
  }
  expect(usages.some(({ reasoningTokens }) => reasoningTokens > 0)).toBe(true)

  const last: { readonly messages: ReadonlyArray<{ readonly content: ReadonlyArray<{ readonly type: string }> }> } =
    JSON.parse(bench().simulator.requests.at(-1)?.text ?? "{}")
  const sent = last.messages.flatMap(({ content }) => content)
  expect(sent.filter(({ type }) => type === "tool_use")).toHaveLength(4)
  expect(sent.filter(({ type }) => type === "image")).toHaveLength(1)
  const own = messages
    .slice(0, -1)
    .flatMap((message) =>
      message.role === "assistant"
        ? (message.reasoning_details ?? []).filter(({ format }) => format === "anthropic/claude-opus-4-6")
        : []
    )
  expect(own.length).toBeGreaterThan(0)
  expect(sent.filter(({ type }) => type === "thinking" || type === "redacted_thinking")).toHaveLength(own.length)
})

it("a system message between a call and its result is taken where the model takes such messages", async () => {
  const calls: ReadonlyArray<ToolCall> = [
    { id: "c1", type: "function", function: { name: "get_weather", arguments: "{}" } }
  ]
  for (const name of ["claude-opus-4-8", "claude-fable-5", "claude-sonnet-5"]) {
    const { answer } = await bench().run(
      {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "What is the weather in Rome?" },
          { role: "assistant", content: null, tool_calls: calls },
          { role: "developer", content: "Stay brief." },
          { role: "tool", tool_call_id: "c1", content: "It is fine" }
        ],
        tools: [weather]
      },
      { model: claude(name), maxOutputTokens: 5000 }
    )
    expect([name, answer?.text, bench().simulator.rejections]).toEqual([name, "The tools answered: It is fine", []])
  }
})
