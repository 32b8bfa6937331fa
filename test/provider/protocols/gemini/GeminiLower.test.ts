import { describe, expect, it } from "vitest"
import type { ChatRequest, Message, ToolCall } from "../../../../src/domain/Chat.ts"
import type { ProviderCall } from "../../../../src/provider/Provider.ts"
import * as Gemini from "../../../../src/provider/protocols/gemini/Gemini.ts"
import { call } from "../calls.ts"
import { gemini } from "./gemini.ts"

const flash = gemini("gemini-3-flash-preview")
const older = gemini("gemini-2.5-flash")

type More = Partial<Omit<ProviderCall, "request" | "requestId">>

const lowered = (asked: Partial<ChatRequest>, more: More = {}, schemas: "json" | "openapi" = "json") => {
  const body = Gemini.make(schemas).lower(call(asked, { model: flash, ...more }))
  if (typeof body !== "string") throw new Error(JSON.stringify(body))
  return JSON.parse(body)
}
const failureOf = (asked: Partial<ChatRequest>): unknown => Gemini.make("json").lower(call(asked, { model: flash }))
const contentsOf = (messages: ReadonlyArray<Message>) => lowered({ messages }).contents
const configOf = (asked: Partial<ChatRequest>, more: More = {}) => lowered(asked, more).generationConfig

const user = (content: string): Message => ({ role: "user", content })
const calls = (...ids: ReadonlyArray<string>): ReadonlyArray<ToolCall> =>
  ids.map((id) => ({ id, type: "function", function: { name: `f_${id}`, arguments: `{"of":"${id}"}` } }))
const result = (id: string, content = `r_${id}`): Message => ({ role: "tool", tool_call_id: id, content })

describe("a call in Gemini's format", () => {
  it("goes to the model's own path, as events when it streams", () => {
    const { path } = Gemini.make("json")
    const model = { ...flash, upstreamModel: "a/b" }
    expect(path(call({ stream: true }, { model }))).toBe("/models/a%2Fb:streamGenerateContent?alt=sse")
    expect(path(call({ stream: false }, { model }))).toBe("/models/a%2Fb:generateContent")
  })

  it("has every field in its place and order, and the output cap always", () => {
    const body = Gemini.make("json").lower(
      call(
        {
          messages: [{ role: "developer", content: "Be brief." }, user("hi")],
          tools: [{ type: "function", function: { name: "go", description: "Goes.", parameters: { type: "object" } } }],
          toolChoice: "auto",
          temperature: 0.5,
          topP: 0.9,
          stop: ["END"],
          frequencyPenalty: 0.1,
          presencePenalty: 0.2,
          seed: 7,
          user: "u",
          metadata: { a: "b" },
          serviceTier: "flex",
          store: true,
          parallelToolCalls: false
        },
        { model: flash, effort: "low", maxOutputTokens: 64 }
      )
    )
    expect(body).toBe(
      '{"contents":[{"role":"user","parts":[{"text":"hi"}]}],' +
        '"systemInstruction":{"parts":[{"text":"Be brief."}]},' +
        '"tools":[{"functionDeclarations":[{"name":"go","description":"Goes.","parametersJsonSchema":{"type":"object","properties":{}}}]}],' +
        '"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},' +
        '"generationConfig":{"maxOutputTokens":64,"temperature":0.5,"topP":0.9,"stopSequences":["END"],' +
        '"frequencyPenalty":0.1,"presencePenalty":0.2,"seed":7,"thinkingConfig":{"thinkingLevel":"LOW","includeThoughts":true}}}'
    )
  })

  it("leaves out what the route drops", () => {
    const config = configOf({ temperature: 1, topP: 1, seed: 1 }, { dropped: ["temperature", "seed"] })
    expect(Object.keys(config)).toEqual(["maxOutputTokens", "topP", "thinkingConfig"])
  })
})

describe("messages for Gemini", () => {
  it("keep instructions apart, in their order, and have none when there are none", () => {
    const body = lowered({
      messages: [{ role: "system", content: "one" }, user("hi"), { role: "developer", content: "two" }]
    })
    expect(body.systemInstruction).toEqual({ parts: [{ text: "one" }, { text: "two" }] })
    expect("systemInstruction" in lowered({ messages: [{ role: "system", content: " " }, user("hi")] })).toBe(false)
  })

  it("alternate between user and model and begin with the user", () => {
    const roles = contentsOf([
      { role: "assistant", content: "a" },
      { role: "assistant", content: "b" },
      user("c"),
      user("d")
    ])
    expect(
      roles.map(({ parts, role }: { role: string; parts: ReadonlyArray<unknown> }) => [role, parts.length])
    ).toEqual([
      ["user", 1],
      ["model", 2],
      ["user", 2]
    ])
  })

  it("are never empty", () => {
    expect(contentsOf([user(""), { role: "assistant", content: "" }, user("x")])).toEqual([
      { role: "user", parts: [{ text: "(empty)" }] },
      { role: "model", parts: [{ text: "(empty)" }] },
      { role: "user", parts: [{ text: "x" }] }
    ])
  })

  it("give all results of parallel calls in one turn, by name, in the order of the calls, before any text", () => {
    const contents = contentsOf([
      user("go"),
      { role: "assistant", content: "Going.", tool_calls: calls("a", "b", "c") },
      result("b"),
      result("a", '{"n":12345678901234567890}'),
      user("and?")
    ])
    expect(contents[1].parts).toEqual([
      { text: "Going." },
      {
        functionCall: { id: "a", name: "f_a", args: { of: "a" } },
        thoughtSignature: "skip_thought_signature_validator"
      },
      { functionCall: { id: "b", name: "f_b", args: { of: "b" } } },
      { functionCall: { id: "c", name: "f_c", args: { of: "c" } } }
    ])
    expect(contents[2].parts).toEqual([
      { functionResponse: { id: "a", name: "f_a", response: { output: '{"n":12345678901234567890}' } } },
      { functionResponse: { id: "b", name: "f_b", response: { output: "r_b" } } },
      { functionResponse: { id: "c", name: "f_c", response: { error: "(no result was given for this call)" } } },
      { text: "and?" }
    ])
  })

  it("refuse a result without its call, and arguments that are no JSON object", () => {
    expect(failureOf({ messages: [user("x"), result("a")] })).toMatchObject({
      _tag: "RequestRejected",
      param: "messages[1].tool_call_id"
    })
    const broken: ToolCall = { id: "a", type: "function", function: { name: "f", arguments: "{" } }
    expect(failureOf({ messages: [user("x"), { role: "assistant", tool_calls: [broken] }] })).toMatchObject({
      _tag: "RequestRejected",
      param: "messages[1].tool_calls[0].function.arguments"
    })
  })

  it("have tool names and ids in the provider's alphabet", () => {
    const tool_calls: ReadonlyArray<ToolCall> = [
      { id: "id with spaces", type: "function", function: { name: "mcp tool/get it", arguments: "" } }
    ]
    const body = lowered({
      tools: [{ type: "function", function: { name: "mcp tool/get it" } }],
      messages: [user("x"), { role: "assistant", tool_calls }, result("id with spaces")]
    })
    const declared = body.tools[0].functionDeclarations[0].name
    expect(declared).toMatch(/^mcp_tool_get_it_[0-9a-f]{8}$/)
    const { functionCall } = body.contents[1].parts[0]
    expect(functionCall).toMatchObject({ name: declared, args: {} })
    expect(functionCall.id).toMatch(/^call_[0-9a-f]+$/)
    expect(body.contents[2].parts[0].functionResponse).toMatchObject({ name: declared, id: functionCall.id })
  })

  it("carry images, audio and files as data, and refuse those that are elsewhere", () => {
    const [content] = contentsOf([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/jpg;base64,AAAA", detail: "high" } },
          { type: "input_audio", input_audio: { data: "BBBB", format: "wav" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,CCCC" } }
        ]
      }
    ])
    expect(content.parts).toEqual([
      { inlineData: { mimeType: "image/jpeg", data: "AAAA" } },
      { inlineData: { mimeType: "audio/wav", data: "BBBB" } },
      { inlineData: { mimeType: "application/pdf", data: "CCCC" } }
    ])
    expect(flash.capabilities["image-url"]).toBe(false)
    const at = { role: "user", content: [{ type: "image_url", image_url: { url: "https://host/a.png" } }] } as const
    expect(failureOf({ messages: [at] })).toMatchObject({ param: "messages[0].content[0].image_url.url" })
    const file = { role: "user", content: [{ type: "file", file: { file_id: "file_1" } }] } as const
    expect(failureOf({ messages: [file] })).toMatchObject({ param: "messages[0].content[0].file.file_id" })
  })
})

describe("reasoning and signatures for Gemini", () => {
  const [first, second] = calls("a", "b")
  if (first === undefined || second === undefined) throw new Error("two calls")
  const signed: ToolCall = { ...first, extra_content: { google: { thought_signature: "c2ln" } } }
  const partsOf = (assistant: Partial<Extract<Message, { role: "assistant" }>>) =>
    contentsOf([user("go"), { role: "assistant", ...assistant }, result("a"), result("b")])[1].parts
  const signatures = (parts: ReadonlyArray<{ thoughtSignature?: string }>) =>
    parts.map((part) => part.thoughtSignature ?? null)

  it("go back on the very call that they came with; the parallel ones have none", () => {
    expect(signatures(partsOf({ tool_calls: [signed, second] }))).toEqual(["c2ln", null])
  })

  it("find their call by its id when a client gives only the reasoning back", () => {
    const detail = { type: "reasoning.encrypted", id: "a", data: "b3du", format: flash.id } as const
    expect(signatures(partsOf({ tool_calls: [first, second], reasoning_details: [detail] }))).toEqual(["b3du", null])
  })

  it("are replaced by the documented stand-in on calls of another model", () => {
    const standIn = "skip_thought_signature_validator"
    expect(signatures(partsOf({ tool_calls: [first, second] }))).toEqual([standIn, null])
    const detail = { type: "reasoning.encrypted", id: "a", data: "b3du", format: "google/other" } as const
    expect(signatures(partsOf({ tool_calls: [signed, second], reasoning_details: [detail] }))).toEqual([standIn, null])
  })

  it("come back as they were: reasoning as reasoning, the signature of a text on that text", () => {
    const [, model] = contentsOf([
      user("hi"),
      {
        role: "assistant",
        content: "Hello.",
        reasoning_details: [
          { type: "reasoning.text", text: "Let me ", format: flash.id, index: 0 },
          { type: "reasoning.text", text: "see.", signature: "dGhv", format: flash.id, index: 0 },
          { type: "reasoning.encrypted", data: "dGV4dA==", format: flash.id, index: 1 },
          { type: "reasoning.text", text: "not its own", format: "anthropic/claude", index: 2 }
        ]
      },
      user("on")
    ])
    expect(model.parts).toEqual([
      { text: "Let me see.", thought: true, thoughtSignature: "dGhv" },
      { text: "Hello.", thoughtSignature: "dGV4dA==" }
    ])
  })
})

describe("tools for Gemini", () => {
  const tools = ["one", "two"].map((name) => ({ type: "function" as const, function: { name } }))
  const choice = (toolChoice: ChatRequest["toolChoice"]) =>
    lowered({ tools, toolChoice }).toolConfig?.functionCallingConfig

  it("are chosen from by mode and names", () => {
    expect(choice(undefined)).toBeUndefined()
    expect(choice("auto")).toEqual({ mode: "AUTO" })
    expect(choice("none")).toEqual({ mode: "NONE" })
    expect(choice("required")).toEqual({ mode: "ANY" })
    expect(choice({ type: "function", function: { name: "two" } })).toEqual({
      mode: "ANY",
      allowedFunctionNames: ["two"]
    })
  })

  it("are offered as far as they are allowed", () => {
    const toolChoice = {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "two" } }] }
    }
    const body = lowered({ tools, toolChoice })
    expect(body.tools[0].functionDeclarations.map(({ name }: { name: string }) => name)).toEqual(["two"])
    expect(body.toolConfig).toEqual({ functionCallingConfig: { mode: "ANY" } })
  })

  it("without parameters say none where an empty object is refused", () => {
    expect(lowered({ tools }, {}, "openapi").tools[0].functionDeclarations).toEqual([{ name: "one" }, { name: "two" }])
  })

  it("keeps what a function takes that declares it by a reference, or as one of several objects", () => {
    const a = { type: "object", properties: { kind: { const: "a" }, x: { type: "number" } }, required: ["kind", "x"] }
    const b = { type: "object", properties: { kind: { const: "b" }, x: { type: "number" } }, required: ["kind"] }
    const tools = [
      { $ref: "#/definitions/a", definitions: { a } },
      { anyOf: [a, b] },
      { oneOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }], $defs: { a, b } }
    ].map((parameters, at) => ({ type: "function" as const, function: { name: `f${at}`, parameters } }))
    const x = { type: "NUMBER" }
    const kind = (value: string) => ({ type: "STRING", enum: [value] })
    const either = {
      type: "OBJECT",
      properties: { kind: { anyOf: [kind("a"), kind("b")] }, x },
      required: ["kind"],
      propertyOrdering: ["kind", "x"]
    }
    expect(lowered({ tools }, {}, "openapi").tools[0].functionDeclarations).toEqual([
      {
        name: "f0",
        parameters: {
          type: "OBJECT",
          properties: { kind: kind("a"), x },
          required: ["kind", "x"],
          propertyOrdering: ["kind", "x"]
        }
      },
      { name: "f1", parameters: either },
      { name: "f2", parameters: either }
    ])
  })
})

describe("the answer that Gemini is asked for", () => {
  it("is JSON, in a schema's shape when there is one", () => {
    expect(configOf({ responseFormat: { type: "text" } })).not.toHaveProperty("responseMimeType")
    expect(configOf({ responseFormat: { type: "json_object" } })).toMatchObject({
      responseMimeType: "application/json"
    })
    const schema = { type: "object", properties: { a: { const: 1 } } }
    const responseFormat = { type: "json_schema", json_schema: { name: "n", description: "What.", schema } }
    expect(configOf({ responseFormat })).toMatchObject({
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object", properties: { a: { enum: [1] } }, description: "What." }
    })
    expect(lowered({ responseFormat }, {}, "openapi").generationConfig.responseSchema).toMatchObject({
      type: "OBJECT",
      properties: { a: { type: "NUMBER", description: "One of: 1." } }
    })
  })

  it("has at most five stop sequences", () => {
    expect(failureOf({ stop: ["1", "2", "3", "4", "5", "6"] })).toMatchObject({
      _tag: "RequestRejected",
      param: "stop"
    })
    expect(configOf({ stop: ["1", "2", "3", "4", "5"] }).stopSequences).toHaveLength(5)
  })

  it("comes with log probabilities when they are asked for", () => {
    expect(configOf({ logprobs: true, topLogprobs: 3 })).toMatchObject({ responseLogprobs: true, logprobs: 3 })
    expect(configOf({ logprobs: false, topLogprobs: 3 })).not.toHaveProperty("logprobs")
  })
})

describe("reasoning at Gemini", () => {
  const reasoningConfig = (more: More, asked: Partial<ChatRequest> = {}) => configOf(asked, more).thinkingConfig

  it("is a level for models that take one", () => {
    for (const effort of ["minimal", "low", "medium", "high"] as const) {
      expect(reasoningConfig({ effort })).toEqual({ thinkingLevel: effort.toUpperCase(), includeThoughts: true })
    }
    expect(reasoningConfig({})).toEqual({ includeThoughts: true })
  })

  it("is a budget within the model's range for those that count", () => {
    expect(reasoningConfig({ model: older, effort: "high", maxOutputTokens: 1000 })).toEqual({
      thinkingBudget: 800,
      includeThoughts: true
    })
    expect(reasoningConfig({ model: older, effort: "high", maxOutputTokens: 65_000 })).toMatchObject({
      thinkingBudget: 24_576
    })
    expect(reasoningConfig({ model: older, effort: "none" })).toEqual({ thinkingBudget: 0 })
    const pro = gemini("gemini-2.5-pro")
    expect(reasoningConfig({ model: pro, effort: "low", maxOutputTokens: 10 })).toMatchObject({ thinkingBudget: 128 })
    const reasoning = { maxTokens: 333, summary: undefined, exclude: false }
    expect(reasoningConfig({ model: older, maxOutputTokens: 1000 }, { reasoning })).toMatchObject({
      thinkingBudget: 333
    })
  })

  it("is shown unless it is excluded, and only asked for where there is some", () => {
    const reasoning = { maxTokens: undefined, summary: undefined, exclude: true }
    expect(reasoningConfig({ effort: "low" }, { reasoning })).toEqual({ thinkingLevel: "LOW" })
    expect(reasoningConfig({ model: gemini("gemini-2.5-flash-lite") })).toBeUndefined()
    expect(reasoningConfig({ model: { ...flash, reasoning: null } })).toBeUndefined()
  })

  it("takes a depth as the share of the output that may be reasoning", () => {
    expect(reasoningConfig({ effort: 25, maxOutputTokens: 1000 })).toMatchObject({ thinkingBudget: 250 })
  })
})
