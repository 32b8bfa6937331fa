import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe } from "vitest"
import { type CallerShape, type ChatEvent, type ChatRequest, type Model, usageEvent } from "../../src/index.ts"
import { ScriptedProvider, TestGateway, testModel } from "../../src/testing/index.ts"
import { booked, scriptedGateway } from "./scriptedGateway.ts"

const { answer, end, event, fail, finish, hang, text, used, wait } = ScriptedProvider
type Script = ScriptedProvider.Script

const setUp = (script: Script, more: { readonly model?: Partial<Model>; readonly caller?: CallerShape } = {}) =>
  scriptedGateway({
    scripts: { one: [script] },
    models: [testModel("one/m", more.model)],
    ...(more.caller === undefined ? {} : { caller: more.caller })
  })

/** What the ledger has recorded of a streamed call whose client leaves after this time. */
const leftAfter = (millis: number, script: Script, model: Partial<Model> = {}, asked: Partial<ChatRequest> = {}) => {
  const { relay, run, sleep } = setUp(script, { model })
  return run(
    Effect.gen(function* () {
      const running = yield* Effect.fork(relay(asked))
      yield* sleep(millis)
      yield* Fiber.interrupt(running)
      const [call] = yield* booked
      return call
    })
  )
}

describe("The basis of a cost", () => {
  it.effect("a cost is charged where the provider reports usage, and estimated where the gateway estimates it", () =>
    Effect.gen(function* () {
      const counted = setUp(answer("hi"))
      const uncounted = setUp([text("hi"), finish(), end])
      const basisOf = ({ complete, run }: typeof counted) =>
        run(Effect.map(complete(), ({ completion }) => completion?.metadata.cost.basis))
      expect(yield* basisOf(counted)).toBe("charged")
      expect(yield* basisOf(uncounted)).toBe("estimated")
    })
  )

  it.effect.each([
    { inputTokens: Number.NaN, outputTokens: 5 },
    { inputTokens: -1_000_000, outputTokens: 5 },
    { inputTokens: 10, outputTokens: 0.5 },
    { inputTokens: 10, outputTokens: 5, details: { inputAudioTokens: 0.5 } }
  ])("usage that no provider can have counted is estimated, as if there were none: %j", (counts) =>
    Effect.gen(function* () {
      const settlementOf = (script: Script) => {
        const { complete, run } = setUp(script)
        return run(Effect.flatMap(complete(), () => Effect.map(booked, ([call]) => call?.settlement)))
      }
      const reported = yield* settlementOf([text("hi"), finish(), event(usageEvent(counts)), end])
      const none = yield* settlementOf([text("hi"), finish(), end])
      expect(reported?.record.usage).toEqual(none?.record.usage)
      expect([reported?.actual, reported?.record.cost.basis]).toEqual([none?.actual, "estimated"])
    })
  )

  it.effect("the cost of a project that pays its provider itself is estimated", () => {
    const { complete, run } = setUp(answer("hi"), { caller: { ...TestGateway.testCaller, billingMode: "byok" } })
    return run(
      Effect.gen(function* () {
        expect((yield* complete()).completion?.metadata.cost.basis).toBe("estimated")
      })
    )
  })

  it.effect("the cost of a cancelled call is estimated, although its provider has reported usage", () =>
    Effect.gen(function* () {
      const call = yield* leftAfter(500, [used({ inputTokens: 50, outputTokens: 1 }), text("some"), hang])
      expect(call).toMatchObject({ state: "cancelled", charged: 58 })
      expect(call?.settlement?.record).toMatchObject({
        status: "cancelled",
        cost: { amount_microusd: 58, basis: "estimated" }
      })
    })
  )
})

describe("A call that is cancelled before its first content", () => {
  it.effect("a call cancelled before its first content costs its prompt", () =>
    Effect.gen(function* () {
      const call = yield* leftAfter(500, [hang])
      expect(call?.state).toBe("cancelled")
      // before, it was free
      expect(call?.charged).toBe(18)
      expect(call?.settlement?.record.usage).toMatchObject({ inputTokens: 18, outputTokens: 0 })
    })
  )

  it.effect("a call cancelled before its first content is free where the provider is documented not to charge", () =>
    Effect.gen(function* () {
      const call = yield* leftAfter(500, [hang], { billsAbortedCalls: false })
      expect(call).toMatchObject({ state: "cancelled", charged: 0 })
      expect(call?.settlement?.record).toMatchObject({ status: "cancelled", usage: null })
    })
  )

  it.effect("only the attempt that runs is charged, not those that have failed before it", () => {
    const { relay, run, sleep } = scriptedGateway({
      scripts: { one: [[fail({ _tag: "ServerError", status: 502 })]], two: [[hang]] },
      models: [testModel("one/m", { quality: 0.9 }), testModel("two/m", { quality: 0.4, alias: "other" })],
      policy: { defaultAlpha: 1 }
    })
    return run(
      Effect.gen(function* () {
        const running = yield* Effect.fork(relay())
        yield* sleep(500)
        yield* Fiber.interrupt(running)
        const [call] = yield* booked
        expect(call?.charged).toBe(18)
        expect(call?.settlement?.record.attempts).toMatchObject([
          { model: "one/m", cost: { amount_microusd: 0 } },
          { model: "two/m", cost: { amount_microusd: 18 } }
        ])
      })
    )
  })
})

describe("A prompt of which the provider has told nothing", () => {
  it.effect("images and files are part of the prompt that a cancelled call costs", () =>
    Effect.gen(function* () {
      const image = { type: "image_url" as const, image_url: { url: "https://images.example/one.png" } }
      const file = { type: "file" as const, file: { file_data: "data:application/pdf;base64,JVBERi0=" } }
      const content = [{ type: "text" as const, text: "What is this?" }, image, image, file]
      const script = [text("A"), hang]
      const asked = { messages: [{ role: "user" as const, content }] }
      const call = yield* leftAfter(500, script, { imageTokens: 700 }, asked)
      const plain = yield* leftAfter(500, script, {}, { messages: [{ role: "user", content: "What is this?" }] })
      const tokensOf = (one: typeof call) => one?.settlement?.record.usage?.inputTokens ?? 0
      expect(tokensOf(plain)).toBeGreaterThan(0)
      expect(tokensOf(call)).toBe(tokensOf(plain) + 3 * 700)
      expect(call?.charged).toBe((plain?.charged ?? 0) + 3 * 700)
    })
  )
})

describe("What a provider has told of a call that is cancelled", () => {
  const prices = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000, tiers: [] }
  const prompt = [{ role: "user" as const, content: "word ".repeat(100_000) }]
  const told = used({ inputTokens: 1_500, cacheReadTokens: 98_000, cacheWriteTokens: 500, outputTokens: 0 })
  const leftWith = (script: Script) => {
    const { relay, run, sleep } = setUp(script, { model: { prices, contextTokens: 200_000 } })
    return run(
      Effect.gen(function* () {
        const running = yield* Effect.fork(relay({ messages: prompt }))
        yield* sleep(500)
        yield* Fiber.interrupt(running)
        return (yield* booked)[0]
      })
    )
  }

  it.effect("cached tokens of its prompt are charged at their rate", () =>
    Effect.gen(function* () {
      // estimated from the prompt's text, it was 300,000 and more
      const call = yield* leftWith([told, text("word ".repeat(20)), hang])
      const promptCost = 1_500 * 3 + 98_000 * 0.3 + 500 * 3.75
      expect(call?.charged).toBe(Math.ceil(promptCost + 20 * 15))
      expect((yield* leftWith([told, hang]))?.charged).toBe(promptCost)
    })
  )

  it.effect("usage that is reported while the answer comes counts, and what has come since is estimated", () =>
    Effect.gen(function* () {
      const running = used({ inputTokens: 90_000, outputTokens: 33 })
      const call = yield* leftWith([told, text("word ".repeat(20)), running, text("and so on"), hang])
      expect(call?.settlement?.record.usage).toMatchObject({ inputTokens: 90_000, outputTokens: 36 })
      expect(call?.charged).toBe(90_000 * 3 + 36 * 15)
    })
  )

  it.effect("a call that is cancelled never costs more than is held", () =>
    Effect.gen(function* () {
      const call = yield* leftWith([used({ inputTokens: 100_000_000 }), text("a"), hang])
      expect(call?.charged).toBe(call?.amount)
    })
  )
})

describe("Output without reported usage", () => {
  const words = "word ".repeat(100)
  const kinds: ReadonlyArray<readonly [string, ChatEvent, number]> = [
    ["text", { _tag: "Text", text: words }, 100],
    ["a refusal", { _tag: "Refusal", text: words }, 100],
    ["reasoning", { _tag: "Reasoning", index: 0, kind: "text", text: words }, 100],
    ["a tool call", { _tag: "ToolCall", index: 0, kind: "function", id: "a", name: "four", arguments: words }, 101]
  ]
  for (const [kind, content, tokens] of kinds) {
    it.effect(`${kind} without reported usage is estimated from its length, streamed or not`, () => {
      const { complete, relay, run } = setUp([event(content), finish("length"), end])
      return run(
        Effect.gen(function* () {
          const { completion } = yield* complete()
          const [streamed] = (yield* relay()).completions
          expect(completion?.usage.outputTokens).toBe(tokens)
          expect(completion?.answer.usage).toEqual(completion?.usage)
          expect(streamed?.usage.outputTokens).toBe(tokens)
          expect(streamed?.metadata.cost).toEqual(completion?.metadata.cost)
          expect(completion?.metadata.cost.amount_microusd).toBeGreaterThanOrEqual(4 * tokens)
        })
      )
    })
  }
})

describe("Usage of a provider that has not counted", () => {
  const words = text("word ".repeat(100))
  const uncounted = used({ inputTokens: 0, outputTokens: 0 })

  it.effect.each([
    ["once at the end", [words, finish(), uncounted, end]],
    ["beside each piece", [uncounted, words, uncounted, finish(), uncounted, end]]
  ] as const)("nothing but zeros, %s, is no report: the response is estimated", ([, script]) =>
    Effect.gen(function* () {
      const without = setUp([words, finish(), end])
      const expected = (yield* without.run(without.complete())).completion
      const { complete, relay, run } = setUp(script)
      yield* run(
        Effect.gen(function* () {
          const { completion } = yield* complete()
          const [streamed] = (yield* relay()).completions
          expect(completion?.usage).toEqual(expected?.usage)
          expect(streamed?.usage).toEqual(expected?.usage)
          expect(completion?.metadata.cost).toEqual(expected?.metadata.cost)
          expect(streamed?.metadata.cost).toMatchObject({ basis: "estimated" })
          expect((yield* booked).map(({ charged }) => charged)).toEqual([
            expected?.metadata.cost.amount_microusd,
            expected?.metadata.cost.amount_microusd
          ])
        })
      )
    })
  )

  it.effect("zeros do not replace what was reported before", () => {
    const { complete, relay, run } = setUp([
      words,
      finish(),
      used({ inputTokens: 30, outputTokens: 90 }),
      uncounted,
      end
    ])
    return run(
      Effect.gen(function* () {
        expect((yield* complete()).completion?.metadata.cost).toMatchObject({ amount_microusd: 390, basis: "charged" })
        expect((yield* relay()).completions[0]?.metadata.cost.amount_microusd).toBe(390)
      })
    )
  })

  it.effect("a call that its client leaves costs what was streamed, although each piece came with zeros", () =>
    Effect.gen(function* () {
      const call = yield* leftAfter(500, [words, uncounted, hang])
      expect(call?.settlement?.record.usage).toMatchObject({ inputTokens: 18, outputTokens: 100 })
      expect(call?.charged).toBe(418)
    })
  )

  it.effect("a report of the prompt alone says nothing of the output that came before it", () =>
    Effect.gen(function* () {
      const promptAlone = used({ inputTokens: 30, outputTokens: 0 })
      expect((yield* leftAfter(500, [words, promptAlone, hang]))?.charged).toBe(430)
      const { complete, run } = setUp([words, finish(), promptAlone, end])
      expect((yield* run(complete())).completion?.metadata.cost).toMatchObject({
        amount_microusd: 430,
        basis: "estimated"
      })
    })
  )
})

it.effect("a failed call costs nothing and is logged without usage", () => {
  const { relay, run } = setUp([
    text("part"),
    used({ inputTokens: 10, outputTokens: 1 }),
    fail({ _tag: "Disconnected" })
  ])
  return run(
    Effect.gen(function* () {
      expect((yield* relay()).failures).toEqual(["provider_disconnected"])
      const [call] = yield* booked
      expect(call).toMatchObject({ state: "void", charged: 0 })
      expect(call?.settlement?.record).toMatchObject({ status: "error", usage: null, cost: { amount_microusd: 0 } })
    })
  )
})

describe("The metadata of an answer", () => {
  it.effect("the metadata name the model that the provider says has answered", () => {
    const served = event({ _tag: "ResponseInfo", model: "m-2026-01-01" })
    // a later report says nothing of the model
    const tier = event({ _tag: "ResponseInfo", serviceTier: "default" })
    const { complete, relay, run } = setUp([served, tier, ...answer("hi")])
    return run(
      Effect.gen(function* () {
        const plain = (yield* complete()).completion?.metadata
        const streamed = (yield* relay()).completions[0]?.metadata
        expect(plain?.upstream_model).toBe("m-2026-01-01")
        expect(streamed?.upstream_model).toBe("m-2026-01-01")
      })
    )
  })

  it.effect("the metadata do not call a retry of the same model a fallback", () => {
    const { complete, run } = scriptedGateway({
      scripts: { one: [[fail({ _tag: "ServerError", status: 500 })], answer("hi")] },
      models: [testModel("one/m")]
    })
    return run(
      Effect.gen(function* () {
        const { completion } = yield* complete()
        expect(completion?.metadata.attempts).toHaveLength(2)
        expect(completion?.metadata.fallback).toEqual({ enabled: true, used: false })
      })
    )
  })

  it.effect.each([
    ["an error", [fail({ _tag: "ServerError", status: 502 })]],
    ["a deadline", [hang]]
  ] as const)("the metadata say that the answer came after %s of another model", ([, first]) => {
    const { complete, relay, run } = scriptedGateway({
      scripts: { one: [first], two: [answer("two")] },
      models: [testModel("one/m", { quality: 0.9 }), testModel("two/m", { quality: 0.4, alias: "other" })],
      policy: { defaultAlpha: 1 }
    })
    return run(
      Effect.gen(function* () {
        const told = { reason: "fallback_after_error", fallback: { enabled: true, used: true }, alpha: 1 }
        expect((yield* complete()).completion?.metadata).toMatchObject(told)
        expect((yield* relay()).completions[0]?.metadata).toMatchObject(told)
      })
    )
  })

  it.effect("metadata and call log name no alpha where the request names its model", () => {
    const { complete, run } = setUp(answer("hi"))
    return run(
      Effect.gen(function* () {
        const { completion } = yield* complete({ model: "one/m" })
        expect(completion?.metadata).toMatchObject({ reason: "pinned_model", alpha: null })
        yield* complete({ model: "auto" })
        const logged = (yield* booked).map((call) => [call.settlement?.record.reason, call.settlement?.record.alpha])
        expect(logged).toEqual([
          ["pinned_model", null],
          ["only_candidate", 0.65]
        ])
      })
    )
  })
})

it.effect("complete sends a non-streaming request and relay a streaming one, whatever the request asks for", () => {
  const { callsOf, complete, relay, run } = setUp([wait(1), ...answer("hi")])
  return run(
    Effect.gen(function* () {
      yield* complete({ stream: true })
      yield* relay({ stream: false })
      expect(callsOf("one").map(({ call }) => call.request.stream)).toEqual([false, true])
      const records = (yield* booked).map((call) => call.settlement?.record.stream)
      expect(records).toEqual([false, true])
    })
  )
})

describe("What an attempt that failed has used", () => {
  const first = (
    script: Script,
    more: { readonly billsAbortedCalls?: boolean; readonly caller?: CallerShape } = {}
  ) => {
    const models = ["one/m", "two/m"].map((id) =>
      testModel(id, { quality: id === "one/m" ? 0.9 : 0.5, billsAbortedCalls: more.billsAbortedCalls ?? true })
    )
    const { complete, relay, run } = scriptedGateway({
      scripts: { one: [script], two: [answer("fine")] },
      models,
      ...(more.caller === undefined ? {} : { caller: more.caller })
    })
    const call = Effect.map(booked, ([one]) => one)
    return {
      plain: run(Effect.zipRight(complete({ model: "auto" }), call)),
      streamed: run(Effect.zipRight(relay({ model: "auto" }), call))
    }
  }
  const reported = used({ inputTokens: 1_000, outputTokens: 30 })

  it.effect("is recorded as the provider has reported it, and the operator's, whoever answers then", () =>
    Effect.gen(function* () {
      const one = yield* first([reported, fail({ _tag: "BadResponse", detail: "not an event" })]).plain
      expect(one?.settlement?.record).toMatchObject({
        attempts: [{ model: "one/m", cost: { amount_microusd: 0 } }, { model: "two/m" }],
        failedUsage: [{ usage: { inputTokens: 1_000, outputTokens: 30 }, cost: 1_000 + 30 * 4 }, null]
      })
      expect(one?.absorbed).toBe(1_120)
      expect(one?.charged).toBe(one?.settlement?.record.cost.amount_microusd)
    })
  )

  it.effect("is estimated where a stream broke, or where nothing came after the request was taken on", () =>
    Effect.gen(function* () {
      const cut: Script = [text("word ".repeat(20)), fail({ _tag: "Disconnected" })]
      const broken = yield* first(cut, { billsAbortedCalls: false }).streamed
      expect(broken?.settlement?.record.failedUsage).toMatchObject([{ usage: { outputTokens: 20 } }])
      expect(broken).toMatchObject({ state: "void", charged: 0 })
      expect(broken?.absorbed).toBe(broken?.settlement?.record.failedUsage[0]?.cost)
      const late = yield* first([fail({ _tag: "FirstContentTimeout" })]).streamed
      expect(late?.settlement?.record.failedUsage[0]?.usage.inputTokens).toBeGreaterThan(0)
      expect(late?.absorbed).toBeGreaterThan(0)
    })
  )

  it.effect("is nothing where the request was refused, or the provider does not charge for what is aborted", () =>
    Effect.gen(function* () {
      const refused = yield* first([fail({ _tag: "RateLimited", retryAfterMillis: null })]).plain
      expect(refused).toMatchObject({ absorbed: 0, settlement: { record: { failedUsage: [null, null] } } })
      const free = yield* first([fail({ _tag: "AnswerTimeout" })], { billsAbortedCalls: false }).plain
      expect(free).toMatchObject({ absorbed: 0, settlement: { record: { failedUsage: [null, null] } } })
    })
  )

  it.effect("is not the operator's where the project pays its providers itself", () =>
    Effect.gen(function* () {
      const own = yield* first([reported, fail({ _tag: "Stalled" })], {
        caller: { ...TestGateway.testCaller, billingMode: "byok" }
      }).plain
      expect(own).toMatchObject({ absorbed: 0, settlement: { record: { failedUsage: [{ cost: 1_120 }, null] } } })
    })
  )
})

describe("The expected cost", () => {
  it.effect(
    "of images is that of their tokens at the model, and once they are in its cache that of reading them",
    () => {
      const prices = { input: 1_000_000, output: 0, cacheRead: 100_000, cacheWrite: null, tiers: [] }
      const { complete, run } = setUp(answer("hi"), { model: { imageTokens: 1_000, prices } })
      const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } } as const
      const first = { role: "user", content: [image, image] } as const
      const expectedOf = (messages: ChatRequest["messages"]) =>
        Effect.map(
          complete({ model: "auto", messages }),
          ({ completion }) => completion?.metadata.prediction?.expected_cost_microusd ?? 0
        )
      return run(
        Effect.gen(function* () {
          const begun = yield* expectedOf([first])
          expect(begun).toBeGreaterThan(2_000)
          expect(begun).toBeLessThan(2_100)
          const goesOn = yield* expectedOf([
            first,
            { role: "assistant", content: "hi" },
            { role: "user", content: "and now?" }
          ])
          expect(goesOn).toBeGreaterThan(200)
          expect(goesOn).toBeLessThan(300)
        })
      )
    }
  )
})
