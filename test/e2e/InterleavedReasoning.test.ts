// Promise: what Claude has reasoned between its texts and calls goes back to it where it was, in any format that has an order.
import Anthropic from "@anthropic-ai/sdk"
import OpenAI from "openai"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { model } from "../provider/protocols/calls.ts"
import { callerKey, type InProcess, startInProcess } from "../support/InProcess.ts"
import { sse, start as startUpstream, type Upstream } from "../support/Upstream.ts"

/** One answer of Claude: two calls side by side, with reasoning before each of its parts. */
const blocks = [
  { type: "thinking", thinking: "first", signature: "s1" },
  { type: "text", text: "Let me look." },
  { type: "thinking", thinking: "second", signature: "s2" },
  { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Rome" } },
  { type: "thinking", thinking: "third", signature: "s3" },
  { type: "tool_use", id: "toolu_2", name: "weather", input: { city: "Oslo" } }
] as const
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 20 }
}

const emptied = (block: (typeof blocks)[number]) => {
  switch (block.type) {
    case "thinking":
      return { ...block, thinking: "", signature: "" }
    case "text":
      return { ...block, text: "" }
    case "tool_use":
      return { ...block, input: {} }
  }
}

const deltas = (block: (typeof blocks)[number]): ReadonlyArray<object> => {
  switch (block.type) {
    case "thinking":
      return [
        { type: "thinking_delta", thinking: block.thinking },
        { type: "signature_delta", signature: block.signature }
      ]
    case "text":
      return [{ type: "text_delta", text: block.text }]
    case "tool_use":
      return [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }]
  }
}

const events: ReadonlyArray<object> = [
  { type: "message_start", message: { ...message, content: [], stop_reason: null } },
  ...blocks.flatMap((block, index) => [
    { type: "content_block_start", index, content_block: emptied(block) },
    ...deltas(block).map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index }
  ]),
  { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 20 } },
  { type: "message_stop" }
]

let upstream: Upstream
let gateway: InProcess
let before = 0

beforeAll(async () => {
  upstream = await startUpstream((received, response) => {
    if (received.stream) {
      sse(response)
      response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""))
      return
    }
    const body = { ...message, content: blocks, stop_reason: "tool_use" }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
  gateway = await startInProcess({
    origins: { claude: upstream.baseUrl },
    vendors: { claude: "anthropic" },
    models: [
      model({
        id: "claude/one",
        providerId: "claude",
        upstreamModel: "one",
        alias: "one",
        protocol: "anthropic-messages"
      })
    ]
  })
})
beforeEach(() => {
  before = upstream.requests.length
})
afterAll(async () => {
  expect(await gateway.held()).toBe(0)
  expect(await gateway.audit()).toEqual([])
  await gateway.stop()
  await upstream.stop()
})

/** The blocks of the assistant's turn as Claude got them back in the second call. */
const returned = (): unknown => {
  const messages = upstream.requests[before + 1]?.body["messages"]
  return (messages as ReadonlyArray<{ readonly content: unknown }> | undefined)?.[1]?.content
}

describe("reasoning between texts and calls", () => {
  const schema = { type: "object" as const, properties: { city: { type: "string" } } }
  const question = { role: "user" as const, content: "How is the weather?" }

  it.each(["streamed", "plain"])("of a %s message comes back in its place", async (way) => {
    const client = new Anthropic({ apiKey: callerKey, baseURL: gateway.url, maxRetries: 0 })
    const asked = {
      model: "claude/one",
      max_tokens: 1000,
      tools: [{ name: "weather", input_schema: schema }],
      messages: [question] as Array<Anthropic.MessageParam>
    }
    const answer =
      way === "streamed" ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked)
    expect(answer.content.map(({ type }) => type)).toEqual(blocks.map(({ type }) => type))
    const results = answer.content.flatMap((block) =>
      block.type === "tool_use" ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "sunny" }] : []
    )
    await client.messages.create({
      ...asked,
      messages: [question, { role: "assistant", content: answer.content }, { role: "user", content: results }]
    })
    expect(returned()).toEqual(blocks)
  })

  it.each(["streamed", "plain"])("of a %s response comes back in its place", async (way) => {
    const client = new OpenAI({ apiKey: callerKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const asked = {
      model: "claude/one",
      tools: [{ type: "function" as const, name: "weather", parameters: schema, strict: false }]
    }
    const first = { ...asked, input: [question] }
    const { output } =
      way === "streamed" ? await client.responses.stream(first).finalResponse() : await client.responses.create(first)
    expect(output.map(({ type }) => type)).toEqual([
      "reasoning",
      "message",
      "reasoning",
      "function_call",
      "reasoning",
      "function_call"
    ])
    const results = output.flatMap((item) =>
      item.type === "function_call"
        ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "sunny" }]
        : []
    )
    await client.responses.create({
      ...asked,
      input: [question, ...(output as Array<OpenAI.Responses.ResponseInputItem>), ...results]
    })
    expect(returned()).toEqual(blocks)
  })
})
