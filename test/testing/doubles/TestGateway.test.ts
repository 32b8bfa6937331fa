import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { describe } from "vitest"
import { Caller, Gateway, IdGenerator, Timers } from "../../../src/index.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../../src/testing/index.ts"
import { request } from "../../provider/protocols/calls.ts"

const { answer, fail, wait } = ScriptedProvider

/** Thirty calls, of which some are retried after a random delay, and those of equal candidates are spread at random. */
const scripted = (seed?: number) =>
  Effect.gen(function* () {
    const timers = VirtualTimers.make()
    const breaking = [wait(700), fail({ _tag: "ServerError", status: 500 })]
    const script: ScriptedProvider.ScriptFor = (_, ordinal) => (ordinal % 3 === 0 ? breaking : answer("one ", "two"))
    const providers = ["a", "b"].map((id) => ScriptedProvider.make({ id, timers, script }))
    const models = [testModel("a/m"), testModel("b/m")]
    return yield* Effect.gen(function* () {
      const gateway = yield* Gateway
      const call = Effect.either(gateway.complete(request({ stream: false, model: "auto" })))
      const fiber = yield* Effect.fork(Effect.replicateEffect(call, 30))
      yield* VirtualTimers.runUntilDone(timers, fiber)
      return JSON.stringify([yield* Fiber.join(fiber), (yield* MemoryLedger).calls(), timers.now()])
    }).pipe(
      Effect.provideService(Caller, TestGateway.testCaller),
      Effect.provide(TestGateway.layer({ timers, models, providers, ...(seed !== undefined && { seed }) }))
    )
  })

describe("a scripted test", () => {
  it.effect("has the same results each time, in parallel too, and others with another seed", () =>
    Effect.gen(function* () {
      const first = yield* scripted()
      expect(yield* scripted()).toBe(first)
      expect(yield* Effect.all([scripted(), scripted()], { concurrency: 2 })).toEqual([first, first])
      expect(yield* scripted(2)).not.toBe(first)
    })
  )

  it.effect("has the ids of the IdGenerator that is provided", () =>
    Effect.gen(function* () {
      const uuid = "00000000-0000-7000-8000-00000000abcd"
      const ids = yield* IdGenerator.pipe(
        Effect.provide(TestGateway.layer({ models: [], providers: [] })),
        Effect.provideService(IdGenerator, { uuid: () => uuid })
      )
      expect(ids.uuid()).toBe(uuid)
    })
  )
})

describe("timers of a TestClock, given as an option", () => {
  it.effect("leave the TestClock in place", () =>
    Effect.gen(function* () {
      const timers = yield* Timers.ofClock
      const provider = ScriptedProvider.make({ id: "a", timers, script: () => [wait(1_000), ...answer("done")] })
      yield* Effect.gen(function* () {
        const gateway = yield* Gateway
        const fiber = yield* Effect.fork(gateway.complete(request({ stream: false, model: "a/m" })))
        yield* TestClock.adjust("1 seconds")
        expect((yield* Fiber.join(fiber)).answer.text).toBe("done")
      }).pipe(
        Effect.provideService(Caller, TestGateway.testCaller),
        Effect.provide(TestGateway.layer({ timers, models: [testModel("a/m")], providers: [provider] }))
      )
    })
  )
})
