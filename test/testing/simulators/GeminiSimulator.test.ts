import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe } from "vitest"
import type { Message, Tool } from "../../../src/domain/Chat.ts"
import type { Answer } from "../../../src/domain/Completion.ts"
import * as Gemini from "../../../src/provider/protocols/gemini/Gemini.ts"
import { isObject, listAt } from "../../../src/provider/protocols/shared/Json.ts"
import * as Auth from "../../../src/provider/transport/Auth.ts"
import type { Simulator } from "../../../src/testing/simulators/core/Simulator.ts"
import { GeminiSimulator, start } from "../../../src/testing/simulators/gemini/GeminiSimulator.ts"
import { gemini } from "../../provider/protocols/gemini/gemini.ts"
import { benches, clock, weather } from "../../provider/protocols/ProtocolContract.ts"
import { pixelUrl } from "../../support/Pixel.ts"

const model = gemini("gemini-3-flash-preview")

describe("Gemini on loopback", () => {
  let simulator: Simulator
  beforeEach(async () => {
    simulator = await start()
  })
  afterEach(() => simulator.stop())

  const post = async (body: unknown, name = "gemini-3-flash-preview", verb = "generateContent", key = "k") => {
    const response = await fetch(`${simulator.baseUrl}/models/${name}:${verb}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key !== "" && { "x-goog-api-key": key }) },
      body: typeof body === "string" ? body : JSON.stringify(body)
    })
    return { status: response.status, text: await response.text() }
  }

  const user = (...parts: ReadonlyArray<unknown>) => ({ role: "user", parts })
  const says = (...parts: ReadonlyArray<unknown>) => ({ role: "model", parts })
  const hi = user({ text: "hi" })
  const call = (id: string, more: object = {}) => ({
    functionCall: { id, name: "f", args: {} },
    thoughtSignature: "skip_thought_signature_validator",
    ...more
  })
  const response = (id: string, name = "f") => ({ functionResponse: { id, name, response: { output: "x" } } })
  const declare = (declaration: object) => ({
    contents: [hi],
    tools: [{ functionDeclarations: [{ name: "f", ...declaration }] }]
  })
  const configure = (generationConfig: object) => ({ contents: [hi], generationConfig })

  const broken: Readonly<Record<string, unknown>> = {
    "no JSON": "{",
    "an unknown field": { contents: [hi], model: "x" },
    "no contents": { contents: [] },
    "a role of its own": { contents: [{ role: "assistant", parts: [{ text: "x" }] }] },
    "a call that nobody asked for": { contents: [says(call("1")), user(response("1"))] },
    "no parts": { contents: [user()] },
    "an empty text": { contents: [user({ text: "" })] },
    "a part of two kinds": { contents: [user({ text: "x", inlineData: { mimeType: "image/png", data: "AAAA" } })] },
    "an unknown field of a part": { contents: [user({ text: "x", cache_control: {} })] },
    "data that is no base64": { contents: [user({ inlineData: { mimeType: "image/png", data: "!" } })] },
    "an empty instruction": { contents: [hi], systemInstruction: { parts: [] } },
    "a call of the user": { contents: [user(call("1"))] },
    "a response without a call": { contents: [user(response("1"))] },
    "a call without a response": { contents: [hi, says(call("1")), hi] },
    "one response for two calls": { contents: [hi, says(call("1"), call("2")), user(response("1"))] },
    "a response by another name": { contents: [hi, says(call("1")), user(response("1", "g"))] },
    "a response that is no object": {
      contents: [hi, says(call("1")), user({ functionResponse: { name: "f", response: "x" } })]
    },
    "arguments that are no object": { contents: [hi, says({ functionCall: { name: "f", args: "{}" } })] },
    "a call without its signature": {
      contents: [hi, says(call("1", { thoughtSignature: undefined })), user(response("1"))]
    },
    "a signature of another call": {
      contents: [hi, says(call("1", { thoughtSignature: "AAAA" })), user(response("1"))]
    },
    "a schema keyword that is unknown": declare({ parameters: { type: "OBJECT", additionalProperties: false } }),
    "a reference in a schema": declare({
      parameters: { type: "OBJECT", properties: { a: { $ref: "#/$defs/a" } } }
    }),
    "a JSON schema with more beside a reference": declare({
      parametersJsonSchema: { properties: { a: { $ref: "#/$defs/a", title: "A" } }, $defs: { a: {} } }
    }),
    "a JSON schema with a reference to nothing": configure({
      responseMimeType: "application/json",
      responseJsonSchema: { properties: { a: { $ref: "#/definitions/a" } }, definitions: { a: {} } }
    }),
    "an object schema without properties": declare({ parameters: { type: "OBJECT", properties: {} } }),
    "two schemas of one function": declare({ parameters: { type: "OBJECT" }, parametersJsonSchema: {} }),
    "a function name with a blank": declare({ name: "f g" }),
    "an unknown field of a function": declare({ strict: true }),
    "a choice that is not declared": {
      ...declare({}),
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["g"] } }
    },
    "names to choose from without ANY": {
      ...declare({}),
      toolConfig: { functionCallingConfig: { mode: "AUTO", allowedFunctionNames: ["f"] } }
    },
    "a schema without JSON": configure({ responseJsonSchema: {} }),
    "an unknown field of the configuration": configure({ max_tokens: 1 }),
    "half a token": configure({ maxOutputTokens: 1.5 }),
    "a hot temperature": configure({ temperature: 2.1 }),
    "a negative temperature": configure({ temperature: -0.1 }),
    "a topP above 1": configure({ topP: 1.1 }),
    "no token": configure({ maxOutputTokens: 0 }),
    "six stop sequences": configure({ stopSequences: ["1", "2", "3", "4", "5", "6"] }),
    "no candidate": configure({ candidateCount: 0 }),
    "nine candidates": configure({ candidateCount: 9 }),
    "level and budget at once": configure({ thinkingConfig: { thinkingLevel: "LOW", thinkingBudget: 1 } }),
    "an unknown level": configure({ thinkingConfig: { thinkingLevel: "XHIGH" } }),
    "log probabilities that were not asked for": configure({ logprobs: 1 })
  }

  it("refuses what the real one refuses", async () => {
    for (const [name, body] of Object.entries(broken)) {
      const { status, text } = await post(body)
      expect([name, status, JSON.parse(text).error.status]).toEqual([name, 400, "INVALID_ARGUMENT"])
    }
    expect(simulator.rejections).toHaveLength(Object.keys(broken).length)
  })

  it("takes what it asks for", async () => {
    const bodies = [
      {
        contents: [hi, says(call("1"), call("2", { thoughtSignature: undefined })), user(response("1"), response("2"))]
      },
      // as the official client gives back what has come in chunks
      {
        contents: [
          hi,
          says({ text: "x", thought: true }),
          says(call("1")),
          says({ functionCall: { id: "2", name: "f" } }),
          user(response("1"), response("2"))
        ]
      },
      // only the calls since the user last spoke need a signature
      {
        contents: [
          hi,
          says(call("1", { thoughtSignature: undefined })),
          user(response("1")),
          says({ text: "done" }),
          user({ text: "on" })
        ]
      }
    ]
    for (const body of bodies) expect(await post(body)).toMatchObject({ status: 200 })
    const unsigned = { contents: [hi, says(call("1", { thoughtSignature: undefined })), user(response("1"))] }
    expect(await post(unsigned, "gemini-2.5-flash-lite")).toMatchObject({ status: 200 })
  })

  it("knows its models, its levels and whether someone calls", async () => {
    expect(await post({ contents: [hi] }, "gpt-5")).toMatchObject({ status: 404 })
    expect(await post({ contents: [hi] }, undefined, undefined, "")).toMatchObject({ status: 403 })
    expect(await post({ contents: [hi] }, undefined, "countTokens")).toMatchObject({ status: 404 })
    const level = configure({ thinkingConfig: { thinkingLevel: "LOW" } })
    expect(await post(level, "gemini-2.5-flash")).toMatchObject({ status: 400 })
    expect(await post(configure({ thinkingConfig: { thinkingBudget: 0 } }), "gemini-2.5-pro")).toMatchObject({
      status: 400
    })
  })

  it("streams a list unless it is asked for events", async () => {
    const { text } = await post({ contents: [hi] }, undefined, "streamGenerateContent")
    expect(JSON.parse(text).length).toBeGreaterThan(1)
    const events = await post({ contents: [hi] }, undefined, "streamGenerateContent?alt=sse")
    expect(events.text).toMatch(/^data: \{.*\}\r\n\r\n/)
  })

  it.effect("is a layer too", () =>
    Effect.map(GeminiSimulator, ({ baseUrl }) => expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1beta$/)).pipe(
      Effect.provide(GeminiSimulator.layer)
    )
  )
})

describe("a conversation with a strict Gemini", () => {
  const bench = benches({ start, protocol: Gemini.make("json"), auth: Auth.header("x-goog-api-key"), model })
  const tools = [weather, clock]
  const question: Message = { role: "user", content: "What is the weather in Rome, and what does the clock say?" }
  const results: ReadonlyArray<Message> = [
    { role: "tool", tool_call_id: "", content: "sunny" },
    { role: "tool", tool_call_id: "", content: "noon" }
  ]

  const said = async (messages: ReadonlyArray<Message>, stream = true): Promise<Answer> => {
    const { answer, error } = await bench().run({ stream, tools, messages }, { effort: "low" })
    expect(bench().simulator.rejections).toEqual([])
    expect(error?.reason).toBeUndefined()
    if (answer === undefined) throw new Error("no answer")
    return answer
  }

  /** How clients give an answer back: with all that came, or with only one of the two places that carry signatures. */
  const back = (answer: Answer, keeps: { readonly reasoning: boolean; readonly extra: boolean }): Message => ({
    role: "assistant",
    content: answer.text === "" ? null : answer.text,
    tool_calls: answer.toolCalls.map((one) => ({
      id: one.id,
      type: "function",
      function: { name: one.name, arguments: one.arguments },
      ...(keeps.extra && one.extraContent !== null && { extra_content: one.extraContent })
    })),
    ...(keeps.reasoning && {
      reasoning_details: answer.reasoning.map(({ id, kind, signature, text }, index) => ({
        type: `reasoning.${kind}`,
        ...(kind === "encrypted" ? { data: text } : { text }),
        signature,
        id,
        index,
        format: model.id
      }))
    })
  })
  const answered = (answer: Answer): ReadonlyArray<Message> =>
    results.map((result, at) =>
      result.role === "tool" ? { ...result, tool_call_id: answer.toolCalls[at]?.id ?? "" } : result
    )

  const lastParts = (): ReadonlyArray<Readonly<Record<string, unknown>>> => {
    const body: unknown = JSON.parse(bench().simulator.requests.at(-1)?.text ?? "{}")
    const contents = listAt(isObject(body) ? body : undefined, "contents").filter(isObject)
    return contents.flatMap((content) => listAt(content, "parts").filter(isObject))
  }
  const signatures = (): ReadonlyArray<unknown> =>
    lastParts()
      .filter((part) => part["functionCall"] !== undefined)
      .map((part) => part["thoughtSignature"] ?? null)

  for (const keeps of [
    { reasoning: true, extra: true },
    { reasoning: true, extra: false },
    { reasoning: false, extra: true }
  ]) {
    it(`keeps its signatures for a client that keeps ${JSON.stringify(keeps)}`, async () => {
      const asked = await said([question])
      expect(asked.toolCalls).toHaveLength(2)
      const answer = await said([question, back(asked, keeps), ...answered(asked)])
      expect(answer.text).toBe("The tools answered: sunny; noon")
      expect(signatures()).toEqual([expect.any(String), null])
      expect(signatures()).not.toContain("skip_thought_signature_validator")
      const further: Message = { role: "user", content: "Say exactly: on" }
      const again = [question, back(asked, keeps), ...answered(asked), back(answer, keeps), further]
      expect((await said(again)).text).toBe("on")
    })
  }

  it("goes on where the client has kept no signature, or another model has begun", async () => {
    const asked = await said([question])
    const answer = await said([question, back(asked, { reasoning: false, extra: false }), ...answered(asked)])
    expect(answer.text).toBe("The tools answered: sunny; noon")
    expect(signatures()).toEqual(["skip_thought_signature_validator", null])
  })

  it("pays for what it has said before at the price of the cache", async () => {
    const image: Message = { role: "user", content: [{ type: "image_url", image_url: { url: pixelUrl } }] }
    const first = await said([image])
    const second = await said([image, back(first, { reasoning: true, extra: true }), question])
    expect(first.usage?.cacheReadTokens).toBe(0)
    expect(second.usage?.cacheReadTokens).toBeGreaterThan(0)
    expect(second.usage?.reasoningTokens).toBeGreaterThan(0)
  })

  it("gets schemas with the references of OpenAI's client, and of one that describes what it refers to", async () => {
    const definitions = { place: { type: "object", properties: { name: { const: "Rome" } }, required: ["name"] } }
    const place = { $ref: "#/definitions/place", description: "Where.", title: "Place" }
    const schema = { type: "object", properties: { place }, required: ["place"], definitions }
    const tool: Tool = { type: "function", function: { name: "go_to", parameters: schema } }
    const shaped = await bench().run({
      stream: true,
      messages: [{ role: "user", content: "Where to?" }],
      responseFormat: { type: "json_schema", json_schema: { schema } }
    })
    expect(bench().simulator.rejections).toEqual([])
    expect(JSON.parse(shaped.answer?.text ?? "")).toEqual({ place: { name: "Rome" } })
    const called = await bench().run({
      stream: true,
      messages: [{ role: "user", content: "Go." }],
      tools: [tool],
      toolChoice: "required"
    })
    expect(bench().simulator.rejections).toEqual([])
    expect(JSON.parse(called.answer?.toolCalls[0]?.arguments ?? "")).toEqual({ place: { name: "Rome" } })
  })
})
