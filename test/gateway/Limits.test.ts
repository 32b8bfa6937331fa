// Promise: Nothing that a limit of the gateway ends is free.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import type { Model } from "../../src/index.ts"
import { defaultOptions } from "../../src/index.ts"
import { Health } from "../../src/routing/Health.ts"
import { ScriptedProvider, testModel } from "../../src/testing/index.ts"
import { booked, scriptedGateway } from "./scriptedGateway.ts"

const { fail, hang, text, used, wait } = ScriptedProvider

const setUp = (script: ScriptedProvider.Script, model: Partial<Model> = {}, totalMillis = 20_000) =>
  scriptedGateway({
    scripts: { one: [script] },
    models: [testModel("one/m", model)],
    gateway: { ...defaultOptions, deadlines: { ...defaultOptions.deadlines, totalMillis } }
  })

describe("A call that a limit of the gateway ends", () => {
  it.effect("a stream that ends at the total deadline costs its prompt and what was streamed", () => {
    const pieces = Array.from({ length: 100 }, () => [text("word ".repeat(10)), wait(1_000)]).flat()
    const { relay, run } = setUp([used({ inputTokens: 30, outputTokens: 0 }), ...pieces])
    return run(
      Effect.gen(function* () {
        expect((yield* relay()).failures).toEqual(["request_timeout"])
        const [call] = yield* booked
        // 20 pieces of ten tokens each at 4 micro-USD; before, such a call was free
        expect(call).toMatchObject({ state: "cancelled", absorbed: 0 })
        expect(call?.charged).toBeGreaterThan(700)
        expect(call?.charged).toBeLessThan(1_300)
        const record = call?.settlement?.record
        expect(record).toMatchObject({
          status: "timeout",
          error: { code: "request_timeout" },
          cost: { amount_microusd: call?.charged, basis: "estimated" },
          attempts: [{ status: "timeout", cost: { amount_microusd: call?.charged } }]
        })
        expect(record?.usage?.inputTokens).toBe(30)
      })
    )
  })

  it.effect("a reader that does not read pays for what it was sent when the call's time is over", () => {
    const { relay, run, timers } = setUp([text("a".repeat(4_000)), wait(10), text("b"), hang])
    return run(
      Effect.gen(function* () {
        const slow = { event: () => false, drained: (resume: () => void) => void timers.after(60_000, resume) }
        expect((yield* relay({}, slow)).failures).toEqual(["request_timeout"])
        const [call] = yield* booked
        expect(call?.state).toBe("cancelled")
        expect(call?.charged).toBeGreaterThan(1_000)
      })
    )
  })

  it.effect("a stream of too many bytes costs what was streamed, and its route stays healthy", () => {
    const { relay, run } = setUp([text("x ".repeat(500)), wait(10), fail({ _tag: "ResponseTooLarge" })])
    return run(
      Effect.gen(function* () {
        expect((yield* relay()).failures).toEqual(["provider_bad_response"])
        const [call] = yield* booked
        expect(call).toMatchObject({ state: "cancelled", settlement: { record: { status: "error" } } })
        expect(call?.charged).toBeGreaterThan(500)
        for (let more = 0; more < 20; more++) yield* relay()
        const health = yield* Health
        expect(health.of(testModel("one/m"))).toMatchObject({ openUntilMillis: 0 })
      })
    )
  })

  it.effect("a non-streaming call that ends at the total deadline costs its prompt", () => {
    const { complete, run } = setUp([hang])
    return run(
      Effect.gen(function* () {
        const { failure } = yield* complete()
        const [call] = yield* booked
        expect(failure).toMatchObject({ attempts: [{ error: { code: "request_timeout" } }] })
        expect(call).toMatchObject({ state: "cancelled", settlement: { record: { status: "timeout" } } })
        expect(call?.settlement?.record.usage).toMatchObject({ inputTokens: call?.charged, outputTokens: 0 })
      })
    )
  })

  it.effect("a provider that is late costs nothing", () => {
    const { complete, relay, run } = setUp([hang], {}, 600_000)
    return run(
      Effect.gen(function* () {
        yield* complete()
        yield* relay()
        expect(yield* booked).toMatchObject([
          { state: "void", charged: 0 },
          { state: "void", charged: 0 }
        ])
      })
    )
  })
})
