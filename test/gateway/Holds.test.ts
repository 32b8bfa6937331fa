import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import type { Model } from "../../src/index.ts"
import { ScriptedProvider, testModel } from "../../src/testing/index.ts"
import { unrestricted } from "../support/ChatRequests.ts"
import { recordingTracer } from "./recordingTracer.ts"
import { booked, type ScriptedGatewayOptions, scriptedGateway, triedBy } from "./scriptedGateway.ts"

const { answer, end, fail, finish, text, used } = ScriptedProvider

const broken: ScriptedProvider.Script = [fail({ _tag: "ServerError", status: 502 })]

/** In micro-USD per million tokens; the answer of a model has at most 4,096. */
const priced = (id: string, quality: number, output: number, more: Partial<Model> = {}): Model =>
  testModel(id, {
    quality,
    alias: id,
    prices: { input: 1_000_000, output, cacheRead: null, cacheWrite: null, tiers: [] },
    ...more
  })

const cheap = 4_000_000
const dear = 400_000_000

const setUp = (
  scripts: ScriptedGatewayOptions["scripts"],
  models: ReadonlyArray<Model>,
  creditMicroUsd: number = 1_000_000_000
) => scriptedGateway({ scripts, models, creditMicroUsd, policy: { defaultAlpha: 1 } })

describe("A candidate that cannot be paid for", () => {
  it.effect(
    "a first candidate that cannot be paid for is passed over and named, unless the request forbids fallback",
    () => {
      const { callsOf, complete, run } = setUp(
        { one: [answer("one")], two: [answer("two")] },
        [priced("one/m", 0.9, dear), priced("two/m", 0.5, cheap)],
        50_000
      )
      return run(
        Effect.gen(function* () {
          const outcome = yield* complete()
          expect(triedBy(outcome)).toEqual(["two/m success"])
          expect(outcome.completion?.metadata).toMatchObject({
            reason: "first_affordable",
            fallback: { enabled: true, used: true },
            skipped: [{ model: "one/m", reason: "unaffordable" }],
            candidate_pool: { models: ["one/m", "two/m"] }
          })
          const alone = yield* complete({ routing: { ...unrestricted, enableFallback: false } })
          expect(alone.failure).toMatchObject({ _tag: "InsufficientFunds", reason: "too_large" })
          const fitting = alone.failure?._tag === "InsufficientFunds" ? alone.failure.fittingOutputTokens : undefined
          expect(fitting).toBeGreaterThan(0)
          // 400 micro-USD a token: at the other candidate, which must not be called, 4,096 tokens could be paid for
          expect(fitting).toBeLessThanOrEqual(125)
          const capped = yield* complete({
            routing: { ...unrestricted, enableFallback: false },
            maxOutputTokens: fitting
          })
          expect(triedBy(capped)).toEqual(["one/m success"])
          expect(callsOf("one").length).toBe(1)
        })
      )
    }
  )

  it.effect("a candidate that cannot be paid for is passed over in a fallback", () => {
    const { callsOf, complete, run } = setUp(
      { one: [broken], two: [answer("two")], three: [answer("three")] },
      [priced("one/m", 0.9, cheap), priced("two/m", 0.7, dear), priced("three/m", 0.5, cheap)],
      50_000
    )
    return run(
      Effect.gen(function* () {
        const outcome = yield* complete()
        expect(triedBy(outcome)).toEqual(["one/m provider_error", "three/m success"])
        expect(outcome.completion?.metadata).toMatchObject({
          reason: "fallback_after_error",
          skipped: [{ model: "two/m", reason: "unaffordable" }]
        })
        expect(callsOf("two")).toEqual([])
      })
    )
  })
})

describe("A call that fails", () => {
  it.effect("names what it passed over because of insufficient money", () => {
    const { complete, run } = setUp(
      { one: [broken], two: [answer("two")] },
      [priced("one/m", 0.9, cheap), priced("two/m", 0.7, dear)],
      50_000
    )
    return run(
      Effect.gen(function* () {
        const outcome = yield* complete()
        expect(outcome.failure).toMatchObject({
          _tag: "ProvidersFailed",
          attempts: [{ model: "one/m" }],
          skipped: [{ model: "two/m", reason: "unaffordable" }]
        })
        const pinned = yield* complete({ model: "one/m" })
        expect(pinned.failure).not.toHaveProperty("skipped")
      })
    )
  })
})

describe("A candidate of which only a short answer can be paid for", () => {
  const models = [priced("one/m", 0.9, dear), priced("two/m", 0.5, cheap)]
  /** At 400 micro-USD a token: more than the smallest answer of the first model, and less than its likely one. */
  const credit = 150_000

  it.effect("comes after a cheaper one, and is called when that one fails", () => {
    const { callsOf, complete, run } = setUp({ one: [answer("one")], two: [broken] }, models, credit)
    return run(
      Effect.gen(function* () {
        const outcome = yield* complete()
        expect(triedBy(outcome)).toEqual(["two/m provider_error", "one/m success"])
        expect(outcome.completion?.metadata).toMatchObject({ model: "one/m", reason: "fallback_after_error" })
        expect(outcome.completion?.metadata).not.toHaveProperty("skipped")
        const [sent] = callsOf("one")
        expect(sent?.call.maxOutputTokens).toBeGreaterThanOrEqual(256)
        expect(sent?.call.maxOutputTokens).toBeLessThan(375)
        expect(yield* booked).toMatchObject([{ state: "settled" }])
      })
    )
  })

  it.effect("is not called where the cheaper one has answered", () => {
    const { callsOf, complete, run } = setUp({ one: [answer("one")], two: [answer("two")] }, models, credit)
    return run(
      Effect.gen(function* () {
        const outcome = yield* complete()
        expect(triedBy(outcome)).toEqual(["two/m success"])
        expect(outcome.completion?.metadata.skipped).toEqual([{ model: "one/m", reason: "unaffordable" }])
        expect(callsOf("one")).toEqual([])
      })
    )
  })
})

describe("A hold", () => {
  it.effect(
    "a hold is extended before a dearer candidate is called, which may then generate its complete response",
    () => {
      const longAnswer = [text("long"), finish(), used({ inputTokens: 10, outputTokens: 4_000 }), end]
      const { callsOf, complete, run } = setUp({ one: [broken], two: [longAnswer] }, [
        priced("one/m", 0.9, cheap),
        priced("two/m", 0.7, dear)
      ])
      return run(
        Effect.gen(function* () {
          const fallenBack = yield* complete()
          expect(triedBy(fallenBack)).toEqual(["one/m provider_error", "two/m success"])
          yield* complete({ model: "two/m" })
          const [raised, direct] = yield* booked
          expect(raised?.amount).toBe(direct?.amount)
          expect(raised).toMatchObject({ state: "settled", charged: 1_600_010, absorbed: 0 })
          expect(callsOf("two").map(({ call }) => call.maxOutputTokens)).toEqual([4_096, 4_096])
        })
      )
    }
  )

  it.effect("a hold smaller than the cost of a complete response caps the answer at what it pays for", () => {
    const { callsOf, complete, run } = setUp({ one: [answer("one")] }, [priced("one/m", 0.9, cheap)], 5_000)
    return run(
      Effect.gen(function* () {
        yield* complete({ maxOutputTokens: 4_096 })
        const [call] = yield* booked
        expect(call?.amount).toBe(5_000)
        const [sent] = callsOf("one")
        // 4 micro-USD a token, less what the prompt may cost
        expect(sent?.call.maxOutputTokens).toBeLessThan(1_250)
        expect(sent?.call.maxOutputTokens).toBeGreaterThan(1_200)
      })
    )
  })

  it.effect("a call without a cap leaves half of the balance to others, and answers within its share", () => {
    const { callsOf, complete, run } = setUp({ one: [answer("one")] }, [priced("one/m", 0.9, cheap)], 5_000)
    return run(
      Effect.gen(function* () {
        yield* complete()
        expect((yield* booked).map(({ amount }) => amount)).toEqual([2_500])
        expect(callsOf("one")[0]?.call.maxOutputTokens).toBeLessThan(625)
      })
    )
  })

  it.effect("a hold is extended for a dearer candidate only, not for the one that it was granted for", () => {
    const partial = setUp({ one: [answer("one")] }, [priced("one/m", 0.9, cheap)], 5_000)
    const dearer = setUp({ one: [broken], two: [answer("two")] }, [
      priced("one/m", 0.9, cheap),
      priced("two/m", 0.7, dear)
    ])
    const extensions = ({ complete, run }: typeof partial) => {
      const { spans, tracer } = recordingTracer()
      const traced = run(Effect.withTracer(complete(), tracer))
      return Effect.map(traced, () => spans.filter(({ name }) => name === "gateway.ledger.extend").length)
    }
    return Effect.gen(function* () {
      expect({ partial: yield* extensions(partial), dearer: yield* extensions(dearer) }).toEqual({
        partial: 0,
        dearer: 1
      })
    })
  })

  it.effect("a hold is refused where it does not pay for the reasoning that comes before an answer", () => {
    const reasons = { reasonsByDefault: true }
    const { complete, run } = setUp(
      { one: [answer("one")], two: [answer("two")] },
      [priced("one/m", 0.9, cheap, reasons), priced("two/m", 0.5, cheap)],
      5_000
    )
    return run(
      Effect.gen(function* () {
        expect((yield* complete({ model: "one/m" })).failure).toMatchObject({
          _tag: "InsufficientFunds",
          scope: "account"
        })
        expect((yield* complete({ model: "two/m" })).completion?.answer.text).toBe("two")
      })
    )
  })

  it.effect("a call costs at most its hold: what a provider reports beyond it is absorbed", () => {
    const beyond = [text("x"), finish(), used({ inputTokens: 20_000, outputTokens: 1 }), end]
    const { complete, run } = setUp({ one: [beyond] }, [priced("one/m", 0.9, cheap)], 5_000)
    return run(
      Effect.gen(function* () {
        const { completion } = yield* complete({ maxOutputTokens: 4_096 })
        expect(completion?.metadata.cost).toEqual({ amount_microusd: 5_000, currency: "USD", basis: "charged" })
        const [call] = yield* booked
        expect(call).toMatchObject({ state: "settled", charged: 5_000, absorbed: 15_004 })
      })
    )
  })

  it.effect("more output than the cap that was sent is not believed: what came is estimated", () => {
    const beyond = [text("x"), finish(), used({ inputTokens: 10, outputTokens: 1_000_000_000 }), end]
    const { complete, relay, run } = setUp({ one: [beyond] }, [priced("one/m", 0.9, cheap)], 25_000_000)
    return run(
      Effect.gen(function* () {
        const { completion } = yield* complete({ maxOutputTokens: 4_096 })
        expect(completion?.metadata.cost.basis).toBe("estimated")
        yield* relay({})
        for (const { absorbed, charged } of yield* booked) {
          expect(charged).toBeGreaterThan(0)
          expect(charged).toBeLessThan(100)
          expect(absorbed).toBe(0)
        }
      })
    )
  })

  it.effect(
    "a prompt costs what its provider has counted of it, also where its count of the output is not believed",
    () => {
      const counted = { inputTokens: 1_000, cacheReadTokens: 9_000 }
      const answered = (outputTokens: number) => [text("x"), finish(), used({ ...counted, outputTokens }), end]
      const { complete, run } = setUp(
        { one: [answered(1), answered(4_097)] },
        [priced("one/m", 0.9, cheap)],
        25_000_000
      )
      return run(
        Effect.gen(function* () {
          const exact = yield* complete({ maxOutputTokens: 4_096 })
          const beyond = yield* complete({ maxOutputTokens: 4_096 })
          expect(exact.completion?.metadata.cost.basis).toBe("charged")
          expect(beyond.completion?.metadata.cost.basis).toBe("estimated")
          const [first, second] = yield* booked
          expect(second?.charged).toBe(first?.charged)
        })
      )
    }
  )
})
