import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { Caller, Timers } from "model-routing-gateway"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel } from "model-routing-gateway/testing"
import { ask } from "./embedding.ts"

const { answer, fail, wait } = ScriptedProvider

it.effect("a provider that breaks after two seconds is replaced by the next one, and charged once", () =>
  Effect.gen(function* () {
    const timers = yield* Timers.ofClock
    const flaky = ScriptedProvider.make({
      id: "flaky",
      timers,
      script: () => [wait(2_000), fail({ _tag: "ServerError", status: 500 })]
    })
    const steady = ScriptedProvider.make({ id: "steady", timers, script: () => answer("All is well.") })
    const gateway = TestGateway.layer({
      models: [testModel("flaky/large", { quality: 0.9 }), testModel("steady/large", { quality: 0.6 })],
      providers: [flaky, steady]
    })

    yield* Effect.gen(function* () {
      const asked = yield* Effect.fork(ask("How are you?"))
      yield* TestClock.adjust("2 seconds")
      expect(yield* asked).toBe("All is well.")
      const charged = (yield* MemoryLedger).calls().filter((call) => call.charged > 0)
      expect(charged).toHaveLength(1)
    }).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(gateway))
  })
)
