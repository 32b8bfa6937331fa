import * as Effect from "effect/Effect"
import { Caller, Timers } from "model-routing-gateway"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "model-routing-gateway/testing"
import { ask } from "./embedding.ts"

const { answer, fail, make, wait } = ScriptedProvider

/** The first provider breaks after two seconds, the second answers: one answer, one charge, and no second spent waiting. */
export const program = Effect.gen(function* () {
  const timers = VirtualTimers.make()
  const flaky = make({ id: "flaky", timers, script: () => [wait(2_000), fail({ _tag: "ServerError", status: 500 })] })
  const steady = make({ id: "steady", timers, script: () => answer("All ", "is ", "well.") })
  const layer = TestGateway.layer({
    timers,
    models: [testModel("flaky/large", { quality: 0.9 }), testModel("steady/large", { quality: 0.6 })],
    providers: [flaky, steady]
  })

  return yield* Effect.gen(function* () {
    const asked = yield* Effect.fork(ask("How are you?"))
    yield* VirtualTimers.runUntilDone(timers, asked)
    const text = yield* asked
    const ledger = yield* MemoryLedger
    const now = (yield* Timers).now()
    return {
      text,
      charges: ledger.calls().filter((call) => call.charged > 0).length,
      flakyCalls: flaky.calls.length,
      now
    }
  }).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(layer))
})
