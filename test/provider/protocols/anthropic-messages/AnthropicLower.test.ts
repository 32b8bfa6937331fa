import { describe, expect, it } from "vitest"
import type { ChatRequest, Message, ReasoningDetail, UserPart } from "../../../../src/domain/Chat.ts"
import type { Model } from "../../../../src/domain/Model.ts"
import type { ProviderFailure } from "../../../../src/domain/ProviderError.ts"
import type { ProviderCall } from "../../../../src/provider/Provider.ts"
import { anthropicMessages } from "../../../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import type { UpstreamBody } from "../../../../src/provider/protocols/shared/UpstreamBody.ts"
import { pixel, pixelUrl } from "../../../support/Pixel.ts"
import { call } from "../calls.ts"
import { clock, weather } from "../ProtocolContract.ts"
import { claude } from "./claude.ts"

type More = Partial<Omit<ProviderCall, "request" | "requestId">>
interface Body {
  readonly [field: string]: unknown
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: ReadonlyArray<unknown> }>
}

const opus = claude("claude-opus-4-8")
const older = claude("claude-opus-4-6")
const budgeted = claude("claude-haiku-4-5")
const always = claude("claude-fable-5")
const unasked = claude("claude-sonnet-5")

const lowered = (asked: Partial<ChatRequest>, more: More = {}): UpstreamBody | ProviderFailure =>
  anthropicMessages.lower(call(asked, { model: opus, maxOutputTokens: 4000, ...more }))

const bodyOf = (asked: Partial<ChatRequest>, more: More = {}): Body => {
  const text = lowered(asked, more)
  if (typeof text !== "string") throw new Error(JSON.stringify(text))
  return JSON.parse(text)
}
const withModel = (model: Model, more: More = {}): More => ({ model, ...more })
const user = (content: string): Message => ({ role: "user", content })
const parts = (...content: ReadonlyArray<UserPart>): Message => ({ role: "user", content })
const forced = { type: "function", function: { name: "get_weather" } }
const reasoning = (maxTokens: number | undefined, exclude = false) => ({ maxTokens, summary: undefined, exclude })

describe("a request in Anthropic's words", () => {
  it("has the model's upstream name, the cap of the hold and nothing that was not asked for", () => {
    expect(bodyOf({})).toEqual({
      model: "claude-opus-4-8",
      max_tokens: 4000,
      messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
      stream: true
    })
    expect(anthropicMessages.path(call())).toBe("/messages")
  })

  it("goes out under the version that the model's entry names, else by whether it takes sampling", () => {
    const version = (model: Model) => anthropicMessages.headers(call({}, { model }))["anthropic-version"]
    expect([opus, older, budgeted].map(version)).toEqual(["2026-10-21", "2023-06-01", "2023-06-01"])
    const own = (sampling: boolean): Model => ({
      ...opus,
      profile: { ...opus.profile, apiVersion: null },
      capabilities: { ...opus.capabilities, sampling }
    })
    expect([own(true), own(false)].map(version)).toEqual(["2023-06-01", "2026-10-21"])
  })

  it("has system and developer text as blocks of its own, in order, and no empty system", () => {
    const begin: ReadonlyArray<Message> = [
      { role: "system", content: "one" },
      { role: "developer", content: "two" },
      user("hi")
    ]
    const both = [
      { type: "text", text: "one" },
      { type: "text", text: "two" }
    ]
    expect(bodyOf({ messages: begin })).toMatchObject({ system: both, messages: [{ role: "user" }] })
    // where the model takes none among the messages
    const later = bodyOf({ messages: [...begin, { role: "developer", content: "three" }] }, withModel(unasked))
    expect(later["system"]).toEqual([...both, { type: "text", text: "three" }])
    expect(later.messages).toHaveLength(1)
    expect(bodyOf({ messages: [{ role: "system", content: " " }, user("hi")] })).not.toHaveProperty("system")
  })

  it("has later system messages where they came, so that what is cached before them stays as it is", () => {
    const developer = (content: string): Message => ({ role: "developer", content })
    const assistant = (content: string): Message => ({ role: "assistant", content })
    const shown = (messages: ReadonlyArray<Message>, model = opus) => {
      const body = bodyOf({ messages }, withModel(model))
      return {
        system: body["system"],
        messages: body.messages.map(({ content, role }) => [
          role,
          ...content.map((block) => (block as { readonly text: string }).text)
        ])
      }
    }
    const begin = [developer("a"), user("q1"), assistant("a1"), user("q2")]
    const first = shown(begin)
    const later = shown([...begin, developer("b"), developer("c")])
    expect(later).toEqual({ ...first, messages: [...first.messages, ["system", "b", "c"]] })
    // the next turn leaves that one as it is
    expect(shown([...begin, developer("b"), developer("c"), assistant("a2"), user("q3")])).toEqual({
      ...later,
      messages: [...later.messages, ["assistant", "a2"], ["user", "q3"]]
    })
    // the API takes them between a user and an assistant message, or at the end
    expect(shown([user("q1"), developer("b"), user("q2")]).messages).toEqual([
      ["user", "q1", "q2"],
      ["system", "b"]
    ])
    expect(shown([user("q1"), assistant("a1"), developer("b"), user("q2")]).messages.at(-1)).toEqual(["system", "b"])
    expect(shown([user("q1"), assistant("a1"), developer("b")])).toEqual({
      system: [{ type: "text", text: "b" }],
      messages: [
        ["user", "q1"],
        ["assistant", "a1"]
      ]
    })
    expect(shown([user("q1"), developer("b")], always).messages).toHaveLength(2)
    expect(shown([user("q1"), developer("b")], older).messages).toHaveLength(1)
  })

  it("marks cached system messages among the messages as others", () => {
    const marked: Message = {
      role: "developer",
      content: [{ type: "text", text: "b", cache_control: { type: "ephemeral" } }]
    }
    expect(bodyOf({ messages: [user("q1"), marked] }).messages.at(-1)).toEqual({
      role: "system",
      content: [{ type: "text", text: "b", cache_control: { type: "ephemeral" } }]
    })
  })

  it("puts parallel results into one message of the user, first, with text after them", () => {
    const { messages } = bodyOf({
      tools: [weather, clock],
      messages: [
        user("go"),
        {
          role: "assistant",
          content: "let me see",
          tool_calls: [
            { id: "a", type: "function", function: { name: "get_weather", arguments: '{"city":"Rome"}' } },
            { id: "b:1", type: "function", function: { name: "read_clock", arguments: "" } }
          ]
        },
        { role: "tool", tool_call_id: "b:1", content: "" },
        { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "sunny" }] },
        user("and?")
      ]
    })
    const id = expect.stringMatching(/^call_[0-9a-f]+$/)
    expect(messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "text", text: "let me see" },
          { type: "tool_use", id: "a", name: "get_weather", input: { city: "Rome" } },
          { type: "tool_use", id, name: "read_clock", input: {} }
        ]
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "sunny" }] },
          { type: "tool_result", tool_use_id: id, content: [{ type: "text", text: "(empty)" }] },
          { type: "text", text: "and?" }
        ]
      }
    ])
  })

  it("marks a result that never came as an error", () => {
    const toolCall = { id: "a", type: "function", function: { name: "read_clock", arguments: "{}" } } as const
    const { messages } = bodyOf({
      messages: [user("go"), { role: "assistant", tool_calls: [toolCall] }, user("well?")]
    })
    expect(messages.at(-1)?.content[0]).toMatchObject({ type: "tool_result", tool_use_id: "a", is_error: true })
  })
})

describe("reasoning of an earlier turn", () => {
  const detail = (more: Partial<ReasoningDetail>): ReasoningDetail => ({
    type: "reasoning.text",
    format: opus.id,
    ...more
  })
  const back = (...details: ReadonlyArray<ReasoningDetail>) =>
    bodyOf({
      messages: [user("q"), { role: "assistant", content: "a", reasoning: "x", reasoning_details: details }, user("r")]
    }).messages[1]?.content

  it("go back with their signature, also without text, and in their place", () => {
    expect(
      back(
        detail({ text: "hm", signature: "s1", index: 0 }),
        detail({ text: "", signature: "s2", index: 1 }),
        detail({ type: "reasoning.encrypted", data: "opaque", index: 2 })
      )
    ).toEqual([
      { type: "thinking", thinking: "hm", signature: "s1" },
      { type: "thinking", thinking: "", signature: "s2" },
      { type: "redacted_thinking", data: "opaque" },
      { type: "text", text: "a" }
    ])
  })

  it("stay away when they are another model's, nobody signed them, or the signed text is missing", () => {
    expect(
      back(
        detail({ text: "hm", signature: "s", format: "anthropic/claude-opus-4-7" }),
        detail({ text: "hm", signature: "s", format: null }),
        detail({ text: "hm", index: 7 }),
        detail({ signature: "s", index: 8 })
      )
    ).toEqual([{ type: "text", text: "a" }])
  })
})

describe("reasoning at Anthropic", () => {
  const reasoningFields = (model: Model, more: More = {}, asked: Partial<ChatRequest> = {}) => {
    const { output_config, thinking } = bodyOf(asked, withModel(model, more))
    return { thinking, output_config }
  }
  const nothing = { thinking: undefined, output_config: undefined }

  it("is adaptive with an effort where the catalog says effort, and shown unless excluded", () => {
    const shown = { type: "adaptive", display: "summarized" }
    expect(reasoningFields(opus, { effort: "xhigh" })).toEqual({ thinking: shown, output_config: { effort: "xhigh" } })
    expect(reasoningFields(opus, { effort: "minimal" }).output_config).toEqual({ effort: "low" })
    expect(reasoningFields(opus, { effort: "low" }, { reasoning: reasoning(undefined, true) }).thinking).toEqual({
      type: "adaptive",
      display: "omitted"
    })
  })

  it("is a budget where the catalog says budget: a share of the cap, at least 1024 and below the cap", () => {
    const budget = (more: More, asked: Partial<ChatRequest> = {}) =>
      reasoningFields(budgeted, { maxOutputTokens: 10_000, ...more }, asked).thinking
    const enabled = (budget_tokens: number) => ({ type: "enabled", budget_tokens })
    expect((["minimal", "low", "medium", "high", "xhigh", "max"] as const).map((effort) => budget({ effort }))).toEqual(
      [1024, 2000, 5000, 8000, 9500, 9500].map(enabled)
    )
    expect(budget({ effort: "high", maxOutputTokens: 1025 })).toEqual(enabled(1024))
    expect(budget({ effort: "high", maxOutputTokens: 1024 })).toBeUndefined()
    expect(budget({}, { reasoning: reasoning(3000) })).toEqual(enabled(3000))
    expect(budget({}, { reasoning: reasoning(50_000) })).toEqual(enabled(9999))
  })

  it("is left to the model when nobody asks, and switched off only where it would be on", () => {
    for (const model of [opus, older, budgeted, always, unasked]) expect(reasoningFields(model)).toEqual(nothing)
    expect(reasoningFields(unasked, { effort: "none" })).toEqual({
      thinking: { type: "disabled" },
      output_config: undefined
    })
    for (const model of [opus, older, budgeted]) expect(reasoningFields(model, { effort: "none" })).toEqual(nothing)
  })

  it("gives way to a tool that must be called; a model whose reasoning cannot be turned off is not asked", () => {
    for (const toolChoice of ["required", forced] as const) {
      const asked: Partial<ChatRequest> = { tools: [weather], toolChoice }
      for (const model of [opus, budgeted]) expect(reasoningFields(model, { effort: "high" }, asked)).toEqual(nothing)
      expect(reasoningFields(unasked, { effort: "high" }, asked).thinking).toEqual({ type: "disabled" })
      expect(reasoningFields(unasked, {}, asked).thinking).toEqual({ type: "disabled" })
      expect(lowered(asked, withModel(always))).toMatchObject({ _tag: "RequestRejected", param: "tool_choice" })
    }
    expect(reasoningFields(opus, { effort: "high" }, { tools: [weather], toolChoice: "auto" }).thinking).toBeDefined()
  })

  it("by a budget is not begun amid the tool calls of a turn that has no reasoning of its own", () => {
    const turn = (details: ReadonlyArray<ReasoningDetail>): Partial<ChatRequest> => ({
      tools: [clock],
      messages: [
        user("go"),
        {
          role: "assistant",
          reasoning_details: details,
          tool_calls: [{ id: "a", type: "function", function: { name: "read_clock", arguments: "{}" } }]
        },
        { role: "tool", tool_call_id: "a", content: "noon" }
      ]
    })
    const own: ReasoningDetail = { type: "reasoning.text", text: "hm", signature: "s", format: budgeted.id }
    expect(reasoningFields(budgeted, { effort: "high" }, turn([]))).toEqual(nothing)
    expect(reasoningFields(budgeted, { effort: "high" }, turn([own])).thinking).toMatchObject({ type: "enabled" })
    expect(reasoningFields(opus, { effort: "high" }, turn([])).thinking).toMatchObject({ type: "adaptive" })
  })

  it("takes no numeric depth", () => {
    expect(lowered({}, { effort: 50 })).toMatchObject({ _tag: "RequestRejected", param: "reasoning_effort" })
  })
})

describe("sampling", () => {
  it("is within what Anthropic takes, and one of the two at a time", () => {
    const sampled = (asked: Partial<ChatRequest>, more: More = {}) => {
      const { temperature, top_p } = bodyOf(asked, withModel(older, more))
      return { temperature, top_p }
    }
    expect(sampled({ temperature: 1.7 })).toEqual({ temperature: 1, top_p: undefined })
    expect(sampled({ temperature: 0 })).toEqual({ temperature: 0, top_p: undefined })
    expect(sampled({ topP: 0.5 })).toEqual({ temperature: undefined, top_p: 0.5 })
    expect(sampled({ temperature: 0.2, topP: 0.5 })).toEqual({ temperature: 0.2, top_p: undefined })
    expect(sampled({ temperature: 0.2, topP: 0.5 }, { dropped: ["temperature"] })).toEqual({ top_p: 0.5 })
  })

  it("is left out for models without it and while the model thinks", () => {
    for (const more of [withModel(opus), withModel(older, { effort: "low" }), withModel(budgeted, { effort: "low" })]) {
      const body = bodyOf({ temperature: 0.5, topP: 0.5 }, more)
      expect([body["temperature"], body["top_p"]]).toEqual([undefined, undefined])
    }
  })
})

describe("tools", () => {
  const choice = (asked: Partial<ChatRequest>) => bodyOf({ tools: [weather, clock], ...asked })["tool_choice"]

  it("are described and chosen from", () => {
    expect(bodyOf({ tools: [weather, clock] })["tools"]).toEqual([
      {
        name: "get_weather",
        description: "Tells the weather.",
        input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
      },
      { name: "read_clock", description: "Tells the time.", input_schema: { type: "object", properties: {} } }
    ])
    expect((["auto", "none", "required", forced] as const).map((toolChoice) => choice({ toolChoice }))).toEqual([
      { type: "auto" },
      { type: "none" },
      { type: "any" },
      { type: "tool", name: "get_weather" }
    ])
    expect(choice({})).toBeUndefined()
  })

  it("are called one at a time when the client says so, which needs a choice to say it in", () => {
    expect(choice({ parallelToolCalls: false })).toEqual({ type: "auto", disable_parallel_tool_use: true })
    expect(choice({ parallelToolCalls: false, toolChoice: "required" })).toEqual({
      type: "any",
      disable_parallel_tool_use: true
    })
    expect(choice({ parallelToolCalls: false, toolChoice: "none" })).toEqual({ type: "none" })
    expect(choice({ parallelToolCalls: true })).toBeUndefined()
    expect(bodyOf({ parallelToolCalls: false })["tool_choice"]).toBeUndefined()
  })

  it("are only the allowed ones", () => {
    const allowed = (mode: string) => ({ type: "allowed_tools", allowed_tools: { mode, tools: [forced] } })
    const body = bodyOf({ tools: [weather, clock], toolChoice: allowed("required") })
    expect(body["tools"]).toMatchObject([{ name: "get_weather" }])
    expect(body["tool_choice"]).toEqual({ type: "any" })
  })

  it("are strict in the subset of schemas that can be enforced", () => {
    const parameters = { type: "object", properties: { n: { type: "integer", minimum: 1 } } }
    const strict = { type: "function", function: { name: "f", strict: true, parameters } } as const
    expect(bodyOf({ tools: [strict] })["tools"]).toEqual([
      {
        name: "f",
        strict: true,
        input_schema: {
          type: "object",
          properties: { n: { type: "integer", description: "{minimum: 1}" } },
          additionalProperties: false
        }
      }
    ])
  })

  it("are not strict where there are more than can be enforced, and their schemas are the client's", () => {
    const parameters = { type: "object", properties: { n: { type: ["integer", "null"] } }, required: ["n"] }
    const tools = Array.from(
      { length: 17 },
      (_, at) => ({ type: "function", function: { name: `f${at}`, strict: true, parameters } }) as const
    )
    expect(bodyOf({ tools: tools.slice(1) })["tools"]).toEqual(
      Array(16).fill(expect.objectContaining({ strict: true }))
    )
    expect(bodyOf({ tools })["tools"]).toEqual(
      tools.map((tool) => ({ name: tool.function.name, input_schema: parameters }))
    )
  })

  it("have names that Anthropic takes, in the tools, the choice and the history alike", () => {
    const body = bodyOf({
      tools: [{ type: "function", function: { name: "mcp.read" } }],
      toolChoice: { type: "function", function: { name: "mcp.read" } },
      messages: [
        user("go"),
        {
          role: "assistant",
          tool_calls: [{ id: "a", type: "function", function: { name: "mcp.read", arguments: "{}" } }]
        },
        { role: "tool", tool_call_id: "a", content: "x" }
      ]
    })
    const name = expect.stringMatching(/^mcp_read_[0-9a-f]{8}$/)
    expect(body["tools"]).toMatchObject([{ name }])
    expect(body["tool_choice"]).toMatchObject({ name })
    expect(body.messages[1]?.content).toMatchObject([{ name }])
  })
})

describe("the answer's shape and end", () => {
  it("is a schema under output_config, beside the effort", () => {
    const responseFormat = {
      type: "json_schema",
      json_schema: { name: "x", schema: { type: "object", properties: {} } }
    }
    expect(bodyOf({ responseFormat }, { effort: "low" })["output_config"]).toEqual({
      effort: "low",
      format: { type: "json_schema", schema: { type: "object", properties: {}, additionalProperties: false } }
    })
  })

  it("is asked for in words where there is no schema", () => {
    const body = bodyOf({
      responseFormat: { type: "json_object" },
      messages: [{ role: "system", content: "be nice" }, user("hi")]
    })
    expect(body).not.toHaveProperty("output_config")
    expect(body["system"]).toMatchObject([{ text: "be nice" }, { text: expect.stringContaining("JSON object") }])
  })

  it("ends at stop sequences, blank ones apart", () => {
    expect(bodyOf({ stop: ["END", "\n\n", " "] })["stop_sequences"]).toEqual(["END"])
    expect(bodyOf({ stop: ["\n"] })).not.toHaveProperty("stop_sequences")
  })
})

describe("images and files", () => {
  const content = (part: UserPart) => bodyOf({ messages: [parts(part)] }).messages[0]?.content[0]
  const image = (url: string): UserPart => ({ type: "image_url", image_url: { url, detail: "high" } })
  const file = (file: Extract<UserPart, { type: "file" }>["file"]): UserPart => ({ type: "file", file })

  it("go as bytes, or by their address", () => {
    expect(content(image(pixelUrl))).toEqual({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: pixel }
    })
    expect(content(image("data:image/jpg;base64,AAAA"))).toMatchObject({ source: { media_type: "image/jpeg" } })
    expect(content(image("https://example.com/a.png"))).toEqual({
      type: "image",
      source: { type: "url", url: "https://example.com/a.png" }
    })
  })

  it("are documents, as PDF or as text", () => {
    expect(content(file({ filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" }))).toEqual({
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
      title: "a.pdf"
    })
    expect(content(file({ file_data: "data:text/markdown;base64,aMOpbGxv" }))).toEqual({
      type: "document",
      source: { type: "text", media_type: "text/plain", data: "héllo" }
    })
    expect(content(file({ file_id: "file_1" }))).toMatchObject({ source: { type: "file", file_id: "file_1" } })
  })

  it("of other kinds are refused with their place", () => {
    const refused = (part: UserPart) => lowered({ messages: [parts({ type: "text", text: "x" }, part)] })
    const at = (param: string) => ({ _tag: "RequestRejected", param: `messages[0].content[1]${param}` })
    expect(refused(image("data:image/tiff;base64,AAAA"))).toMatchObject(at(".image_url.url"))
    expect(refused(image("data:image/png;base64,!"))).toMatchObject(at(".image_url.url"))
    expect(refused(file({ file_data: "data:application/zip;base64,AAAA" }))).toMatchObject(at(".file.file_data"))
    expect(refused(file({}))).toMatchObject(at(".file"))
    expect(refused({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } })).toMatchObject(at(""))
  })
})

describe("what only tunes", () => {
  it("carries the user, opaque, in one field with the safety identifier", () => {
    const userId = (asked: Partial<ChatRequest>, more: More = {}) =>
      (bodyOf(asked, more)["metadata"] as { readonly user_id: string } | undefined)?.user_id
    expect(userId({ user: "u-1", safetyIdentifier: "s-1" })).toBe("u-1")
    expect(userId({ safetyIdentifier: "s-1" })).toBe("s-1")
    expect(userId({ user: "u-1", safetyIdentifier: "s-1" }, { dropped: ["user"] })).toBe("s-1")
    for (const name of ["someone@example.com", "+4912345678", "x".repeat(300)])
      expect(userId({ user: name })).toMatch(/^[0-9a-f]{64}$/)
    expect(bodyOf({ metadata: { a: "b" } })).not.toHaveProperty("metadata")
  })

  it("names the service tier as Anthropic does, where it has one", () => {
    const tiers = ["auto", "priority", "default", "flex"].map((serviceTier) => bodyOf({ serviceTier })["service_tier"])
    expect(tiers).toEqual(["auto", "auto", "standard_only", undefined])
  })

  it("puts cache breakpoints where the client wants them, the last four of them", () => {
    const marked = (text: string): UserPart => ({ type: "text", text, prompt_cache_breakpoint: {} })
    const { messages } = bodyOf({
      messages: [parts(...["a", "b", "c", "d", "e"].map(marked), { type: "text", text: "f" })]
    })
    expect(messages[0]?.content.map((block) => Object.hasOwn(Object(block), "cache_control"))).toEqual([
      false,
      true,
      true,
      true,
      true,
      false
    ])
  })

  it("puts them at images and files too", () => {
    const marked = { prompt_cache_breakpoint: { mode: "explicit" } }
    const { messages } = bodyOf({
      messages: [
        parts(
          { type: "image_url", image_url: { url: "https://a.example/b.png" }, ...marked },
          { type: "file", file: { file_data: "data:application/pdf;base64,AAAA" }, ...marked },
          { type: "text", text: "f" }
        )
      ]
    })
    const ephemeral = { cache_control: { type: "ephemeral" } }
    expect(messages[0]?.content).toMatchObject([ephemeral, ephemeral, { text: "f" }])
  })
})
