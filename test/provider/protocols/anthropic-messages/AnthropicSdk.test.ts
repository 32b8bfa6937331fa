import Anthropic from "@anthropic-ai/sdk"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { anthropicMessages } from "../../../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import { start } from "../../../../src/testing/simulators/anthropic/AnthropicSimulator.ts"
import type { InjectedFault, Simulator } from "../../../../src/testing/simulators/core/Simulator.ts"
import { pixel, pixelUrl } from "../../../support/Pixel.ts"
import { call } from "../calls.ts"
import { claude } from "./claude.ts"

let simulator: Simulator
beforeEach(async () => {
  simulator = await start()
})
afterEach(() => simulator.stop())

const client = () => new Anthropic({ apiKey: "k", baseURL: simulator.origin, maxRetries: 0 })
const model = "claude-opus-4-8"
const asked = { model, max_tokens: 4000 }
const tools = [
  {
    name: "get_weather",
    description: "Tells the weather.",
    input_schema: { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] }
  }
]

describe("the official client", () => {
  it("reads what the simulator streams, reasoning and tool calls included", async () => {
    const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "The weather in Köln?" }] }]
    const stream = client().messages.stream({
      ...asked,
      messages,
      tools,
      thinking: { type: "adaptive", display: "summarized" }
    })
    const message = await stream.finalMessage()
    expect(message.stop_reason).toBe("tool_use")
    expect(message.content.map(({ type }) => type)).toEqual(["thinking", "tool_use"])
    expect(message.content.at(-1)).toMatchObject({ name: "get_weather", input: { city: "Köln" } })
    expect(message.usage.output_tokens).toBeGreaterThan(0)
  })

  it("may send texts in place of lists of blocks, as long as they are not blank", async () => {
    const ask = (content: string) =>
      client().messages.create({
        ...asked,
        system: "Be brief.",
        messages: [
          { role: "user", content },
          { role: "assistant", content: [{ type: "tool_use", id: "a", name: "get_weather", input: { city: "Rome" } }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "sunny" }] }
        ],
        tools
      })
    expect((await ask("The weather?")).content).toMatchObject([{ text: "The tools answered: sunny" }])
    await expect(ask(" ")).rejects.toThrow("non-whitespace")
  })

  it("names the simulator's faults as it names the real ones", async () => {
    const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }]
    const named = async (fault: InjectedFault) => {
      simulator.failNext(fault)
      return client()
        .messages.create({ ...asked, messages })
        .then(
          () => "answered",
          (error: unknown) => (error instanceof Error ? error.constructor.name : "unknown")
        )
    }
    expect([
      await named("rate-limited"),
      await named("unauthorized"),
      await named("model-gone"),
      await named("invalid")
    ]).toEqual(["RateLimitError", "AuthenticationError", "NotFoundError", "BadRequestError"])
  })

  it("sends the same body as we do for the same call", async () => {
    const ours = anthropicMessages.lower(
      call(
        {
          stream: false,
          stop: ["END"],
          user: "u-1",
          serviceTier: "auto",
          parallelToolCalls: false,
          messages: [
            { role: "system", content: "Be brief." },
            {
              role: "user",
              content: [
                { type: "text", text: "Look." },
                { type: "image_url", image_url: { url: pixelUrl } }
              ]
            },
            {
              role: "assistant",
              content: null,
              tool_calls: [
                { id: "a", type: "function", function: { name: "get_weather", arguments: '{"city":"Rome"}' } }
              ]
            },
            { role: "tool", tool_call_id: "a", content: "sunny" }
          ],
          tools: [
            {
              type: "function",
              function: {
                name: "get_weather",
                description: "Tells the weather.",
                parameters: tools[0]?.input_schema ?? {}
              }
            }
          ]
        },
        { model: claude(model), maxOutputTokens: 4000, effort: "high" }
      )
    )
    await client().messages.create({
      ...asked,
      stream: false,
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look." },
            {
              type: "image",
              source: { type: "base64", media_type: "image/png", data: pixel }
            }
          ]
        },
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "get_weather", input: { city: "Rome" } }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "sunny" }] }]
        }
      ],
      tools,
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: "high" },
      stop_sequences: ["END"],
      metadata: { user_id: "u-1" },
      service_tier: "auto"
    })
    expect(simulator.rejections).toEqual([])
    expect(JSON.parse(String(ours))).toEqual(JSON.parse(simulator.requests[0]?.text ?? "{}"))
  })
})
