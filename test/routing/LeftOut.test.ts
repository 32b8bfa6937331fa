import { describe, expect, it } from "@effect/vitest"
import type { ChatRequest, Message } from "../../src/domain/Chat.ts"
import type { Model } from "../../src/domain/Model.ts"
import { addsUserTurn, extrasOf, leftOutOf } from "../../src/routing/LeftOut.ts"
import { model, request, supporting } from "./models.ts"

const leftOut = (one: Model, more: Partial<ChatRequest>, effort?: "high" | "none") => {
  const asked = request(more)
  return leftOutOf(one, asked, extrasOf(asked), effort, () => false)
}
const of = (protocol: Model["protocol"], more: Partial<Model> = {}) => model("acme/large", { protocol, ...more })
const claude = of("anthropic-messages")
const nova = of("bedrock-converse", { upstreamModel: "amazon.nova-lite-v1:0" })
const [openAi, gemini] = [of("openai-chat"), of("gemini")]
const nothing = { dropped: [], altered: [] }
const budget = {
  efforts: ["high"],
  style: "budget",
  budget: null,
  defaultEffort: null,
  mandatory: false,
  depth: null
} as const

describe("what a request loses on its way to a model", () => {
  it("a temperature is named where the range of the protocol ends below it", () => {
    for (const one of [claude, nova]) {
      expect(leftOut(one, { temperature: 1.5 })).toEqual({ dropped: [], altered: ["temperature"] })
      expect(leftOut(one, { temperature: -0.1 }).altered).toEqual(["temperature"])
      for (const temperature of [0, 0.7, 1]) expect(leftOut(one, { temperature })).toEqual(nothing)
    }
    for (const one of [openAi, gemini]) expect(leftOut(one, { temperature: 1.5 })).toEqual(nothing)
  })

  it("a seed beyond 32 bits is left out at Gemini, which has no more", () => {
    for (const seed of [2 ** 31, -(2 ** 31) - 1, 2n ** 62n]) {
      expect(leftOut(gemini, { seed })).toEqual({ dropped: ["seed"], altered: [] })
      expect(leftOut(openAi, { seed })).toEqual(nothing)
    }
    for (const seed of [0, 2 ** 31 - 1, -(2 ** 31)]) expect(leftOut(gemini, { seed })).toEqual(nothing)
  })

  it("sampling is left out by Claude whenever it reasons, asked or not", () => {
    const asked = { temperature: 0.5 }
    const byDefault = { ...claude, reasoning: budget, reasonsByDefault: true }
    expect(leftOut({ ...claude, reasonsByDefault: true }, asked).dropped).toEqual(["temperature"])
    expect(leftOut(byDefault, asked).dropped).toEqual(["temperature"])
    expect(leftOut(byDefault, asked, "none")).toEqual(nothing)
    expect(leftOut({ ...claude, reasoning: budget }, asked, "high").dropped).toEqual(["temperature"])
    expect(leftOut({ ...claude, reasoning: budget }, asked)).toEqual(nothing)
    const reasoning = { maxTokens: 2_000, summary: undefined, exclude: false }
    expect(leftOut({ ...claude, reasoning: budget }, { ...asked, reasoning }).dropped).toEqual(["temperature"])
    expect(leftOut({ ...openAi, reasonsByDefault: true }, asked)).toEqual(nothing)
  })

  it("of the stop sequences only the blank ones are named", () => {
    for (const one of [claude, nova]) {
      expect(leftOut(one, { stop: ["a", " ", "b", "\n"] })).toEqual({ dropped: [], altered: ["stop[1]", "stop[3]"] })
      expect(leftOut(one, { stop: [" "] })).toEqual({ dropped: ["stop"], altered: [] })
    }
    expect(leftOut(openAi, { stop: [" "] })).toEqual(nothing)
  })

  it("a service tier that Anthropic does not have, and the second of two ids for one field", () => {
    expect(leftOut(claude, { serviceTier: "flex" }).dropped).toEqual(["service_tier"])
    expect(leftOut(claude, { serviceTier: "priority" })).toEqual(nothing)
    expect(leftOut(openAi, { serviceTier: "flex" })).toEqual(nothing)
    expect(leftOut(claude, { user: "u", safetyIdentifier: "s" }).dropped).toEqual(["safety_identifier"])
    expect(leftOut(claude, { safetyIdentifier: "s" })).toEqual(nothing)
    expect(leftOut(openAi, { user: "u", safetyIdentifier: "s" })).toEqual(nothing)
    const withoutUser = { ...claude, support: supporting({ user: "dropped" }) }
    expect(leftOut(withoutUser, { user: "u", safetyIdentifier: "s" }).dropped).toEqual(["user"])
  })

  it("a verbosity other than `medium` at OpenAI's models before gpt-5", () => {
    const rules = { maxIdCharacters: 64, isOpenAi: true }
    const droppedOf = (upstreamModel: string, verbosity: "low" | "medium", more: Partial<Model> = { rules }) =>
      leftOut({ ...openAi, alias: upstreamModel, upstreamModel, ...more }, { verbosity }).dropped
    for (const older of ["gpt-4o", "gpt-4.1-mini", "chatgpt-4o-latest", "o3", "o4-mini"]) {
      expect(droppedOf(older, "low")).toEqual(["verbosity"])
      expect(droppedOf(older, "medium")).toEqual([])
      expect(droppedOf(older, "low", { rules: { ...rules, isOpenAi: false } })).toEqual([])
    }
    for (const newer of ["gpt-5", "gpt-5.5", "a-deployment"]) expect(droppedOf(newer, "low")).toEqual([])
    expect(droppedOf("a-deployment", "low", { rules, alias: "gpt-4o" })).toEqual(["verbosity"])
  })

  it("ids that are longer than the provider takes, of which a digest is sent", () => {
    const limited = { ...openAi, rules: { maxIdCharacters: 64, isOpenAi: false } }
    const ids = (length: number) => {
      const id = "u".repeat(length)
      return { user: id, safetyIdentifier: id, promptCacheKey: id }
    }
    const names = ["user", "safety_identifier", "prompt_cache_key"]
    expect(leftOut(limited, ids(65))).toEqual({ dropped: [], altered: names })
    expect(leftOut(limited, ids(64))).toEqual(nothing)
    expect(leftOut(openAi, ids(65))).toEqual(nothing)
    const withoutUser = { ...limited, support: supporting({ user: "dropped" }) }
    expect(leftOut(withoutUser, ids(65))).toEqual({ dropped: ["user"], altered: names.slice(1) })
  })

  it("the reasoning of Claude beside a forced tool call, and where the cap has no room for a budget", () => {
    const reasoning = { mode: "enabled", maxTokens: 2_000, summary: undefined, exclude: false } as const
    const tools = [{ type: "function", function: { name: "f" } }] as const
    const lost = ["reasoning.max_tokens", "reasoning.mode"]
    const bedrock = of("bedrock-converse", { upstreamModel: "us.anthropic.claude-x-v1:0" })
    for (const one of [claude, bedrock].map((each): Model => ({ ...each, reasoning: budget }))) {
      const droppedOf = (more: Partial<ChatRequest>) => leftOut(one, { reasoning, ...more }).dropped
      expect(droppedOf({ tools, toolChoice: "required" })).toEqual(lost)
      expect(droppedOf({ maxOutputTokens: 1_024 })).toEqual(lost)
      expect(droppedOf({ tools, toolChoice: "auto" })).toEqual([])
      expect(droppedOf({ maxOutputTokens: 1_025 })).toEqual([])
      const budgetOnly = { ...reasoning, mode: undefined }
      expect(droppedOf({ tools, toolChoice: "required", reasoning: budgetOnly })).toEqual(["reasoning.max_tokens"])
      const off = { ...reasoning, mode: "disabled", maxTokens: undefined } as const
      expect(droppedOf({ tools, toolChoice: "required", reasoning: off })).toEqual([])
    }
    const other = of("gemini", { reasoning: budget, reasonsByDefault: true })
    expect(leftOut(other, { reasoning, tools, toolChoice: "required", maxOutputTokens: 9 }).dropped).toEqual([])
  })

  it("a summary of the reasoning, which no protocol is asked for", () => {
    const reasoning = { maxTokens: undefined, summary: "auto", exclude: false }
    for (const one of [openAi, claude, gemini, nova]) {
      expect(leftOut(one, { reasoning }).dropped).toEqual(["reasoning.summary"])
    }
  })

  it("alternatives without log probabilities at Gemini", () => {
    expect(leftOut(gemini, { topLogprobs: 2 }).dropped).toEqual(["top_logprobs"])
    expect(leftOut(gemini, { topLogprobs: 2, logprobs: true })).toEqual(nothing)
  })

  it("members of a response format that only OpenAI may know", () => {
    const translated = { ...openAi, support: supporting({ response_format: "translated" }) }
    const schema = { name: "n", description: "d", schema: {}, strict: true }
    const known = { type: "json_schema", json_schema: schema }
    expect(leftOut(translated, { responseFormat: known })).toEqual(nothing)
    const more = { type: "json_schema", json_schema: { ...schema, later: 1 }, extra: 1 }
    expect(leftOut(translated, { responseFormat: more }).altered).toEqual([
      "response_format.extra",
      "response_format.json_schema.later"
    ])
    expect(leftOut(translated, { responseFormat: { type: "text", json_schema: schema } }).altered).toEqual([
      "response_format.json_schema"
    ])
    expect(leftOut(openAi, { responseFormat: more })).toEqual(nothing)
  })

  it("members of a JSON schema format that the protocol has no field for", () => {
    const format = (more: object, schema: object = {}) => ({
      responseFormat: { type: "json_schema", json_schema: { schema, ...more } }
    })
    const all = { name: "n", description: "d", strict: false }
    const translated = supporting({ response_format: "translated" })
    const lost = (one: Model, more: object, schema?: object) =>
      leftOut({ ...one, support: translated }, format(more, schema)).altered.map((name) =>
        name.replace("response_format.json_schema.", "")
      )
    expect(lost(claude, all)).toEqual(["name", "description", "strict"])
    expect(lost(gemini, all)).toEqual(["name", "strict"])
    expect(lost(gemini, all, { description: "of the schema itself" })).toEqual(["name", "strict", "description"])
    expect(lost(nova, all)).toEqual(["strict"])
    expect(lost(openAi, all)).toEqual([])
    for (const one of [claude, gemini, nova]) {
      expect(lost(one, {})).toEqual([])
      expect(lost(one, { name: null, description: null, strict: null })).toEqual([])
    }
  })

  it("a tool whose schema must be followed exactly, at Gemini", () => {
    const tool = (strict?: boolean | null) =>
      ({ type: "function", function: { name: "f", ...(strict !== undefined && { strict }) } }) as const
    const tools = [tool(), tool(true)]
    expect(leftOut(gemini, { tools })).toEqual({ dropped: [], altered: ["tools.function.strict"] })
    expect(leftOut(gemini, { tools: [tool(), tool(false), tool(null)] })).toEqual(nothing)
    expect(leftOut(gemini, { tools: [{ type: "custom", custom: { name: "c" } }] })).toEqual(nothing)
    for (const one of [openAi, claude, nova]) expect(leftOut(one, { tools })).toEqual(nothing)
  })

  it("a tool whose schema must be followed exactly, where Claude's provider would reject so many of them", () => {
    const tools = Array.from(
      { length: 21 },
      (_, at) => ({ type: "function", function: { name: `f${at}`, strict: true } }) as const
    )
    const lost = { dropped: [], altered: ["tools.function.strict"] }
    expect(leftOut(claude, { tools })).toEqual(lost)
    expect(leftOut(claude, { tools: tools.slice(1) })).toEqual(nothing)
    expect(leftOut(of("bedrock-converse", { upstreamModel: "eu.anthropic.claude-x" }), { tools })).toEqual(lost)
    for (const one of [openAi, nova]) expect(leftOut(one, { tools })).toEqual(nothing)
  })

  it("breakpoints of the cache where neither options of the cache nor Claude's marks carry them", () => {
    const marked = { prompt_cache_breakpoint: { mode: "explicit" } }
    const image = { type: "image_url", image_url: { url: "https://a/b.png" } } as const
    const text = { type: "text", text: "t" } as const
    const withoutOptions = of("openai-chat", { support: supporting({ prompt_cache_options: "dropped" }) })
    const bedrockClaude = { upstreamModel: "us.anthropic.claude-x-v1:0", support: withoutOptions.support }
    const sending = [openAi, of("anthropic-messages", bedrockClaude), of("bedrock-converse", bedrockClaude)]
    const losing = [withoutOptions, ...[nova, gemini].map((one) => ({ ...one, support: withoutOptions.support }))]
    const conversations: ReadonlyArray<ReadonlyArray<Message>> = [
      [{ role: "system", content: [{ ...text, ...marked }] }],
      [{ role: "user", content: [text, { ...image, ...marked }] }],
      [{ role: "assistant", content: [{ ...text, ...marked }] }],
      [{ role: "tool", tool_call_id: "c", content: [{ ...text, ...marked }] }]
    ]
    for (const messages of conversations) {
      for (const one of sending) expect(leftOut(one, { messages })).toEqual(nothing)
      for (const one of losing) {
        expect(leftOut(one, { messages })).toEqual({ dropped: ["messages.prompt_cache_breakpoint"], altered: [] })
      }
    }
    const unmarked: ReadonlyArray<Message> = [{ role: "user", content: [{ ...image, prompt_cache_breakpoint: null }] }]
    for (const one of losing) expect(leftOut(one, { messages: unmarked })).toEqual(nothing)
    expect(leftOut(withoutOptions, { promptCacheOptions: {}, messages: conversations[1] ?? [] }).dropped).toEqual([
      "prompt_cache_options",
      "messages.prompt_cache_breakpoint"
    ])
  })

  it("names of participants where the route takes none, and the detail of images outside of chat completions", () => {
    const image = (detail?: string) =>
      ({ type: "image_url", image_url: { url: "https://a/b.png", ...(detail !== undefined && { detail }) } }) as const
    const messages: ReadonlyArray<Message> = [
      { role: "system", content: "s", name: "shop" },
      { role: "user", content: [image("low"), image()] }
    ]
    const support = supporting({ "messages.name": "dropped" })
    expect(leftOut({ ...openAi, support }, { messages })).toEqual({ dropped: ["messages.name"], altered: [] })
    for (const one of [claude, gemini, nova].map((each) => ({ ...each, support }))) {
      expect(leftOut(one, { messages }).dropped).toEqual(["messages.name", "messages.image_url.detail"])
      expect(leftOut(one, { messages: [{ role: "user", content: [image("auto"), image()] }] })).toEqual(nothing)
      const result: Message = { role: "tool", tool_call_id: "c", content: [image("high")] }
      expect(leftOut(one, { messages: [result] }).dropped).toEqual(["messages.image_url.detail"])
    }
    expect(leftOut(openAi, { messages })).toEqual(nothing)
  })

  it("that a tool has failed, where results have no field for it", () => {
    const result = (isError?: boolean): Message => ({
      role: "tool",
      tool_call_id: "c",
      content: "x",
      ...(isError !== undefined && { is_error: isError })
    })
    const other = of("bedrock-converse", { upstreamModel: "openai.gpt-oss-120b-1:0" })
    const onBedrock = of("bedrock-converse", { upstreamModel: "us.anthropic.claude-haiku-4-5-20251001-v1:0" })
    for (const one of [openAi, other]) {
      expect(leftOut(one, { messages: [result(), result(true)] })).toEqual({
        dropped: ["messages.is_error"],
        altered: []
      })
      expect(leftOut(one, { messages: [result(), result(false)] })).toEqual(nothing)
    }
    for (const one of [claude, gemini, nova, onBedrock])
      expect(leftOut(one, { messages: [result(true)] })).toEqual(nothing)
  })

  it("a turn of the user is added at Bedrock where the assistant has the last word", () => {
    const [user, system] = [{ role: "user", content: "hi" } as const, { role: "system", content: "s" } as const]
    const prefill: ReadonlyArray<Message> = [user, { role: "assistant", content: "Once" }]
    const calling: ReadonlyArray<Message> = [
      user,
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }]
      }
    ]
    const adds = (one: Model, messages: ReadonlyArray<Message>) => addsUserTurn(one, request({ messages }))
    expect([adds(nova, prefill), adds(nova, [...prefill, system])]).toEqual([true, true])
    expect([adds(nova, [user]), adds(nova, calling), adds(nova, [system])]).toEqual([false, false, false])
    expect([adds(claude, prefill), adds(gemini, prefill), adds(openAi, prefill)]).toEqual([false, false, false])
  })
})
