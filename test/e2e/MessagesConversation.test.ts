// Promise: Anthropic's client works unchanged with any provider behind it.
import Anthropic from "@anthropic-ai/sdk"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { RouterMetadata } from "../../src/domain/RouterMetadata.ts"
import { type FourProviders, type Route, routes, startFourProviders } from "../support/FourProviders.ts"
import { callerKey } from "../support/InProcess.ts"
import * as Native from "../support/Native.ts"
import { pixel } from "../support/Pixel.ts"

let providers: FourProviders
let client: Anthropic

beforeAll(async () => {
  providers = await startFourProviders()
  client = new Anthropic({ apiKey: callerKey, baseURL: providers.gateway.url, maxRetries: 0 })
})
afterAll(async () => {
  expect(await providers.gateway.held()).toBe(0)
  expect(await providers.gateway.audit()).toEqual([])
  await providers.stop()
})

const simulatorOf = (route: Route) => providers.simulatorOf(route)

const ephemeral = { type: "ephemeral" } as const
const tools: Array<Anthropic.Tool> = [
  {
    name: "get_weather",
    description: "A tool.",
    input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  },
  { name: "read_clock", input_schema: { type: "object", properties: {} }, cache_control: ephemeral }
]
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } } as const

type Metadata = { readonly router_metadata: RouterMetadata }

/** One turn, answered by this route and checked on its wire; what is charged is what the client is told. */
const ask = async (
  route: Route,
  messages: ReadonlyArray<Anthropic.MessageParam>,
  stream: boolean,
  more: Partial<Anthropic.MessageCreateParams> = {}
): Promise<Anthropic.Message & Metadata> => {
  const body = {
    model: "auto",
    models: { allow: [route.model] },
    max_tokens: 6_000,
    system: [{ type: "text" as const, text: "Be brief. ".repeat(40), cache_control: ephemeral }],
    thinking: { type: "enabled" as const, budget_tokens: 2_000 },
    tools,
    messages: [...messages],
    ...more,
    stream: false as const
  }
  const answered = stream ? await streamed(client.messages.stream(body)) : await client.messages.create(body)
  const simulator = simulatorOf(route)
  expect(simulator.rejections).toEqual([])
  const counted = route.native.counted(Native.lastAnswer(simulator))
  const { usage } = answered
  expect({
    prompt: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
    cached: usage.cache_read_input_tokens,
    written: usage.cache_creation_input_tokens,
    completion: usage.output_tokens,
    reasoning: usage.output_tokens_details?.thinking_tokens
  }).toEqual(counted)
  const whole = answered as Anthropic.Message & Metadata
  expect(whole.model).toBe(route.model)
  expect(whole.router_metadata.model).toBe(route.model)
  return whole
}

/** As the official client puts a stream together; the metadata is on an event that it keeps no unknown fields of. */
const streamed = async (stream: ReturnType<Anthropic.Messages["stream"]>): Promise<Anthropic.Message & Metadata> => {
  let metadata: RouterMetadata | undefined
  stream.on("streamEvent", (event: Anthropic.MessageStreamEvent) => {
    if (event.type === "message_delta") metadata = (event as unknown as Metadata).router_metadata
  })
  const message = await stream.finalMessage()
  if (metadata === undefined) throw new Error("no metadata")
  return { ...message, router_metadata: metadata }
}

const callsIn = ({ content }: Anthropic.Message) => content.filter((block) => block.type === "tool_use")
const textIn = ({ content }: Anthropic.Message): string =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")

describe.each(routes.map((route) => [route.vendor, route] as const))("Anthropic's client over %s", (_, route) => {
  it.each([false, true])("thinks, calls tools, and gets their results with images (stream: %s)", async (stream) => {
    const question: Anthropic.MessageParam = {
      role: "user",
      content: [{ type: "text", text: "What is the weather in Rome, and what does the clock say?" }, image]
    }
    const first = await ask(route, [question], stream)
    expect(first.stop_reason).toBe("tool_use")
    const calls = callsIn(first)
    expect(calls.map(({ input, name }) => [name, input])).toEqual([
      ["get_weather", { city: "Rome" }],
      ["read_clock", {}]
    ])
    const reasoning = first.content.filter(({ type }) => type === "thinking" || type === "redacted_thinking")
    if (route.vendor !== "openai") expect(reasoning.length).toBeGreaterThan(0)
    const [weather, clock] = calls
    if (weather === undefined || clock === undefined) throw new Error("no calls")
    const results: Anthropic.MessageParam = {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: weather.id,
          content: [{ type: "text", text: "sunny" }, image],
          cache_control: ephemeral
        },
        { type: "tool_result", tool_use_id: clock.id, content: "the clock is broken", is_error: true },
        { type: "text", text: "Go on." }
      ]
    }
    const last = await ask(route, [question, { role: "assistant", content: first.content }, results], stream)
    expect(last.stop_reason).toBe("end_turn")
    // chat completions has the images of results, and what the user adds, in a message of its own: that is answered there
    if (route.vendor !== "openai") expect(textIn(last)).toContain("sunny; the clock is broken")
    const said = route.native.said(Native.lastRequest(simulatorOf(route)))
    expect(said.instructions).toEqual(["Be brief. ".repeat(40)])
    expect(said.calls.map((call) => [call.name, call.arguments])).toEqual([
      ["get_weather", { city: "Rome" }],
      ["read_clock", {}]
    ])
    expect(Object.values(said.results).map((result) => result.trim())).toEqual(["sunny", "the clock is broken"])
    expect(said.images).toContain(pixel)
    expect(JSON.stringify(Native.lastRequest(simulatorOf(route))).split(pixel).length - 1).toBe(2)
    if (route.vendor !== "openai") expect(said.signatures.length).toBeGreaterThan(0)
  })

  it("ends where its output cap is reached, and says so", async () => {
    const message = await client.messages.create({
      model: route.model,
      max_tokens: 40,
      messages: [{ role: "user", content: "Please count to 900" }]
    })
    expect(message.stop_reason).toBe("max_tokens")
    expect(simulatorOf(route).rejections).toEqual([])
  })

  it("follows a JSON schema", async () => {
    const message = await ask(route, [{ role: "user", content: "The forecast for 3 days in Rome" }], false, {
      tools: [],
      output_config: {
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: { city: { type: "string" }, days: { type: "integer" } },
            required: ["city", "days"],
            additionalProperties: false
          }
        }
      }
    })
    expect(JSON.parse(textIn(message))).toEqual({ city: "Rome", days: 3 })
  })
})

it("one conversation goes from provider to provider, and reasoning is sent back to its own model only", async () => {
  const messages: Array<Anthropic.MessageParam> = []
  for (let turn = 0; turn < 8; turn++) {
    const [route, other] = [routes[turn % 4], routes[(turn + 1) % 4]]
    if (route === undefined || other === undefined) throw new Error("no route")
    messages.push({ role: "user", content: `(${turn}) What is the weather in Rome?` })
    const first = await ask(route, messages, turn % 2 === 0)
    messages.push({ role: "assistant", content: first.content })
    messages.push({
      role: "user",
      content: callsIn(first).map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: `fine ${turn}` }))
    })
    const second = await ask(other, messages, turn % 2 === 1)
    expect(textIn(second)).toContain(`fine ${turn}`)
    messages.push({ role: "assistant", content: second.content })
  }
  const signatures = routes.map((route) => route.native.said(Native.lastRequest(simulatorOf(route))).signatures.length)
  expect(signatures.map((count) => count > 0)).toEqual([false, true, true, true])
})

describe("marks of cached blocks", () => {
  const [, anthropic, , bedrock] = routes
  const marked: ReadonlyArray<Anthropic.MessageParam> = [
    { role: "user", content: [{ type: "text", text: "Say: hello", cache_control: { type: "ephemeral", ttl: "1h" } }] }
  ]

  it("reach Anthropic as they are, but for a time whose price is not known", async () => {
    const { router_metadata: metadata } = await ask(anthropic, marked, false, { cache_control: ephemeral })
    const body = Native.lastRequest(simulatorOf(anthropic))
    expect(body["cache_control"]).toEqual(ephemeral)
    expect(body["system"]).toMatchObject([{ cache_control: ephemeral }])
    expect(body["tools"]).toMatchObject([{ name: "get_weather" }, { name: "read_clock", cache_control: ephemeral }])
    expect(body["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "Say: hello", cache_control: ephemeral }] }
    ])
    expect(metadata.dropped_parameters).toContain("cache_control.ttl")
  })

  it("become cache points at Bedrock", async () => {
    await ask(bedrock, marked, false)
    const text = JSON.stringify(Native.lastRequest(simulatorOf(bedrock)))
    expect(text.split('"cachePoint"').length - 1).toBe(3)
  })

  it("are named where they have no effect", async () => {
    const [openai] = routes
    const { router_metadata: metadata } = await ask(openai, marked, false)
    expect(metadata.dropped_parameters).toContain("cache_control")
    expect(JSON.stringify(Native.lastRequest(simulatorOf(openai)))).not.toContain("ephemeral")
  })
})

describe.each(routes.map((route) => [route.vendor, route] as const))("over %s", (_, route) => {
  const use = (id: string) => ({ type: "tool_use", id, name: "read_clock", input: {} }) as const
  const results: ReadonlyArray<Anthropic.ToolResultBlockParam> = [
    { type: "tool_result", tool_use_id: "toolu_1" },
    { type: "tool_result", tool_use_id: "toolu_2", content: [] },
    { type: "tool_result", tool_use_id: "toolu_3", content: [{ type: "text", text: "" }] }
  ]

  it("a tool may have nothing to say", async () => {
    const message = await ask(
      route,
      [
        { role: "user", content: "go" },
        { role: "assistant", content: [use("toolu_1"), use("toolu_2"), use("toolu_3")] },
        { role: "user", content: [...results] }
      ],
      false
    )
    expect(message.stop_reason).toBe("end_turn")
  })

  it.each([false, true])("reasoning without its text is sent back with it (stream: %s)", async (stream) => {
    const more = { thinking: { type: "enabled", budget_tokens: 2_000, display: "omitted" } } as const
    const question = { role: "user", content: "What is the weather in Rome, and what does the clock say?" } as const
    const asked = await ask(route, [question], stream, more)
    const shown = asked.content.filter((block) => block.type === "thinking")
    expect(shown.every(({ thinking }) => thinking === "")).toBe(true)
    const given = asked.content.flatMap((block) =>
      block.type === "tool_use" ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "fine" }] : []
    )
    const turns = [question, { role: "assistant", content: asked.content }, { role: "user", content: given }] as const
    expect((await ask(route, turns, stream, more)).stop_reason).toBe("end_turn")
    const { signatures } = route.native.said(Native.lastRequest(simulatorOf(route)))
    expect(signatures.length > 0).toBe(asked.content.some(({ type }) => type.endsWith("thinking")))
  })

  it("a tool may fail", async () => {
    const failed = { type: "tool_result", tool_use_id: "toolu_1", content: "no clock", is_error: true } as const
    const { router_metadata: metadata } = await ask(
      route,
      [
        { role: "user", content: "go" },
        { role: "assistant", content: [use("toolu_1")] },
        { role: "user", content: [failed] }
      ],
      false
    )
    const isSent = /"is_error":true|"status":"error"|"response":\{"error"/.test(
      JSON.stringify(Native.lastRequest(simulatorOf(route)))
    )
    expect(metadata.dropped_parameters.includes("tool_result.is_error")).toBe(!isSent)
  })

  it("top_k goes to what takes it", async () => {
    const asked = { top_k: 5, temperature: 0.5, thinking: { type: "disabled" } } as const
    const message = await ask(route, [{ role: "user", content: "Say: hello" }], false, asked)
    const text = JSON.stringify(Native.lastRequest(simulatorOf(route)))
    expect(/"top_?k":5/i.test(text)).toBe(!message.router_metadata.dropped_parameters.includes("top_k"))
  })
})

describe("names of Claude", () => {
  it.each([
    "claude-sonnet-5",
    "claude-sonnet-5-20260203",
    "anthropic/claude-sonnet-5",
    "claude-haiku-4-5-20251001",
    "claude-haiku-4.5"
  ])("%s is the model that a provider here offers under another name", async (model) => {
    const message = await client.messages.create({
      model,
      max_tokens: 2_000,
      messages: [{ role: "user", content: "Say: hello" }]
    })
    expect(message.model).toMatch(model.includes("sonnet") ? /claude-sonnet-5$/ : /claude-haiku-4-5/)
  })
})
