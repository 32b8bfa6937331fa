import { describe, expect, it } from "vitest"
import type { ChatRequest, Message, ReasoningDetail, UserPart } from "../../../../src/domain/Chat.ts"
import type { Model } from "../../../../src/domain/Model.ts"
import type { ProviderFailure } from "../../../../src/domain/ProviderError.ts"
import type { ProviderCall } from "../../../../src/provider/Provider.ts"
import { bedrockConverse } from "../../../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import type { UpstreamBody } from "../../../../src/provider/protocols/shared/UpstreamBody.ts"
import { pixel, pixelUrl } from "../../../support/Pixel.ts"
import { call } from "../calls.ts"
import { clock, weather } from "../ProtocolContract.ts"
import { gpt, gptOss, grok, haiku, kimi, nova, opus, sonnet } from "./bedrock.ts"

type More = Partial<Omit<ProviderCall, "request" | "requestId">>
type Block = Readonly<Record<string, unknown>>
interface Body {
  readonly [field: string]: unknown
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: ReadonlyArray<Block> }>
}

const lowered = (asked: Partial<ChatRequest>, more: More = {}): UpstreamBody | ProviderFailure =>
  bedrockConverse.lower(call(asked, { model: opus, maxOutputTokens: 4000, ...more }))

const bodyOf = (asked: Partial<ChatRequest>, more: More = {}): Body => {
  const text = lowered(asked, more)
  if (typeof text !== "string") throw new Error(JSON.stringify(text))
  return JSON.parse(text)
}
const user = (content: string): Message => ({ role: "user", content })
const parts = (...content: ReadonlyArray<UserPart>): Message => ({ role: "user", content })
const file = (filename: string | undefined, file_data: string): UserPart => ({
  type: "file",
  file: { ...(filename !== undefined && { filename }), file_data }
})
const calling = (...calls: ReadonlyArray<readonly [id: string, name: string, text: string]>): Message => ({
  role: "assistant",
  content: null,
  tool_calls: calls.map(([id, name, text]) => ({ id, type: "function", function: { name, arguments: text } }))
})
const result = (id: string, content: string): Message => ({ role: "tool", tool_call_id: id, content })
const inConversation: ReadonlyArray<Message> = [
  user("go"),
  calling(["a", "get_weather", '{"city":"Rome"}'], ["b", "read_clock", ""]),
  result("b", "noon"),
  result("a", "sunny"),
  user("and?")
]

describe("a request in Bedrock's words", () => {
  it("has the cap of the hold and nothing that was not asked for; the path names the model and the way", () => {
    expect(bodyOf({})).toEqual({
      messages: [{ role: "user", content: [{ text: "hi" }] }],
      inferenceConfig: { maxTokens: 4000 }
    })
    const path = (stream: boolean) => bedrockConverse.path(call({ stream }, { model: nova }))
    expect([path(true), path(false)]).toEqual([
      "/model/amazon.nova-lite-v1%3A0/converse-stream",
      "/model/amazon.nova-lite-v1%3A0/converse"
    ])
  })

  it("is this one, to the byte", () => {
    const asked: Partial<ChatRequest> = {
      messages: [{ role: "system", content: "Be brief." }, ...inConversation],
      tools: [weather, clock],
      toolChoice: "auto",
      temperature: 1.5,
      topP: 0.9,
      stop: ["END"]
    }
    expect(lowered(asked, { model: nova })).toBe(
      '{"messages":[{"role":"user","content":[{"text":"go"}]},' +
        '{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"get_weather","input":{"city":"Rome"}}},' +
        '{"toolUse":{"toolUseId":"b","name":"read_clock","input":{}}}]},' +
        '{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"sunny"}],"status":"success"}},' +
        '{"toolResult":{"toolUseId":"b","content":[{"text":"noon"}],"status":"success"}},{"text":"and?"}]}],' +
        '"system":[{"text":"Be brief."}],' +
        '"inferenceConfig":{"maxTokens":4000,"temperature":1,"topP":0.9,"stopSequences":["END"]},' +
        '"toolConfig":{"tools":[{"toolSpec":{"name":"get_weather","description":"Tells the weather.",' +
        '"inputSchema":{"json":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}},' +
        '{"toolSpec":{"name":"read_clock","description":"Tells the time.",' +
        '"inputSchema":{"json":{"type":"object","properties":{}}}}}],"toolChoice":{"auto":{}}}}'
    )
  })

  it("leaves out what the route drops, and what the format has no word for", () => {
    const body = bodyOf(
      { temperature: 0.2, topP: 0.3, seed: 1, user: "u", metadata: { a: "b" }, serviceTier: "flex" },
      { model: nova, dropped: ["temperature", "top_p"] }
    )
    expect(body).toEqual({ messages: body.messages, inferenceConfig: { maxTokens: 4000 } })
  })
})

describe("messages", () => {
  it("rule 1: instructions become system blocks in their order; blank ones are no system", () => {
    const { messages, system } = bodyOf({
      messages: [{ role: "system", content: "one" }, user("hi"), { role: "developer", content: "two" }]
    })
    expect(system).toEqual([{ text: "one" }, { text: "two" }])
    expect(messages).toHaveLength(1)
    expect(bodyOf({ messages: [{ role: "system", content: " " }, user("hi")] })).not.toHaveProperty("system")
  })

  it("rule 2: roles alternate, and all results of parallel calls are in one message, first, in the order of the calls", () => {
    const { messages } = bodyOf({ messages: [user("a"), user("b"), ...inConversation.slice(1)], tools: [weather] })
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"])
    expect(messages[0]?.content).toEqual([{ text: "a" }, { text: "b" }])
    expect(messages[2]?.content.map((block) => Object.keys(block)[0])).toEqual(["toolResult", "toolResult", "text"])
  })

  it("rule 3: the first message is the user's, and so is the last: models refuse to go on with their own", () => {
    const { messages } = bodyOf({ messages: [{ role: "assistant", content: "Hello" }] })
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"])
  })

  it("rule 4: there is no blank text anywhere", () => {
    const { messages } = bodyOf({
      messages: [
        user(" "),
        calling(["a", "get_weather", "{}"]),
        result("a", ""),
        { role: "assistant", content: "" },
        user("x")
      ],
      tools: [weather]
    })
    const texts = JSON.stringify(messages).match(/"text":"[^"]*"/g) ?? []
    expect(texts.length).toBeGreaterThan(2)
    for (const text of texts) expect(text).toMatch(/"text":"\S/)
  })

  it("rule 5: a call without a result has one that says so, marked as an error where the model knows the mark", () => {
    const asked = { messages: [user("go"), calling(["a", "get_weather", "{}"]), user("well?")], tools: [weather] }
    const resultIn = (model: Model) => bodyOf(asked, { model }).messages[2]?.content[0]?.["toolResult"]
    expect(resultIn(opus)).toMatchObject({ toolUseId: "a", status: "error" })
    expect(resultIn(nova)).toMatchObject({ status: "error" })
    expect(resultIn(gptOss)).not.toHaveProperty("status")
    expect(resultIn(gptOss)).toMatchObject({ content: [{ text: expect.stringContaining("no result") }] })
  })

  it("rule 6: arguments are an object; no text is an empty one, and what is none is refused with its place", () => {
    const { messages } = bodyOf({ messages: inConversation, tools: [weather] })
    expect(messages[1]?.content[1]).toMatchObject({ toolUse: { input: {} } })
    expect(lowered({ messages: [user("go"), calling(["a", "x", "{oh"])], tools: [weather] })).toMatchObject({
      _tag: "RequestRejected",
      param: "messages[1].tool_calls[0].function.arguments"
    })
  })

  it("rule 8: ids and names of any origin are made to fit, the same in calls and results", () => {
    const name = "köln wetter!"
    const { messages, toolConfig } = bodyOf({
      messages: [user("go"), calling(["call:1/2", name, "{}"]), result("call:1/2", "rain")],
      tools: [{ type: "function", function: { name } }],
      toolChoice: { type: "function", function: { name } }
    })
    const { name: sent, toolUseId } = Object(messages[1]?.content[0]?.["toolUse"])
    expect([sent, toolUseId].every((text) => /^[a-zA-Z0-9_-]{1,64}$/.test(text))).toBe(true)
    expect(messages[2]?.content[0]).toMatchObject({ toolResult: { toolUseId } })
    expect(toolConfig).toMatchObject({ tools: [{ toolSpec: { name: sent } }], toolChoice: { tool: { name: sent } } })
  })
})

describe("tools", () => {
  it("rule 7: stand there whenever the conversation has calls, as ones that are not to be called", () => {
    const { toolConfig } = bodyOf({ messages: inConversation })
    expect(toolConfig).toEqual({
      tools: ["get_weather", "read_clock"].map((name) => ({
        toolSpec: {
          name,
          description: expect.stringContaining("do not call"),
          inputSchema: { json: { type: "object", properties: {} } }
        }
      }))
    })
    expect(bodyOf({})).not.toHaveProperty("toolConfig")
    expect(bodyOf({ tools: [weather] })).toHaveProperty("toolConfig")
  })

  it("rule 7: a choice of none takes the tools away, and the conversation tells in words what was called", () => {
    const body = bodyOf({ messages: inConversation, tools: [weather, clock], toolChoice: "none" })
    expect(body).not.toHaveProperty("toolConfig")
    expect(JSON.stringify(body)).not.toMatch(/"tool(?:Use|Result)"/)
    expect(body.messages.map(({ content }) => content)).toEqual([
      [{ text: "go" }],
      [
        { text: '[Called the tool get_weather with {"city":"Rome"}]' },
        { text: "[Called the tool read_clock with {}]" }
      ],
      [
        { text: "[The tool get_weather answered]\nsunny" },
        { text: "[The tool read_clock answered]\nnoon" },
        { text: "and?" }
      ]
    ])
  })

  it("have the choice that was made, or only those that are allowed", () => {
    const chosen = (toolChoice: ChatRequest["toolChoice"]) =>
      bodyOf({ tools: [weather, clock], toolChoice })["toolConfig"]
    expect(chosen(undefined)).not.toHaveProperty("toolChoice")
    expect(chosen("required")).toMatchObject({ toolChoice: { any: {} } })
    const allowed = {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "read_clock" } }] }
    }
    expect(chosen(allowed)).toEqual({
      tools: [expect.objectContaining({ toolSpec: expect.objectContaining({ name: "read_clock" }) })],
      toolChoice: { any: {} }
    })
  })

  it("rule 9: are strict in the subset of schemas that can be held to; else the schema is the client's", () => {
    const parameters = { type: "object", properties: { n: { type: "integer", minimum: 1 } } }
    const tool = (strict: boolean) =>
      bodyOf({ tools: [{ type: "function", function: { name: "f", parameters, strict } }] })
    expect(tool(false)["toolConfig"]).toEqual({
      tools: [{ toolSpec: { name: "f", inputSchema: { json: parameters } } }]
    })
    expect(tool(true)["toolConfig"]).toMatchObject({
      tools: [{ toolSpec: { strict: true, inputSchema: { json: { additionalProperties: false } } } }]
    })
  })

  it("are not strict where Claude has more than can be enforced; other models' limits are not known", () => {
    const tools = Array.from(
      { length: 21 },
      (_, at) => ({ type: "function", function: { name: `f${at}`, strict: true } }) as const
    )
    const strict = (model: Model) => JSON.stringify(bodyOf({ tools }, { model })).split('"strict":true').length - 1
    expect(strict(opus)).toBe(0)
    expect(strict(gptOss)).toBe(21)
  })

  it("that are custom are functions of one text", () => {
    const { messages, toolConfig } = bodyOf({
      tools: [{ type: "custom", custom: { name: "shell" } }],
      messages: [
        user("go"),
        { role: "assistant", tool_calls: [{ id: "a", type: "custom", custom: { name: "shell", input: "ls" } }] },
        result("a", "x")
      ]
    })
    expect(toolConfig).toMatchObject({ tools: [{ toolSpec: { inputSchema: { json: { required: ["input"] } } } }] })
    expect(messages[1]?.content).toMatchObject([{ toolUse: { input: { input: "ls" } } }])
  })
})

describe("reasoning at Bedrock", () => {
  const more = (model: Model, effort: ProviderCall["effort"]): More => ({ model, effort })
  const fields = (model: Model, effort: ProviderCall["effort"], asked: Partial<ChatRequest> = {}) => {
    const { additionalModelRequestFields, outputConfig } = bodyOf(asked, more(model, effort))
    return { additionalModelRequestFields, outputConfig }
  }

  it("rule 20: is asked for in the field that each maker's models take", () => {
    expect(fields(opus, "xhigh")).toEqual({
      additionalModelRequestFields: { thinking: { type: "adaptive", display: "summarized" } },
      outputConfig: { effort: "xhigh" }
    })
    expect(fields(sonnet, "none")).toEqual({ additionalModelRequestFields: { thinking: { type: "disabled" } } })
    expect(fields(haiku, "medium")).toEqual({
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2000 } }
    })
    expect(fields(gptOss, "high")).toEqual({ additionalModelRequestFields: { reasoning_effort: "high" } })
    expect(fields(grok, "none")).toEqual({ additionalModelRequestFields: { reasoning_effort: "none" } })
    expect(fields(gpt, "none")).toEqual({ additionalModelRequestFields: { reasoning: { effort: "none" } } })
    const nova2: Model = { ...gptOss, upstreamModel: "us.amazon.nova-2-lite-v1:0" }
    expect(fields(nova2, "low")).toEqual({
      additionalModelRequestFields: { reasoningConfig: { type: "enabled", maxReasoningEffort: "low" } }
    })
    const hidden: Model = { ...gptOss, upstreamModel: "arn:aws:bedrock:eu-west-1:1:application-inference-profile/x" }
    expect(fields(hidden, "minimal")).toEqual({ outputConfig: { effort: "low" } })
  })

  it("is not asked for when nobody wants it, the route drops it, or the model has no choice", () => {
    for (const one of [fields(opus, undefined), fields(kimi, "high"), fields(nova, "high")]) expect(one).toEqual({})
    const dropped = bodyOf({}, { model: gptOss, effort: "high", dropped: ["reasoning_effort"] })
    expect(dropped).not.toHaveProperty("additionalModelRequestFields")
  })

  it("takes no number", () => {
    expect(lowered({}, more(gptOss, 7))).toMatchObject({ _tag: "RequestRejected", param: "reasoning_effort" })
  })

  it("rule 10: gives way to a tool that must be called", () => {
    const asked = { tools: [weather], toolChoice: "required" } as const
    expect(fields(sonnet, "high", asked)).toEqual({ additionalModelRequestFields: { thinking: { type: "disabled" } } })
    expect(fields(haiku, "high", asked)).toEqual({})
  })

  it("with a budget gives way where the turn that goes on has no reasoning of this model", () => {
    const asked = { tools: [weather, clock], messages: inConversation.slice(0, 4) }
    expect(fields(haiku, "high", asked)).toEqual({})
    expect(fields(opus, "high", asked)).toHaveProperty("additionalModelRequestFields.thinking.type", "adaptive")
  })

  it("rule 21: has no sampling beside it at Claude's, which also takes only one of the two", () => {
    const config = (model: Model, effort: ProviderCall["effort"]) =>
      bodyOf({ temperature: 1.7, topP: 0.5 }, { model, effort })["inferenceConfig"]
    expect(config(haiku, "high")).toEqual({ maxTokens: 4000 })
    expect(config(haiku, undefined)).toEqual({ maxTokens: 4000, temperature: 1 })
    expect(config(gptOss, "high")).toEqual({ maxTokens: 4000, temperature: 1, topP: 0.5 })
  })

  it("rule 18: goes back to the model that has reasoned, signed or redacted, and to no other", () => {
    const details: ReadonlyArray<ReasoningDetail> = [
      { type: "reasoning.text", text: "hm", signature: "s", format: haiku.id, index: 0 },
      { type: "reasoning.encrypted", data: "AAEC", format: haiku.id, index: 1 },
      { type: "reasoning.text", text: "", signature: "t", format: haiku.id, index: 2 },
      { type: "reasoning.text", text: "unsigned", format: haiku.id, index: 3 }
    ]
    const messages: ReadonlyArray<Message> = [
      user("go"),
      { ...calling(["a", "get_weather", "{}"]), reasoning_details: details } as Message,
      result("a", "sunny")
    ]
    const asked = { messages, tools: [weather] }
    const { additionalModelRequestFields, messages: own } = bodyOf(asked, more(haiku, "high"))
    expect(own[1]?.content.slice(0, -1)).toEqual([
      { reasoningContent: { reasoningText: { text: "hm", signature: "s" } } },
      { reasoningContent: { redactedContent: "AAEC" } },
      { reasoningContent: { reasoningText: { text: "", signature: "t" } } }
    ])
    expect(additionalModelRequestFields).toMatchObject({ thinking: { type: "enabled" } })
    expect(JSON.stringify(bodyOf(asked, more(opus, "high")))).not.toContain("reasoningContent")
  })
})

describe("output and caching", () => {
  it("rule 24: the schema goes as text, in the subset that can be held to; a bare object is asked for in words", () => {
    const schema = { type: "object", properties: { a: { type: "string", minLength: 3 } }, required: ["a"] }
    const { outputConfig } = bodyOf({
      responseFormat: { type: "json_schema", json_schema: { name: "n", description: "d", schema, strict: true } }
    })
    const { jsonSchema } = Object(outputConfig).textFormat.structure
    expect(Object(outputConfig).textFormat.type).toBe("json_schema")
    expect(jsonSchema).toEqual({ schema: expect.any(String), name: "n", description: "d" })
    expect(JSON.parse(jsonSchema.schema)).toMatchObject({
      type: "object",
      additionalProperties: false,
      required: ["a"]
    })
    expect(bodyOf({ responseFormat: { type: "json_object" } })["system"]).toMatchObject([
      { text: expect.stringContaining("JSON object") }
    ])
    expect(bodyOf({ responseFormat: { type: "text" } })).not.toHaveProperty("outputConfig")
  })

  it("rule 23: blank stop sequences are left out", () => {
    expect(bodyOf({ stop: ["\n", "x", " "] })["inferenceConfig"]).toEqual({ maxTokens: 4000, stopSequences: ["x"] })
    expect(bodyOf({ stop: ["\n"] })["inferenceConfig"]).toEqual({ maxTokens: 4000 })
  })

  it("breakpoints are cache points after their text, the last four, and only at models that take them", () => {
    const text = (value: string): UserPart => ({ type: "text", text: value, prompt_cache_breakpoint: {} })
    const asked: Partial<ChatRequest> = {
      messages: [
        { role: "system", content: [{ type: "text", text: "s", prompt_cache_breakpoint: {} }] },
        parts(text("1"), text("2")),
        calling(["a", "get_weather", "{}"]),
        { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "r", prompt_cache_breakpoint: {} }] },
        parts(text("3"))
      ],
      tools: [weather]
    }
    const { messages, system } = bodyOf(asked)
    const point = { cachePoint: { type: "default" } }
    expect(system).toEqual([{ text: "s" }])
    expect(messages[0]?.content).toEqual([{ text: "1" }, point, { text: "2" }, point])
    expect(messages[2]?.content).toMatchObject([{ toolResult: {} }, point, { text: "3" }, point])
    expect(JSON.stringify(bodyOf(asked, { model: nova }))).not.toContain("cachePoint")
    const image: UserPart = { type: "image_url", image_url: { url: pixelUrl }, prompt_cache_breakpoint: {} }
    const shown = bodyOf({ messages: [parts(image, { type: "text", text: "4" })] })
    expect(shown.messages[0]?.content).toEqual([{ image: expect.anything() }, point, { text: "4" }])
  })
})

describe("rule 25: images and documents", () => {
  const imageOf = (url: string) => lowered({ messages: [parts({ type: "image_url", image_url: { url } })] })

  it("images go as bytes, of the four formats that there are", () => {
    const { messages } = bodyOf({ messages: [parts({ type: "image_url", image_url: { url: pixelUrl } })] })
    expect(messages[0]?.content).toEqual([{ image: { format: "png", source: { bytes: pixel } } }])
    expect(imageOf("data:image/jpg;base64,AAAA")).toContain('"format":"jpeg"')
    for (const url of ["https://host/a.png", "data:image/tiff;base64,AAAA", "data:nonsense"]) {
      expect(imageOf(url)).toMatchObject({ _tag: "RequestRejected", param: expect.stringContaining("messages[0]") })
    }
  })

  it("documents have names of the service's alphabet, no two the same, and some text beside them", () => {
    const pdf = "data:application/pdf;base64,AAAA"
    const { messages } = bodyOf({
      messages: [
        parts(file("John's  report_v2.final.pdf", pdf)),
        parts(file("john s report v2 final.PDF", pdf), file(undefined, pdf), file("分.pdf", pdf))
      ]
    })
    const documents = (messages[0]?.content ?? []).flatMap((block) =>
      "document" in block ? [Object(block["document"])] : []
    )
    expect(documents.map(({ name }) => name)).toEqual([
      "John s report v2 final",
      "john s report v2 final-2",
      "document",
      "document-2"
    ])
    expect(messages[0]?.content.at(-1)).toEqual({ text: expect.stringMatching(/\S/) })
  })

  it("documents have the format of their type, else of their name; images in files are images", () => {
    const format = (name: string | undefined, data: string) => {
      const block = bodyOf({ messages: [parts(file(name, data))] }).messages[0]?.content[0]
      return Object(block?.["document"] ?? block?.["image"]).format
    }
    expect(format("a.bin", "data:application/pdf;base64,AAAA")).toBe("pdf")
    expect(format("a.xlsx", "data:application/octet-stream;base64,AAAA")).toBe("xlsx")
    expect(format("a.csv", "data:text/plain;base64,AAAA")).toBe("csv")
    expect(format(undefined, "data:application/json;base64,AAAA")).toBe("txt")
    expect(format("a", "data:image/webp;base64,AAAA")).toBe("webp")
    const refused = (data: string) => lowered({ messages: [parts(file("a.bin", data))] })
    for (const data of ["data:application/zip;base64,AAAA", "https://host/a.pdf", "data:application/pdf;base64,"]) {
      expect(refused(data)).toMatchObject({ _tag: "RequestRejected" })
    }
  })

  it("audio is refused", () => {
    const audio: UserPart = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }
    expect(lowered({ messages: [parts(audio)] })).toMatchObject({ _tag: "RequestRejected" })
  })
})
