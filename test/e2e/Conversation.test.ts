import type OpenAI from "openai"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { ReasoningDetail } from "../../src/domain/Chat.ts"
import type { RouterMetadata } from "../../src/domain/RouterMetadata.ts"
import { type FourProviders, type Route, routes, startFourProviders } from "../support/FourProviders.ts"
import * as Native from "../support/Native.ts"
import { pixel } from "../support/Pixel.ts"

let providers: FourProviders

beforeAll(async () => {
  // the effort that each of them is run with
  providers = await startFourProviders((model) => ({ ...model, profile: { ...model.profile, effort: "low" } }))
})
afterAll(() => providers.stop())

interface ToolCall {
  id: string
  type: "function"
  function: { name: string; arguments: string }
  extra_content?: unknown
}
interface AssistantMessage {
  role: "assistant"
  content: string | null
  tool_calls?: Array<ToolCall>
  reasoning_details?: Array<ReasoningDetail>
}
type Message = OpenAI.ChatCompletionMessageParam | AssistantMessage

interface Answered {
  readonly message: AssistantMessage
  readonly finish: string
  readonly usage: OpenAI.CompletionUsage
  readonly metadata: RouterMetadata
}

const tool = (name: string, parameters?: Record<string, unknown>): OpenAI.ChatCompletionTool => ({
  type: "function",
  function: { name, description: "A tool.", ...(parameters && { parameters }) }
})
const tools = [
  tool("get_weather", {
    type: "object",
    properties: { city: { type: "string" }, additionalProperties: { type: "boolean" } },
    required: ["city", "additionalProperties"]
  }),
  tool("read_clock")
]
const forecast = {
  type: "json_schema",
  json_schema: {
    name: "forecast",
    strict: true,
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { city: { type: "string", minLength: 1 }, days: { type: "integer", minimum: 1, maximum: 9 } },
      required: ["city", "days"],
      additionalProperties: false
    }
  }
} as const

/** One turn through `auto`, answered by this route and checked on its wire. */
const ask = async (route: Route, messages: ReadonlyArray<Message>, stream: boolean, shaped: boolean) => {
  const body = {
    model: "auto",
    models: { allow: [route.model] },
    messages: messages as Array<OpenAI.ChatCompletionMessageParam>,
    tools,
    max_completion_tokens: 5000,
    ...(shaped && { response_format: forecast })
  }
  const chat = providers.gateway.client.chat.completions
  const answered = stream
    ? await streamed(await chat.create({ ...body, stream: true, stream_options: { include_usage: true } }))
    : plain(await chat.create(body))
  const simulator = providers.simulatorOf(route)
  expect(simulator.rejections).toEqual([])
  expect([answered.metadata.model, answered.metadata.attempts.length]).toEqual([route.model, 1])
  expect(route.native.said(Native.lastRequest(simulator))).toEqual(saidBy(messages, route))
  const counted = route.native.counted(Native.lastAnswer(simulator))
  expect(counted.prompt * counted.completion).toBeGreaterThan(0)
  expect(answered.usage).toMatchObject({
    prompt_tokens: counted.prompt,
    completion_tokens: counted.completion,
    total_tokens: counted.prompt + counted.completion,
    prompt_tokens_details: { cached_tokens: counted.cached, cache_write_tokens: counted.written },
    completion_tokens_details: { reasoning_tokens: counted.reasoning }
  })
  return { ...answered, cached: counted.cached }
}

const plain = (completion: OpenAI.ChatCompletion): Answered => {
  const { choices, router_metadata, usage } = completion as OpenAI.ChatCompletion & { router_metadata: RouterMetadata }
  const choice = choices[0]
  if (choice === undefined || usage === undefined) throw new Error("not whole")
  const { content, reasoning_details, tool_calls } = choice.message as AssistantMessage
  return {
    message: {
      role: "assistant",
      content,
      ...(tool_calls && { tool_calls }),
      ...(reasoning_details && { reasoning_details })
    },
    finish: choice.finish_reason,
    usage,
    metadata: router_metadata
  }
}

/** As a client puts a stream together that keeps what it does not know. */
const streamed = async (chunks: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<Answered> => {
  let content = ""
  let finish = ""
  let usage: OpenAI.CompletionUsage | undefined
  let metadata: RouterMetadata | undefined
  const calls: Array<ToolCall> = []
  const details: Array<ReasoningDetail> = []
  for await (const chunk of chunks) {
    usage = chunk.usage ?? usage
    metadata = (chunk as { router_metadata?: RouterMetadata }).router_metadata ?? metadata
    const choice = chunk.choices[0]
    if (choice === undefined) continue
    finish = choice.finish_reason ?? finish
    content += choice.delta.content ?? ""
    details.push(...((choice.delta as { reasoning_details?: Array<ReasoningDetail> }).reasoning_details ?? []))
    for (const delta of choice.delta.tool_calls ?? []) {
      const { extra_content } = delta as { extra_content?: unknown }
      calls[delta.index] ??= { id: "", type: "function", function: { name: "", arguments: "" } }
      const call = calls[delta.index]
      if (call === undefined) continue
      call.id += delta.id ?? ""
      call.function.name += delta.function?.name ?? ""
      call.function.arguments += delta.function?.arguments ?? ""
      if (extra_content !== undefined) call.extra_content = extra_content
    }
  }
  if (usage === undefined || metadata === undefined) throw new Error("not whole")
  return {
    message: {
      role: "assistant",
      content: content === "" ? null : content,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(details.length > 0 && { reasoning_details: details })
    },
    finish,
    usage,
    metadata
  }
}

/** All that the client has said and heard, as it has to arrive. */
const saidBy = (messages: ReadonlyArray<Message>, route: Route): Native.Said => {
  const texts = ({ content }: Message): ReadonlyArray<string> =>
    typeof content === "string"
      ? [content]
      : (content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : []))
  const assistants = messages.filter((message): message is AssistantMessage => message.role === "assistant")
  const own = assistants
    .flatMap(({ reasoning_details }) => reasoning_details ?? [])
    .filter(({ format }) => format === route.model)
  return {
    instructions: messages.filter(({ role }) => role === "system" || role === "developer").flatMap(texts),
    texts: messages.filter(({ role }) => role === "user" || role === "assistant").flatMap(texts),
    calls: assistants.flatMap(({ tool_calls }) =>
      (tool_calls ?? []).map((call) => ({
        id: call.id,
        name: call.function.name,
        arguments: JSON.parse(call.function.arguments)
      }))
    ),
    results: Object.fromEntries(
      messages.flatMap((message) =>
        message.role === "tool" ? [[message.tool_call_id, texts(message).join("\n")]] : []
      )
    ),
    images: messages.flatMap(({ content }) =>
      Array.isArray(content) && content.some(({ type }) => type === "image_url") ? [pixel] : []
    ),
    signatures: route.vendor === "openai" ? [] : own.flatMap(({ data, signature }) => signature ?? data ?? [])
  }
}

const userMessage = (turn: number, kind: number): Message => {
  const about = `(${"ABCDEFGHIJKL"[turn]}) ${"Ünïcode, 漢字 and 🌍. ".repeat(3)}`
  if (kind === 0) return { role: "user", content: `${about}What is the weather in Rome, and what does the clock say?` }
  if (kind === 1) return { role: "user", content: `${about}The forecast for 3 days in Rome` }
  return {
    role: "user",
    content: [
      { type: "text", text: `${about}What is this picture?` },
      { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } }
    ]
  }
}

it("a conversation of twelve turns, each answered over another protocol, is refused nowhere and loses nothing", async () => {
  const instructions = "Be brief. ".repeat(40)
  const messages: Array<Message> = [
    {
      role: "system",
      content: [{ type: "text", text: instructions, prompt_cache_breakpoint: { mode: "explicit" } }]
    }
  ]
  const asked = new Map<string, number>()
  const cached = new Map<string, number>()
  const cost: Array<number> = []
  const reasoned = new Set<string>()
  const calls = new Set<string>()

  const turnOf = async (route: Route, shaped: boolean): Promise<Answered> => {
    const count = (asked.get(route.vendor) ?? 0) + 1
    const answered = await ask(route, messages, count % 2 === 1, shaped)
    asked.set(route.vendor, count)
    cached.set(route.vendor, (cached.get(route.vendor) ?? 0) + (answered.cached > 0 ? 1 : 0))
    cost.push(answered.metadata.cost.amount_microusd)
    for (const { format } of answered.message.reasoning_details ?? []) reasoned.add(format ?? "")
    messages.push(answered.message)
    return answered
  }

  for (let turn = 0; turn < 12; turn++) {
    const [route, other] = [routes[turn % 4], routes[(turn + 2) % 4]]
    if (route === undefined || other === undefined) throw new Error("no route")
    const kind = (turn + Math.floor(turn / 4)) % 3
    messages.push(userMessage(turn, kind))
    if (turn === 6) messages.push({ role: "developer", content: "Stay brief." })
    const answered = await turnOf(route, kind === 1)
    if (kind === 2) expect(answered.message.content).toContain("image")
    if (kind === 1) expect(JSON.parse(answered.message.content ?? "")).toEqual({ city: "Rome", days: 3 })
    if (kind !== 0) {
      expect(answered.finish).toBe("stop")
      continue
    }
    expect(answered.finish).toBe("tool_calls")
    const made = answered.message.tool_calls ?? []
    expect(made.map(({ function: { arguments: text, name } }) => [name, JSON.parse(text)])).toEqual([
      ["get_weather", { city: "Rome", additionalProperties: expect.any(Boolean) }],
      ["read_clock", {}]
    ])
    for (const { id } of made) calls.add(id)
    // the results go to another protocol than the calls came from, the last first
    for (const { function: called, id } of [...made].reverse()) {
      messages.push({ role: "tool", tool_call_id: id, content: `${called.name} is fine in turn ${turn}` })
    }
    const { message } = await turnOf(other, false)
    expect(message.content?.replace("The tools answered: ", "").split("; ").sort()).toEqual([
      `get_weather is fine in turn ${turn}`,
      `read_clock is fine in turn ${turn}`
    ])
  }

  expect([...asked.values()]).toEqual([4, 4, 4, 4])
  const proofs = routes.map(
    (route) => route.native.said(Native.lastRequest(providers.simulatorOf(route))).signatures.length
  )
  expect(proofs.map((count) => count > 0)).toEqual([false, true, true, true])
  expect(calls.size).toBe(8)
  expect([...reasoned].sort()).toEqual(routes.map(({ model }) => model).sort())
  // what a provider has seen before begins alike the next time; a late instruction changes the start of Gemini's, where it stands first
  expect(Object.fromEntries(cached)).toEqual({ openai: 3, anthropic: 3, google: 2, "amazon-bedrock": 3 })
  expect(await providers.gateway.spent()).toBe(cost.reduce((sum, one) => sum + one, 0))
  expect(await providers.gateway.held()).toBe(0)
  expect(await providers.gateway.audit()).toEqual([])
})

it.each(routes.map((route) => [route.vendor, route] as const))(
  "the message that OpenAI's client puts together from a stream of %s can be sent back, with the last piece of reasoning alone",
  async (_, route) => {
    const simulator = providers.simulatorOf(route)
    const before = simulator.rejections.length
    const chat = providers.gateway.client.chat.completions
    // of even length: a single block of Claude's reasoning, whose last piece is its signature
    const question = "What is the weather in Rome, and what does the clock say, please?"
    const messages: Array<OpenAI.ChatCompletionMessageParam> = [{ role: "user", content: `${question}!` }]
    const body = { model: route.model, tools, reasoning_effort: "low", max_completion_tokens: 5000 } as const
    const answer = async () => (await chat.stream({ ...body, messages }).finalChatCompletion()).choices[0]?.message
    const called = await answer()
    expect((called as AssistantMessage | undefined)?.reasoning_details).toHaveLength(1)
    if (called === undefined) throw new Error("no message")
    messages.push(called)
    for (const { id } of called.tool_calls ?? []) messages.push({ role: "tool", tool_call_id: id, content: "fine" })
    expect((await answer())?.content).toBe("The tools answered: fine; fine")
    expect(simulator.rejections.slice(before)).toEqual([])
  }
)

it.each(routes.map((route) => [route.vendor, route] as const))(
  "%s takes tools without parameters however clients declare them, and calls without arguments however they send them back",
  async (_, route) => {
    const declared = [undefined, {}, { type: "object" }, { type: "object", additionalProperties: false }]
    const call = (id: string, text: string): ToolCall => ({
      id,
      type: "function",
      function: { name: "tool_0", arguments: text }
    })
    const messages: Array<Message> = [
      { role: "user", content: [{ type: "text", text: "" }] },
      { role: "assistant", content: null, tool_calls: [call("call_1", ""), call("call_2", "{}")] },
      { role: "tool", tool_call_id: "call_1", content: "sunny" },
      { role: "tool", tool_call_id: "call_2", content: "noon" }
    ]
    const simulator = providers.simulatorOf(route)
    const before = simulator.rejections.length
    const { choices } = await providers.gateway.client.chat.completions.create({
      model: route.model,
      messages: messages as Array<OpenAI.ChatCompletionMessageParam>,
      tools: declared.map((parameters, at) => tool(`tool_${at}`, parameters)),
      max_completion_tokens: 5000
    })
    expect(simulator.rejections.slice(before)).toEqual([])
    expect(choices[0]?.message.content).toBe("The tools answered: sunny; noon")
  }
)

it.each(routes.map((route, at) => [route.vendor, route, routes[(at + 1) % routes.length]] as const))(
  "the call of a custom tool by %s is one of a custom tool, and goes on at the next provider",
  async (_, route, other) => {
    if (other === undefined) throw new Error("no route")
    const chat = providers.gateway.client.chat.completions
    const messages: Array<OpenAI.ChatCompletionMessageParam> = [{ role: "user", content: "Write some SQL" }]
    const shared = { tools: [{ type: "custom" as const, custom: { name: "run_sql", description: "Runs SQL." } }] }
    const asked = { ...shared, model: route.model, messages, tool_choice: "required" as const }
    const plainCalls = (await chat.create(asked)).choices[0]?.message
    const streamedCalls = (await chat.stream(asked).finalChatCompletion()).choices[0]?.message
    for (const message of [plainCalls, streamedCalls]) {
      if (message === undefined) throw new Error("no message")
      const custom = { name: "run_sql", input: "Write some SQL" }
      expect(message.tool_calls).toMatchObject([{ type: "custom", custom }])
      const result = { role: "tool" as const, tool_call_id: message.tool_calls?.[0]?.id ?? "", content: "2 rows" }
      const next = await chat.create({ ...shared, model: other.model, messages: [...messages, message, result] })
      expect(next.choices[0]?.message.content).toBe("The tools answered: 2 rows")
    }
  }
)
