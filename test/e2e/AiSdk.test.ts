import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { APICallError, generateText, jsonSchema, type LanguageModel, Output, stepCountIs, streamText, tool } from "ai"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { pixel } from "../support/Pixel.ts"
import { type Service, startService, testKey } from "../support/Service.ts"

let service: Service

beforeAll(async () => {
  service = await startService()
  globalThis.AI_SDK_LOG_WARNINGS = false
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
})

const settings = () => ({ apiKey: testKey, baseURL: `${service.url}/v1` })

/** Each provider of the AI SDK checks what it receives by schemas of its own. */
const providers: ReadonlyArray<readonly [name: string, model: (id: string) => LanguageModel]> = [
  ["openai, Responses", (id) => createOpenAI(settings()).responses(id)],
  ["openai, chat completions", (id) => createOpenAI(settings()).chat(id)],
  [
    "openai-compatible",
    (id) =>
      createOpenAICompatible({
        ...settings(),
        name: "gateway",
        includeUsage: true,
        supportsStructuredOutputs: true
      })(id)
  ],
  ["anthropic", (id) => createAnthropic(settings())(id)]
]

const weather = tool({
  description: "Temperature in a city",
  inputSchema: jsonSchema<{ city: string }>({
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false
  }),
  execute: async ({ city }) => ({ city, celsius: 20 })
})

describe.each(providers)("the AI SDK with its provider %s", (_, model) => {
  it("reads a response and its usage", async () => {
    const { finishReason, text, usage } = await generateText({ model: model("auto"), prompt: "Say hello." })
    expect(text).toBe("hello")
    expect(finishReason).toBe("stop")
    expect(usage).toMatchObject({ inputTokens: 3, outputTokens: 1 })
  })

  it("reads a stream and its usage", async () => {
    const { finishReason, text, usage } = streamText({ model: model("auto"), prompt: "Say hello." })
    expect(await text).toBe("hello")
    expect(await finishReason).toBe("stop")
    expect(await usage).toMatchObject({ inputTokens: 3, outputTokens: 1 })
  })

  it.each([
    ["responses", generateText],
    ["streams", streamText]
  ])("runs a tool and sends its result back, by %s", async (_, ask) => {
    const asked = ask({
      model: model("sim/balanced"),
      prompt: "What is the weather in Paris?",
      tools: { weather },
      stopWhen: stepCountIs(3)
    })
    const { steps, text } = await asked
    expect((await steps).map(({ toolCalls }) => toolCalls.map(({ input }) => input))).toEqual([[{ city: "Paris" }], []])
    expect(await text).toBe('The tools answered: {"city":"Paris","celsius":20}')
  })

  it("goes on with what a model has said that reasons and calls tools", async () => {
    const shared = {
      model: model("sim/deep"),
      tools: { weather },
      stopWhen: stepCountIs(3),
      // read by the provider of OpenAI alone, whose Responses would name what it has received instead of sending it
      providerOptions: { openai: { store: false } }
    }
    const ask = { role: "user", content: "What is the weather in Paris?" } as const
    const first = await generateText({ ...shared, messages: [ask] })
    expect(first.steps).toHaveLength(2)
    const { text } = await generateText({
      ...shared,
      messages: [ask, ...first.response.messages, { role: "user", content: "Say exactly: again" }]
    })
    expect(text).toBe("again")
  })

  it("reads an object of a schema", async () => {
    const { output } = await generateText({
      model: model("auto"),
      prompt: "Who?",
      output: Output.object({
        schema: jsonSchema<{ name: string }>({
          type: "object",
          properties: { name: { type: "string" } },
          required: ["name"],
          additionalProperties: false
        })
      })
    })
    expect(output).toEqual({ name: expect.any(String) })
  })

  it("sends an image", async () => {
    const { text } = await generateText({
      model: model("auto"),
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image", image: pixel }
          ]
        }
      ]
    })
    expect(text).toContain("I received an image (image/png")
  })

  it("takes an error as one of the API", async () => {
    const asked = generateText({ model: model("nobody/none"), prompt: "Say hello.", maxRetries: 0 })
    await expect(asked).rejects.toBeInstanceOf(APICallError)
    await expect(asked).rejects.toMatchObject({
      statusCode: 404,
      message: "The model 'nobody/none' does not exist or is not available to this key."
    })
  })

  it("takes a stream that breaks as failed", async () => {
    const errors: Array<unknown> = []
    const { finishReason, textStream } = streamText({
      model: model("sim/cut-mid"),
      prompt: "Say hello.",
      onError: ({ error }) => void errors.push(error)
    })
    let text = ""
    for await (const part of textStream) text += part
    expect(text).not.toBe("")
    expect(errors).toHaveLength(1)
    expect(`${await finishReason}`).not.toBe("stop")
  })
})
