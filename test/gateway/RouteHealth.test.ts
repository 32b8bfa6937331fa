import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { defaultOptions, Health } from "../../src/index.ts"
import { ScriptedProvider, testModel } from "../../src/testing/index.ts"
import { type ScriptedGatewayOptions, scriptedGateway, triedBy } from "./scriptedGateway.ts"

const { answer, fail, finish, text, wait } = ScriptedProvider
type Script = ScriptedProvider.Script

const [one, two] = [testModel("one/m", { quality: 0.9 }), testModel("two/m", { quality: 0.4, alias: "other" })]

const setUp = (
  first: ReadonlyArray<Script>,
  second: ReadonlyArray<Script>,
  more: Pick<ScriptedGatewayOptions, "gateway"> = {}
) => scriptedGateway({ scripts: { one: first, two: second }, models: [one, two], policy: { defaultAlpha: 1 }, ...more })

const cut: Script = [text("part"), fail({ _tag: "Disconnected" })]
const broken: Script = [fail({ _tag: "ServerError", status: 502 })]
const whole: Script = [wait(300), text("whole"), wait(200), finish(), ScriptedProvider.end]
const times = (count: number, script: Script) => Array.from({ length: count }, () => script)

describe("A streamed call and the health of its route", () => {
  it.effect("five streams in a row that break after their first content open the circuit", () => {
    const { callsOf, relay, run } = setUp([cut], [answer("two")])
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 5; n++) expect((yield* relay()).failures).toEqual(["provider_disconnected"])
        expect((yield* relay()).completions[0]?.metadata).toMatchObject({
          model: "two/m",
          reason: "health_demotion",
          fallback: { used: false },
          skipped: [{ model: "one/m", reason: "resting" }]
        })
        expect(callsOf("one")).toHaveLength(5)
      })
    )
  })

  it.effect("a credential that is rejected after its provider has another one leaves the provider in use", () => {
    const rejected: Script = [wait(100), fail({ _tag: "CredentialRejected" })]
    const { complete, run, timers } = setUp([rejected, answer("one")], [answer("two")])
    return run(
      Effect.gen(function* () {
        const health = yield* Health
        timers.after(50, () => health.forget("one"))
        expect(triedBy(yield* complete())).toEqual(["one/m provider_unavailable", "two/m success"])
        expect(triedBy(yield* complete())).toEqual(["one/m success"])
      })
    )
  })

  it.effect("an answer of a provider that was changed meanwhile says nothing about the one that there is now", () => {
    const { complete, run, timers } = setUp([whole], [answer("two")])
    return run(
      Effect.gen(function* () {
        const health = yield* Health
        timers.after(50, () => health.forget("one"))
        expect(triedBy(yield* complete())).toEqual(["one/m success"])
        expect(health.of(one).latencyMillis).toBeNull()
        expect(triedBy(yield* complete())).toEqual(["one/m success"])
        expect(health.of(one).latencyMillis).not.toBeNull()
      })
    )
  })

  it.effect("an answered stream ends a row of failures", () => {
    const { callsOf, relay, run } = setUp([...times(4, cut), whole, ...times(4, cut), whole], [answer("two")])
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 10; n++) yield* relay()
        expect(callsOf("one")).toHaveLength(10)
      })
    )
  })

  it.effect("a stream counts for the speed of its route by the time to its first content", () => {
    const { complete, relay, run } = setUp([whole], [answer("two")])
    return run(
      Effect.gen(function* () {
        const health = yield* Health
        yield* relay()
        expect(health.of(one).latencyMillis).toBe(300)
        yield* complete({ model: "two/m" })
        expect(health.of(two).latencyMillis).toBe(0)
      })
    )
  })
})

it.effect("fallbacks to a route with an open circuit are made only within the retry budget", () => {
  const { callsOf, complete, run } = setUp([broken], [broken])
  return run(
    Effect.gen(function* () {
      for (let n = 0; n < 5; n++) {
        expect(triedBy(yield* complete())).toEqual(["one/m provider_error", "two/m provider_error"])
      }
      // both rest now: each call tries the best one rather than nobody, three within ten seconds the other one too
      yield* Effect.all(
        Array.from({ length: 50 }, () => complete()),
        { concurrency: "unbounded" }
      )
      expect(callsOf("one")).toHaveLength(55)
      expect(callsOf("two")).toHaveLength(8)
    })
  )
})

it.effect("an open circuit is not waited for beyond the call's end", () => {
  const { complete, run } = scriptedGateway({
    scripts: { one: [[fail({ _tag: "RateLimited", retryAfterMillis: 2_500 })], [wait(1), ...answer("one")]] },
    models: [one],
    gateway: { ...defaultOptions, deadlines: { ...defaultOptions.deadlines, totalMillis: 1_000 } }
  })
  return run(
    Effect.gen(function* () {
      expect((yield* complete()).tookMillis).toBe(0)
      const { failure, tookMillis } = yield* complete()
      expect(failure).toMatchObject({ attempts: [{ error: { code: "request_timeout" } }] })
      expect(tookMillis).toBe(1_000)
    })
  )
})
