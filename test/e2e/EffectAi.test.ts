import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as AnthropicClient from "@effect/ai-anthropic/AnthropicClient"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
import * as OpenAiClient from "@effect/ai-openai/OpenAiClient"
import * as OpenAiLanguageModel from "@effect/ai-openai/OpenAiLanguageModel"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Service, startService, testKey } from "../support/Service.ts"

let service: Service

beforeAll(async () => {
  service = await startService()
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
})

const apiKey = Redacted.make(testKey)

/** Each decodes what it receives by the schemas of its vendor's OpenAPI document. */
const providers: ReadonlyArray<
  readonly [name: string, model: (id: string) => Layer.Layer<LanguageModel.LanguageModel>]
> = [
  [
    "openai",
    (model) =>
      OpenAiLanguageModel.layer({ model }).pipe(
        Layer.provide(OpenAiClient.layer({ apiKey, apiUrl: `${service.url}/v1` })),
        Layer.provide(FetchHttpClient.layer)
      )
  ],
  [
    "anthropic",
    (model) =>
      AnthropicLanguageModel.layer({ model, config: { max_tokens: 1_000 } }).pipe(
        Layer.provide(AnthropicClient.layer({ apiKey, apiUrl: service.url })),
        Layer.provide(FetchHttpClient.layer)
      )
  ]
]

const Weather = Tool.make("weather", {
  description: "Temperature in a city",
  parameters: { city: Schema.String },
  success: Schema.String
})
const tools = Toolkit.make(Weather)
const toolsLayer = tools.toLayer({ weather: ({ city }) => Effect.succeed(`20 degrees in ${city}`) })

describe.each(providers)("@effect/ai with its provider %s", (_, modelLayer) => {
  const run = <A, E>(program: Effect.Effect<A, E, LanguageModel.LanguageModel>, model = "auto"): Promise<A> =>
    Effect.runPromise(Effect.provide(program, modelLayer(model)))

  it("reads a response and its usage", async () => {
    const { finishReason, text, usage } = await run(LanguageModel.generateText({ prompt: "Say hello." }))
    expect([text, finishReason]).toEqual(["hello", "stop"])
    expect(usage).toMatchObject({ inputTokens: 3, outputTokens: 1 })
  })

  it("reads a stream", async () => {
    const parts = await run(Stream.runCollect(LanguageModel.streamText({ prompt: "Say hello." })))
    const deltas = Chunk.filter(parts, (part): part is Response.TextDeltaPart => part.type === "text-delta")
    expect(Chunk.toReadonlyArray(deltas).map(({ delta }) => delta)).toEqual(["hello"])
    expect(Chunk.unsafeLast(parts)).toMatchObject({ type: "finish", reason: "stop" })
  })

  it("runs a tool", async () => {
    const asked = LanguageModel.generateText({ prompt: "What is the weather in Paris?", toolkit: tools })
    const { toolCalls, toolResults } = await run(Effect.provide(asked, toolsLayer))
    expect(toolCalls.map(({ params }) => params)).toEqual([{ city: "Paris" }])
    expect(toolResults.map(({ result }) => result)).toEqual(["20 degrees in Paris"])
  })

  it("reads an object of a schema", async () => {
    const { value } = await run(
      LanguageModel.generateObject({ prompt: "Who?", schema: Schema.Struct({ name: Schema.String }) })
    )
    expect(value.name).not.toBe("")
  })

  it("takes a stream that breaks as failed", async () => {
    const parts = await run(Stream.runCollect(LanguageModel.streamText({ prompt: "Say hello." })), "sim/cut-mid")
    expect(Chunk.toReadonlyArray(parts).map(({ type }) => type)).toContain("error")
  })

  it("fails with the error of the API", async () => {
    const asked = run(Effect.flip(LanguageModel.generateText({ prompt: "Say hello." })), "nobody/none")
    expect(JSON.stringify(await asked)).toContain("The model 'nobody/none' does not exist")
  })
})
