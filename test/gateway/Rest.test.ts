import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe } from "vitest"
import { Caller, Gateway } from "../../src/index.ts"
import type { Health } from "../../src/routing/Health.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/calls.ts"
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
      return [outcome, timers.now() - startedAt] as const
    })
  const run = <A, E>(program: Effect.Effect<A, E, Gateway | Caller | MemoryLedger | Health>): Effect.Effect<A, E> =>
    inVirtualTime(timers, program).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(layer))
  return { ...providers, timers, ask, run }
}

describe("when every candidate rests", () => {
  it.effect("the one that is ready soonest is waited for, and called first", () => {
    const { ask, one, run, timers, two } = setUp([limited(9_000), answer("one")], [limited(4_000), answer("two")])
    return run(
      Effect.gen(function* () {
        expect((yield* ask())[0]).toBe("ProvidersFailed")
        timers.advance(1_500)
        expect(yield* ask()).toEqual(["two/m", 2_500])
        expect([one.calls.length, two.calls.length]).toEqual([1, 2])
      })
    )
  })

  it.effect("for longer than three seconds, the best one is tried at once rather than nobody", () => {
    const { ask, one, run, two } = setUp([limited(9_000), answer("one")], [limited(9_000), answer("two")])
    return run(
      Effect.gen(function* () {
        yield* ask()
        expect(yield* ask()).toEqual(["one/m", 0])
        expect([one.calls.length, two.calls.length]).toEqual([2, 1])
      })
    )
  })

  it.effect("a client that leaves while it waits is cancelled, and nobody is called", () => {
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
        expect([call?.state, call?.charged, call?.settlement?.record.status]).toEqual(["cancelled", 0, "cancelled"])
        expect(call?.settlement?.record.attempts).toEqual([])
      })
    )
  })
})

describe("the one retry of a route", () => {
  it.effect("after a 500 comes after up to 400 ms, not always the same", () => {
    const { ask, run } = setUp(Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? failing : answer("one"))))
    return run(
      Effect.gen(function* () {
        const waits: Array<number> = []
        for (let n = 0; n < 3; n++) {
          const [outcome, millis] = yield* ask()
          expect(outcome).toBe("one/m")
          waits.push(millis)
        }
        expect(Math.max(...waits)).toBeLessThanOrEqual(400)
        expect(new Set(waits).size).toBe(3)
      })
    )
  })

  it.effect("of all calls together stays within a fifth of the calls and three", () => {
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

  it.effect("is never made after a 503", () => {
    const { ask, one, run } = setUp([busy])
    return run(
      Effect.gen(function* () {
        yield* ask()
        expect(one.calls.length).toBe(1)
      })
    )
  })
})

describe("health is fair", () => {
  it.effect.each([
    ["refuse the content", [fail({ _tag: "ContentPolicy", message: "no" })]],
    ["reject the request", [fail({ _tag: "RequestRejected", message: "no", param: null })]],
    ["find the prompt too long", [fail({ _tag: "ContextLengthExceeded", message: "long" })]]
  ] as const)("a hundred answers that %s leave the ranking as it was", ([, script]) => {
    const { ask, one, run } = setUp([...Array.from({ length: 100 }, () => script), answer("one")], [answer("two")])
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 100; n++) yield* ask("one/m")
        expect((yield* ask())[0]).toBe("one/m")
        expect(one.calls.length).toBe(101)
      })
    )
  })

  it.effect("a hundred clients that leave change nothing", () => {
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
        expect((yield* ask())[0]).toBe("one/m")
      })
    )
  })

  it.effect("five failures put a route behind, and it is back after its rest by a single trial", () => {
    const { ask, one, run, timers, two } = setUp(
      [...Array.from({ length: 5 }, () => busy), [ScriptedProvider.wait(1_000), ...answer("one")], answer("one")],
      [answer("two")]
    )
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 5; n++) expect((yield* ask())[0]).toBe("two/m")
        expect((yield* ask())[0]).toBe("two/m")
        expect([one.calls.length, two.calls.length]).toEqual([5, 6])
        timers.advance(30_000)
        const outcomes = yield* Effect.all(
          Array.from({ length: 10 }, () => ask()),
          { concurrency: "unbounded" }
        )
        expect(outcomes.map(([model]) => model).sort()).toEqual(["one/m", ...Array.from({ length: 9 }, () => "two/m")])
        expect((yield* ask())[0]).toBe("one/m")
      })
    )
  })

  it.effect("the last candidate is never put out", () => {
    const { ask, one, run } = setUp([...Array.from({ length: 50 }, () => busy), answer("one")])
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 50; n++) yield* ask()
        expect((yield* ask())[0]).toBe("one/m")
        expect(one.calls.length).toBe(51)
      })
    )
  })
})
