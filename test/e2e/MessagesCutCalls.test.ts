// Promise: Anthropic's client is told why an answer ends amid a call, whoever has cut it.
import Anthropic from "@anthropic-ai/sdk"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { model } from "../provider/protocols/calls.ts"
import { callerKey, type InProcess, startInProcess } from "../support/InProcess.ts"
import { done, event, sse, start as startUpstream, type Upstream } from "../support/Upstream.ts"

/** A call whose arguments end in the middle; the model's name is the finish reason. */
const cut = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"ci' } }
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

let upstream: Upstream
let gateway: InProcess
let client: Anthropic

beforeAll(async () => {
  upstream = await startUpstream((received, response) => {
    if (received.stream) {
      sse(response)
      response.write(event({ choices: [{ index: 0, delta: { content: "Let me see." } }] }))
      response.write(event({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...cut }] } }] }))
      response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: received.model }], usage }))
      response.end(done)
      return
    }
    const message = { role: "assistant", content: "Let me see.", tool_calls: [cut] }
    const body = { choices: [{ index: 0, message, finish_reason: received.model }], usage }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
  gateway = await startInProcess({
    origins: { one: upstream.baseUrl },
    models: ["content_filter", "length", "tool_calls"].map((name) =>
      model({ id: `one/${name}`, providerId: "one", upstreamModel: name, alias: name })
    )
  })
  client = new Anthropic({ apiKey: callerKey, baseURL: gateway.url, maxRetries: 0 })
})
afterAll(async () => {
  expect(await gateway.held()).toBe(0)
  expect(await gateway.audit()).toEqual([])
  await gateway.stop()
  await upstream.stop()
})

const asked = (name: string) => ({
  model: `one/${name}`,
  max_tokens: 100,
  tools: [{ name: "weather", input_schema: { type: "object" as const } }],
  messages: [{ role: "user" as const, content: "hi" }]
})

describe("an answer that ends amid a call", () => {
  it.each([
    ["content_filter", "refusal"],
    ["length", "max_tokens"]
  ])("by %s stops with %s, streamed and plain, and is charged", async (name, reason) => {
    const plain = await client.messages.create(asked(name))
    const streamed = await client.messages.stream(asked(name)).finalMessage()
    expect([plain.stop_reason, streamed.stop_reason]).toEqual([reason, reason])
    expect(plain.content.map(({ type }) => type)).toEqual(["text"])
    expect(streamed.content[0]).toMatchObject({ type: "text", text: "Let me see." })
    expect([plain.usage.output_tokens, streamed.usage.output_tokens]).toEqual([5, 5])
  })

  it("although it says that it is whole is a bad one", async () => {
    await expect(client.messages.create(asked("tool_calls"))).rejects.toThrow("could not be parsed")
    await expect(client.messages.stream(asked("tool_calls")).finalMessage()).rejects.toThrow("could not be parsed")
  })
})
