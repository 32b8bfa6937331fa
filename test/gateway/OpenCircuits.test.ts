// Promise: Health is fair.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe } from "vitest"
import { Caller, Gateway } from "../../src/index.ts"
import type { Health } from "../../src/routing/Health.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"
import { inVirtualTime, quiet } from "./virtualTime.ts"

const { answer, fail, hang } = ScriptedProvider
type Script = ScriptedProvider.Script

const limited = (retryAfterMillis: number): Script => [fail({ _tag: "RateLimited", retryAfterMillis })]
const failing: Script = [fail({ _tag: "ServerError", status: 500 })]
const busy: Script = [fail({ _tag: "ServerError", status: 503 })]

/** Two providers, the first one better; each plays its scripts in turn. */
const setUp = (one: ReadonlyArray<Script>, two: ReadonlyArray<Script> = []) => {
  const timers = VirtualTimers.make()
  const provider = (id: string, scripts: ReadonlyArray<Script>) =>
    ScriptedProvider.make({ id, timers, script: ScriptedProvider.inTurn(...scripts) })
  const providers = { one: provider("one", one), two: provider("two", two) }
  const models = [testModel("one/m", { quality: 0.9 }), testModel("two/m", { quality: 0.4, alias: "other" })]
  const layer = TestGateway.layer({
    timers,
    providers: Object.values(providers),
    models: two.length === 0 ? models.slice(0, 1) : models,
    policy: { defaultAlpha: 1 }
  })
  const ask = (model = "auto") =>
    Effect.gen(function* () {
      const startedAt = timers.now()
      const gateway = yield* Gateway
      const outcome = yield* Effect.match(gateway.complete(request({ model, stream: false })), {
        onSuccess: (completion) => completion.model,
        onFailure: (error) => error._tag
      })
      return { outcome, tookMillis: timers.now() - startedAt }
    })
  const callCounts = () => ({ one: providers.one.calls.length, two: providers.two.calls.length })
  const run = <A, E>(program: Effect.Effect<A, E, Gateway | Caller | MemoryLedger | Health>): Effect.Effect<A, E> =>
    inVirtualTime(timers, program).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(layer))
  return { ...providers, timers, ask, callCounts, run }
}

describe("When the circuit of every candidate is open", () => {
  it.effect("the candidate whose circuit closes first is waited for and called first", () => {
    const { ask, callCounts, run, timers } = setUp([limited(9_000), answer("one")], [limited(4_000), answer("two")])
    return run(
      Effect.gen(function* () {
        expect((yield* ask()).outcome).toBe("ProvidersFailed")
        timers.advance(1_500)
        expect(yield* ask()).toEqual({ outcome: "two/m", tookMillis: 2_500 })
        expect(callCounts()).toEqual({ one: 1, two: 2 })
      })
    )
  })

  it.effect("the best candidate is tried at once where every circuit stays open for more than three seconds", () => {
    const { ask, callCounts, run } = setUp([limited(9_000), answer("one")], [limited(9_000), answer("two")])
    return run(
      Effect.gen(function* () {
        yield* ask()
        expect(yield* ask()).toEqual({ outcome: "one/m", tookMillis: 0 })
        expect(callCounts()).toEqual({ one: 2, two: 1 })
      })
    )
  })

  it.effect("a client that leaves during the wait is cancelled, and no provider is called", () => {
    const { ask, one, run, timers } = setUp([limited(9_000), answer("one")])
    return run(
      Effect.gen(function* () {
        yield* ask("one/m")
        timers.advance(7_000)
        const waiting = yield* Effect.fork(ask("one/m"))
        yield* quiet
        timers.advance(1_000)
        yield* Fiber.interrupt(waiting)
        expect(one.calls.length).toBe(1)
        const [, call] = (yield* MemoryLedger).calls()
        expect(call).toMatchObject({ state: "cancelled", charged: 0, settlement: { record: { status: "cancelled" } } })
        expect(call?.settlement?.record.attempts).toEqual([])
      })
    )
  })
})

describe("The one retry of a route", () => {
  it.effect("the retry after a 500 comes after a random delay of up to 400 ms", () => {
    const { ask, run } = setUp(Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? failing : answer("one"))))
    return run(
      Effect.gen(function* () {
        const waits: Array<number> = []
        for (let n = 0; n < 3; n++) {
          const { outcome, tookMillis } = yield* ask()
          expect(outcome).toBe("one/m")
          waits.push(tookMillis)
        }
        expect(Math.max(...waits)).toBeLessThanOrEqual(400)
        expect(new Set(waits).size).toBe(3)
      })
    )
  })

  it.effect("the retries of all calls together stay within a fifth of the calls and three", () => {
    const { ask, one, run } = setUp([failing])
    return run(
      Effect.gen(function* () {
        yield* Effect.all(
          Array.from({ length: 100 }, () => ask()),
          { concurrency: "unbounded" }
        )
        expect(one.calls.length).toBe(123)
      })
    )
  })

  it.effect("a 503 is never retried", () => {
    const { ask, one, run } = setUp([busy])
    return run(
      Effect.gen(function* () {
        yield* ask()
        expect(one.calls.length).toBe(1)
      })
    )
  })
})

describe("The health of a route", () => {
  it.effect.each([
    ["refuse the content", [fail({ _tag: "ContentPolicy", message: "no" })]],
    ["reject the request", [fail({ _tag: "RequestRejected", message: "no", param: null })]],
    ["find the prompt too long", [fail({ _tag: "ContextLengthExceeded", message: "long" })]]
  ] as const)("a hundred responses that %s leave the ranking as it was", ([, script]) => {
    const { ask, one, run } = setUp([...Array.from({ length: 100 }, () => script), answer("one")], [answer("two")])
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 100; n++) yield* ask("one/m")
        expect((yield* ask()).outcome).toBe("one/m")
        expect(one.calls.length).toBe(101)
      })
    )
  })

  it.effect("a hundred clients that leave do not change the health of a route", () => {
    const { ask, one, run } = setUp(
      [...Array.from({ length: 100 }, (): Script => [hang]), answer("one")],
      [answer("two")]
    )
    return run(
      Effect.gen(function* () {
        const calls = yield* Effect.forEach(Array.from({ length: 100 }), () => Effect.fork(ask("one/m")))
        yield* quiet
        expect(one.running()).toBe(100)
        yield* Fiber.interruptAll(calls)
        expect(one.running()).toBe(0)
        expect((yield* ask()).outcome).toBe("one/m")
      })
    )
  })

  it.effect("a client that leaves between failures does not end their row", () => {
    const { ask, callCounts, run } = setUp([busy, busy, busy, busy, [hang], busy, answer("one")], [answer("two")])
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 4; n++) yield* ask()
        const left = yield* Effect.fork(ask())
        yield* quiet
        yield* Fiber.interrupt(left)
        yield* ask()
        expect((yield* ask()).outcome).toBe("two/m")
        expect(callCounts()).toEqual({ one: 6, two: 6 })
      })
    )
  })

  it.effect("five failures open a circuit, and a single probe closes it after its open period", () => {
    const { ask, callCounts, run, timers } = setUp(
      [...Array.from({ length: 5 }, () => busy), [ScriptedProvider.wait(1_000), ...answer("one")], answer("one")],
      [answer("two")]
    )
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 5; n++) expect((yield* ask()).outcome).toBe("two/m")
        expect((yield* ask()).outcome).toBe("two/m")
        expect(callCounts()).toEqual({ one: 5, two: 6 })
        timers.advance(30_000)
        const outcomes = yield* Effect.all(
          Array.from({ length: 10 }, () => ask()),
          { concurrency: "unbounded" }
        )
        expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual([
          "one/m",
          ...Array.from({ length: 9 }, () => "two/m")
        ])
        expect((yield* ask()).outcome).toBe("one/m")
      })
    )
  })

  it.effect("the last candidate is tried although its circuit is open", () => {
    const { ask, one, run } = setUp([...Array.from({ length: 50 }, () => busy), answer("one")])
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 50; n++) yield* ask()
        expect((yield* ask()).outcome).toBe("one/m")
        expect(one.calls.length).toBe(51)
      })
    )
  })
})
