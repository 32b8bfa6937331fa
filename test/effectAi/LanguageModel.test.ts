import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { LanguageModelLayer, type LanguageModelOptions } from "../../src/effectAi/index.ts"
import type { ChatEvent, ChatRequest } from "../../src/index.ts"
import {
  Caller,
  type CallObserver,
  CallObservers,
  KeyId,
  Ledger,
  makeModel,
  makeProvider,
  ProviderError,
  ProvidersFailed,
  SimpleLayer
} from "../../src/index.ts"
import { pixelBytes } from "../support/Pixel.ts"

const model = makeModel({
  id: "own/large",
  prices: { input: 1_000_000, output: 2_000_000 },
  contextTokens: 100_000,
  outputTokens: 10_000,
  capabilities: ["tools", "vision", "structured-output", "sampling", "file-input"]
})

/** A gateway whose only provider answers with these events, and what it was asked. */
const answering = (
  answers: ReadonlyArray<ReadonlyArray<ChatEvent> | ProviderError>,
  options: LanguageModelOptions = {}
) => {
  const asked: Array<ChatRequest> = []
  const provider = makeProvider("own", ({ request }) => {
    const answer = answers[asked.push(request) - 1] ?? []
    return answer instanceof ProviderError ? Stream.fail(answer) : Stream.fromIterable(answer)
  })
  const layer = LanguageModelLayer({ model: "own/large", ...options }).pipe(
    Layer.provideMerge(SimpleLayer({ providers: [{ provider, models: [model] }] }))
  )
  return { asked, layer }
}

const finish = (reason: "stop" | "length" | "tool_calls" | "content_filter"): ReadonlyArray<ChatEvent> => [
  { _tag: "Finish", reason, native: reason },
  {
    _tag: "Usage",
    usage: {
      inputTokens: 10,
      cacheReadTokens: 5,
      cacheWriteTokens: 1,
      outputTokens: 4,
      reasoningTokens: 2,
      details: { inputAudioTokens: 0, outputAudioTokens: 0, acceptedPredictionTokens: 0, rejectedPredictionTokens: 0 }
    }
  }
]
const text = (of: string): ChatEvent => ({ _tag: "Text", text: of })

const Weather = Tool.make("weather", {
  description: "Temperature in a city",
  parameters: { city: Schema.String },
  success: Schema.Struct({ celsius: Schema.Number })
})
const tools = Toolkit.make(Weather)
const handlers = tools.toLayer({ weather: ({ city }) => Effect.succeed({ celsius: city === "Paris" ? 20 : 0 }) })

const completeResponse: ReadonlyArray<ChatEvent> = [
  { _tag: "Reasoning", index: 0, kind: "text", text: "Let me " },
  { _tag: "Reasoning", index: 0, kind: "text", text: "think.", signature: "s1" },
  { _tag: "Reasoning", index: 1, kind: "encrypted", text: "opaque" },
  text("It is "),
  text("warm."),
  { _tag: "Annotation", annotation: { type: "url_citation", url_citation: { url: "https://a.b/", title: "A" } } },
  { _tag: "ToolCall", index: 0, kind: "function", id: "c1", name: "weather", arguments: '{"city":' },
  { _tag: "ToolCall", index: 0, kind: "function", arguments: '"Paris"}' },
  { _tag: "ToolCall", index: 1, kind: "function", id: "c2", name: "weather", arguments: '{"city":"Oslo"}' },
  ...finish("tool_calls")
]

it.effect("a response is whole: reasoning, text, sources, calls of tools with their results, usage and cost", () => {
  const { asked, layer } = answering([completeResponse])
  return Effect.gen(function* () {
    const response = yield* LanguageModel.generateText({ prompt: "Is it warm?", toolkit: tools })
    expect([response.text, response.reasoningText, response.finishReason]).toEqual([
      "It is warm.",
      "Let me think.",
      "tool-calls"
    ])
    expect(response.toolCalls.map(({ id, params }) => [id, params])).toEqual([
      ["c1", { city: "Paris" }],
      ["c2", { city: "Oslo" }]
    ])
    expect(response.toolResults.map(({ result }) => result)).toEqual([{ celsius: 20 }, { celsius: 0 }])
    expect(response.usage).toMatchObject({
      inputTokens: 16,
      outputTokens: 6,
      totalTokens: 22,
      reasoningTokens: 2,
      cachedInputTokens: 5
    })
    const [start] = response.content
    expect(start?.type === "response-metadata" && Option.getOrUndefined(start.modelId)).toBe("own/large")
    expect(response.content.filter(({ type }) => type === "reasoning").map(({ metadata }) => metadata)).toMatchObject([
      { gateway: { type: "reasoning.text", text: "Let me think.", signature: "s1", format: "own/large" } },
      { gateway: { type: "reasoning.encrypted", data: "opaque" } }
    ])
    expect(response.content.find(({ type }) => type === "source")).toMatchObject({ url: new URL("https://a.b/") })
    const metadata = response.content.find(({ type }) => type === "finish")?.metadata["gateway"]
    expect(metadata).toMatchObject({ model: "own/large", cost: { amount_microusd: 28, basis: "charged" } })
    expect(asked[0]?.tools).toEqual([
      {
        type: "function",
        function: {
          name: "weather",
          description: "Temperature in a city",
          parameters: {
            type: "object",
            properties: { city: { type: "string" } },
            required: ["city"],
            additionalProperties: false
          }
        }
      }
    ])
  }).pipe(Effect.provide(handlers), Effect.provide(layer))
})

it.effect("a stream has the same, block by block", () => {
  const { layer } = answering([completeResponse])
  return Effect.gen(function* () {
    const parts = Chunk.toReadonlyArray(
      yield* Stream.runCollect(LanguageModel.streamText({ prompt: "Is it warm?", toolkit: tools }))
    )
    const shown = parts.flatMap((part) => {
      switch (part.type) {
        case "reasoning-delta":
        case "text-delta":
        case "tool-params-delta":
          return [`${part.type} ${part.delta}`]
        case "tool-call":
          return [`tool-call ${JSON.stringify(part.params)}`]
        case "tool-result":
          return []
        default:
          return [part.type]
      }
    })
    expect(shown).toEqual([
      "response-metadata",
      "reasoning-start",
      "reasoning-delta Let me ",
      "reasoning-delta think.",
      "reasoning-end",
      "reasoning-start",
      "reasoning-end",
      "text-start",
      "text-delta It is ",
      "text-delta warm.",
      "source",
      "text-end",
      "tool-params-start",
      'tool-params-delta {"city":',
      'tool-params-delta "Paris"}',
      "tool-params-start",
      'tool-params-delta {"city":"Oslo"}',
      "tool-params-end",
      'tool-call {"city":"Paris"}',
      "tool-params-end",
      'tool-call {"city":"Oslo"}',
      "finish"
    ])
    const ends = parts.filter((part) => part.type === "reasoning-end").map(({ metadata }) => metadata["gateway"])
    expect(ends).toMatchObject([
      { type: "reasoning.text", text: "Let me think.", signature: "s1", index: 0 },
      { type: "reasoning.encrypted", data: "opaque", index: 1 }
    ])
    const last = parts.find((part): part is Response.FinishPart => part.type === "finish")
    expect(last).toMatchObject({ reason: "tool-calls", usage: { totalTokens: 22 } })
  }).pipe(Effect.provide(handlers), Effect.provide(layer))
})

it.effect("a stream has each call whole, whatever comes between its fragments", () => {
  const fragment = (index: number, args: string, begin: object = {}): ChatEvent => ({
    _tag: "ToolCall",
    index,
    kind: "function",
    arguments: args,
    ...begin
  })
  const { layer } = answering([
    [
      fragment(0, "", { id: "c1", name: "weather" }),
      fragment(1, '{"city":', { id: "c2", name: "weather" }),
      text("I ask."),
      fragment(0, '{"city":"Paris"}'),
      fragment(1, '"Oslo"}'),
      ...finish("tool_calls")
    ]
  ])
  return Effect.gen(function* () {
    const parts = Chunk.toReadonlyArray(
      yield* Stream.runCollect(LanguageModel.streamText({ prompt: "Is it warm?", toolkit: tools }))
    )
    const calls = parts.flatMap((part) => (part.type === "tool-call" ? [[part.id, part.name, part.params]] : []))
    expect(calls).toEqual([
      ["c1", "weather", { city: "Paris" }],
      ["c2", "weather", { city: "Oslo" }]
    ])
    const written = parts.flatMap((part) => (part.type === "tool-params-delta" ? [[part.id, part.delta]] : []))
    expect(written).toEqual([
      ["c2", '{"city":'],
      ["c1", '{"city":"Paris"}'],
      ["c2", '"Oslo"}']
    ])
    expect(parts.filter(({ type }) => type === "text-end")).toHaveLength(1)
  }).pipe(Effect.provide(handlers), Effect.provide(layer))
})

it.effect("a prompt is sent as it is: files, calls with their results, reasoning with its origin", () => {
  const { asked, layer } = answering([[text("ok"), ...finish("stop")]], { request: { temperature: 0.5, alpha: 0.2 } })
  const detail = { type: "reasoning.text", text: "hm", signature: "s", format: "own/large", index: 0 }
  const prompt = Prompt.make([
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "Look:" },
        { type: "file", mediaType: "image/png", data: pixelBytes },
        { type: "file", mediaType: "image/*", data: new URL("https://a.b/c.jpg") },
        { type: "file", mediaType: "application/pdf", fileName: "a.pdf", data: "JVBERi0=" }
      ]
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", options: { gateway: detail } },
        { type: "reasoning", text: "of nobody" },
        { type: "text", text: "I ask." },
        { type: "tool-call", id: "c1", name: "weather", params: { city: "Paris" } }
      ]
    },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          id: "c1",
          name: "weather",
          isFailure: false,
          result: { celsius: 20 },
          providerExecuted: false
        }
      ]
    }
  ])
  return Effect.gen(function* () {
    yield* LanguageModel.generateText({ prompt, toolkit: tools, disableToolCallResolution: true })
    expect(asked[0]).toMatchObject({ temperature: 0.5, routing: { alpha: 0.2 } })
    expect(asked[0]?.messages).toEqual([
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Look:" },
          {
            type: "image_url",
            image_url: { url: `data:image/png;base64,${Buffer.from(pixelBytes).toString("base64")}` }
          },
          { type: "image_url", image_url: { url: "https://a.b/c.jpg" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } }
        ]
      },
      {
        role: "assistant",
        content: "I ask.",
        tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Paris"}' } }],
        reasoning_details: [detail]
      },
      { role: "tool", tool_call_id: "c1", content: '{"celsius":20}' }
    ])
  }).pipe(Effect.provide(handlers), Effect.provide(layer))
})

it.effect("the result of a tool that has failed says so, and audio by its address is refused", () => {
  const { asked, layer } = answering([[text("ok"), ...finish("stop")]])
  const call = {
    type: "tool-call",
    id: "c1",
    name: "weather",
    params: { city: "Paris" },
    providerExecuted: false
  } as const
  const result = {
    type: "tool-result",
    id: "c1",
    name: "weather",
    result: "no",
    isFailure: true,
    providerExecuted: false
  } as const
  const failed = Prompt.make([
    { role: "user", content: "Is it warm?" },
    { role: "assistant", content: [call] },
    { role: "tool", content: [result] }
  ])
  const audio = (data: URL | string) =>
    Prompt.make([{ role: "user", content: [{ type: "file", mediaType: "audio/wav", data }] }])
  return Effect.gen(function* () {
    yield* LanguageModel.generateText({ prompt: failed })
    expect(asked[0]?.messages.at(-1)).toEqual({ role: "tool", tool_call_id: "c1", content: "no", is_error: true })
    for (const data of [new URL("https://a.b/c.wav"), "https://a.b/c.wav"]) {
      expect(yield* Effect.flip(LanguageModel.generateText({ prompt: audio(data) }))).toBeInstanceOf(
        AiError.MalformedInput
      )
    }
    expect(asked).toHaveLength(1)
  }).pipe(Effect.provide(layer))
})

it.effect("an object is asked for by its schema, and decoded", () => {
  const { asked, layer } = answering([[text('{"answer":42}'), ...finish("stop")]])
  return Effect.gen(function* () {
    const { value } = yield* LanguageModel.generateObject({
      prompt: "The answer?",
      objectName: "Answer",
      schema: Schema.Struct({ answer: Schema.Number })
    })
    expect(value).toEqual({ answer: 42 })
    expect(asked[0]?.responseFormat).toMatchObject({
      type: "json_schema",
      json_schema: { name: "Answer", strict: true, schema: { properties: { answer: { type: "number" } } } }
    })
  }).pipe(Effect.provide(layer))
})

it.effect.each([
  ["none", "none"],
  ["required", "required"],
  [{ tool: "weather" }, { type: "function", function: { name: "weather" } }],
  [
    { mode: "required", oneOf: ["weather"] },
    {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "weather" } }] }
    }
  ]
] as const)("the choice of tools %o", ([toolChoice, sent]) => {
  const { asked, layer } = answering([[text("ok"), ...finish("stop")]])
  return Effect.gen(function* () {
    yield* LanguageModel.generateText({ prompt: "Hi.", toolkit: tools, toolChoice })
    expect(asked[0]?.toolChoice).toEqual(sent)
  }).pipe(Effect.provide(handlers), Effect.provide(layer))
})

it.effect("a request that is wrong is a malformed input, with the error of the gateway as its cause", () =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(LanguageModel.generateText({ prompt: "Hi." }))
    expect(error).toBeInstanceOf(AiError.MalformedInput)
    expect(error._tag === "MalformedInput" && error.cause).toMatchObject({
      _tag: "InvalidRequest",
      param: "alpha"
    })
  }).pipe(Effect.provide(answering([], { request: { alpha: 9 } }).layer))
)

it.effect("all other errors of the gateway are causes of an unknown error", () => {
  const gone = new ProviderError({ providerId: "own", reason: { _tag: "Disconnected" } })
  return Effect.gen(function* () {
    const error = yield* Effect.flip(LanguageModel.generateText({ prompt: "Hi." }))
    expect(error._tag === "UnknownError" && error.cause).toBeInstanceOf(ProvidersFailed)
  }).pipe(Effect.provide(answering([gone, gone, gone, gone]).layer))
})

it.effect("a stream that breaks fails, and one whose reader leaves ends its call", () => {
  const { layer } = answering([[text("half")], [text("one"), text("two"), ...finish("stop")]])
  return Effect.gen(function* () {
    const parts: Array<string> = []
    const read = LanguageModel.streamText({ prompt: "Hi." }).pipe(
      Stream.runForEach((part) => Effect.sync(() => parts.push(part.type)))
    )
    const error = yield* Effect.flip(read)
    expect(error).toMatchObject({ _tag: "UnknownError", method: "streamText", cause: { _tag: "StreamBroken" } })
    expect(parts).toContain("text-delta")
    expect(Chunk.size(yield* Stream.runCollect(Stream.take(LanguageModel.streamText({ prompt: "Hi." }), 2)))).toBe(2)
    const ledger = yield* Ledger
    yield* ledger.flushed
    expect(yield* ledger.checkInvariants).toEqual([])
  }).pipe(Effect.provide(layer))
})

it.effect("a call is paid by whoever makes it, else by whoever made the model", () => {
  const { layer } = answering([
    [text("a"), ...finish("stop")],
    [text("b"), ...finish("stop")]
  ])
  const payers: Array<string> = []
  const observers = [{ admitted: ({ caller }) => void payers.push(caller.keyId) } satisfies CallObserver]
  return Effect.gen(function* () {
    const owner = yield* Caller
    const asked = LanguageModel.generateText({ prompt: "Hi." })
    yield* asked
    const keyId = KeyId.make("00000000-0000-7000-8000-0000000000ff")
    yield* Effect.provideService(asked, Caller, { ...owner, keyId })
    expect(payers).toEqual([owner.keyId, keyId])
  }).pipe(Effect.provide(Layer.provide(layer, Layer.succeed(CallObservers, observers))))
})
