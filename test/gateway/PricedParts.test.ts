import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe } from "vitest"
import type { Prices } from "../../src/domain/Prices.ts"
import { usage } from "../../src/domain/Usage.ts"
import type { CallerShape, ChatRequest, Model } from "../../src/index.ts"
import { ScriptedProvider, TestGateway, testModel } from "../../src/testing/index.ts"
import { everythingNative } from "../routing/models.ts"
import { unrestricted } from "../support/ChatRequests.ts"
import { booked, scriptedGateway } from "./scriptedGateway.ts"

const { end, event, finish, hang, text } = ScriptedProvider

const known = {
  input: 1_000_000,
  output: 2_000_000,
  cacheRead: null,
  cacheWrite: null,
  tiers: []
} satisfies Prices
const prices: Prices = {
  ...known,
  audioInput: 3_000_000,
  audioOutput: 20_000_000,
  serviceTiers: { priority: { ...known, input: 4_000_000, output: 8_000_000 } },
  webSearchMicroUsd: 25_000
}
const byok: CallerShape = { ...TestGateway.testCaller, billingMode: "byok" }
const capabilities: Model["capabilities"] = { ...testModel("one/m").capabilities, "audio-input": true }

const answered = (more: { readonly served?: string; readonly audio?: number } = {}): ScriptedProvider.Script => [
  ...(more.served === undefined ? [] : [event({ _tag: "ResponseInfo", serviceTier: more.served })]),
  text("fine"),
  finish("stop"),
  event({
    _tag: "Usage",
    usage: usage({ inputTokens: 100, outputTokens: 10, details: { inputAudioTokens: more.audio ?? 0 } })
  }),
  end
]

/** What one call comes to: what was sent, what was said and what was charged. */
const call = (
  asked: Partial<ChatRequest>,
  more: { readonly prices?: Prices; readonly caller?: CallerShape; readonly script?: ScriptedProvider.Script } = {}
) => {
  const { callsOf, complete, run } = scriptedGateway({
    scripts: { one: [more.script ?? answered()] },
    models: [testModel("one/m", { prices: more.prices ?? prices, support: everythingNative, capabilities })],
    ...(more.caller === undefined ? {} : { caller: more.caller })
  })
  return run(
    Effect.gen(function* () {
      const { completion, failure } = yield* complete({ model: "one/m", ...asked })
      return {
        failure,
        dropped: completion?.metadata.dropped_parameters,
        sent: callsOf("one")[0]?.call.dropped,
        booked: (yield* booked)[0]
      }
    })
  )
}

const priority = { serviceTier: "priority" }
const search = { webSearchOptions: {} }
const audio: Partial<ChatRequest> = {
  messages: [
    { role: "user", content: [{ type: "input_audio", input_audio: { data: "A".repeat(12_800), format: "wav" } }] }
  ]
}

describe("Where the customer is charged", () => {
  it.effect("a service tier costs its rates, and the standard ones when the provider serves it so", () =>
    Effect.gen(function* () {
      expect((yield* call(priority)).booked).toMatchObject({ charged: 100 * 4 + 10 * 8, absorbed: 0 })
      const script = answered({ served: "default" })
      expect((yield* call(priority, { script })).booked).toMatchObject({ charged: 100 + 10 * 2 })
      const same = answered({ served: "priority" })
      expect((yield* call(priority, { script: same })).booked).toMatchObject({ charged: 100 * 4 + 10 * 8 })
    })
  )

  it.effect("a tier that nobody has requested costs no more", () =>
    Effect.gen(function* () {
      expect((yield* call({}, { script: answered({ served: "priority" }) })).booked?.charged).toBe(120)
    })
  )

  it.effect("web search costs its fee, and audio its rate", () =>
    Effect.gen(function* () {
      expect((yield* call(search)).booked).toMatchObject({ charged: 120 + 25_000, absorbed: 0 })
      const heard = yield* call(audio, { script: answered({ audio: 80 }) })
      expect(heard.booked).toMatchObject({ charged: 20 + 80 * 3 + 10 * 2, absorbed: 0 })
    })
  )

  it.effect("a service tier or a search without a price is not sent, and the response says so", () =>
    Effect.gen(function* () {
      const result = yield* call({ ...priority, ...search }, { prices: known })
      expect(result.dropped).toEqual(["service_tier", "web_search_options"])
      expect(result.sent).toEqual(["service_tier", "web_search_options"])
      expect(result.booked?.charged).toBe(120)
      expect((yield* call({ serviceTier: "flex" })).dropped).toEqual(["service_tier"])
      expect((yield* call({ serviceTier: "default" }, { prices: known })).dropped).toEqual([])
    })
  )

  it.effect("audio without a price is refused", () =>
    Effect.gen(function* () {
      expect((yield* call(audio, { prices: known })).failure).toMatchObject({
        code: "unsupported_for_provider",
        param: "messages[0].content[0].type"
      })
      const spoken: Partial<ChatRequest> = { modalities: ["text", "audio"], audio: { voice: "alloy" } }
      expect((yield* call(spoken, { prices: known })).failure).toMatchObject({ param: "modalities" })
      expect((yield* call({ modalities: ["image"] })).failure).toMatchObject({ param: "modalities" })
      expect((yield* call(spoken)).failure).toBeUndefined()
    })
  )

  it.effect("the hold covers the dearest tier that can be served, the search and the audio", () =>
    Effect.gen(function* () {
      const plain = (yield* call({ maxOutputTokens: 1_000 })).booked?.amount ?? 0
      const dear = (yield* call({ maxOutputTokens: 1_000, ...priority })).booked?.amount ?? 0
      const cheap = (yield* call(
        { maxOutputTokens: 1_000, ...priority },
        { prices: { ...prices, serviceTiers: { priority: { ...known, input: 0, output: 0 } } } }
      )).booked?.amount
      expect(dear).toBe(4 * plain)
      expect(cheap).toBe(plain)
      expect((yield* call({ maxOutputTokens: 1_000, ...search })).booked?.amount).toBe(plain + 25_000)
      const deaf = yield* call({ maxOutputTokens: 1_000, ...audio }, { prices: { ...prices, audioInput: 1_000_000 } })
      const heard = yield* call({ maxOutputTokens: 1_000, ...audio })
      expect(heard.booked?.amount).toBe((deaf.booked?.amount ?? 0) + 100 * 2)
      const spoken = yield* call({ maxOutputTokens: 1_000, modalities: ["audio"] })
      expect(spoken.booked?.amount).toBe(plain + 1_000 * 18)
    })
  )

  it.effect("a cap on prices holds for the requested service tier", () =>
    Effect.gen(function* () {
      const routing = { ...unrestricted, maxOutputPriceMicroUsdPerMillion: 2_000_000 }
      expect((yield* call({ routing })).failure).toBeUndefined()
      expect((yield* call({ routing, ...priority })).failure).toMatchObject({ _tag: "NoEligibleModel" })
    })
  )

  it.effect("audio that was streamed to a client that left is charged at its rate", () => {
    const { relay, run, sleep } = scriptedGateway({
      scripts: {
        one: [[event({ _tag: "Audio", audio: { data: "A".repeat(32_000), transcript: "word word" } }), hang]]
      },
      models: [testModel("one/m", { prices, support: everythingNative, capabilities })]
    })
    return run(
      Effect.gen(function* () {
        const running = yield* Effect.fork(relay({ model: "one/m", modalities: ["audio"] }))
        yield* sleep(500)
        yield* Fiber.interrupt(running)
        const [call] = yield* booked
        const { inputTokens, outputTokens } = call?.settlement?.record.usage ?? { inputTokens: 0, outputTokens: 0 }
        expect(outputTokens).toBe(12)
        expect(call?.charged).toBe(inputTokens + 2 * 2 + 10 * 20)
      })
    )
  })
})

describe("Where the project pays its providers itself", () => {
  it.effect("what has no price is passed on", () =>
    Effect.gen(function* () {
      const result = yield* call({ ...priority, ...search, ...audio }, { prices: known, caller: byok })
      expect(result).toMatchObject({ dropped: [], sent: [], failure: undefined })
    })
  )
})

describe("The record of a call", () => {
  it.effect("has the prices that its usage was charged at", () =>
    Effect.gen(function* () {
      const { booked: one } = yield* call({ ...priority, ...search })
      expect(JSON.parse(one?.settlement?.record.prices ?? "")).toEqual({
        input: 4_000_000,
        output: 8_000_000,
        serviceTier: "priority",
        webSearchMicroUsd: 25_000
      })
    })
  )
})
