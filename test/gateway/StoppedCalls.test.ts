import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { CallRunner } from "../../src/gateway/CallRunner.ts"
import { defaultOptions } from "../../src/gateway/GatewayOptions.ts"
import { Catalog, Health, IdGenerator, Policy, Providers, RetryBudget, Timers } from "../../src/index.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { newCallId } from "../ledger/fixtures.ts"
import { request } from "../provider/protocols/calls.ts"
import { booked } from "./scriptedGateway.ts"
import { inVirtualTime } from "./virtualTime.ts"

it.effect("a call that is stopped in the wait before a retry sends no other request, and costs nothing", () => {
  const timers = VirtualTimers.make()
  const provider = ScriptedProvider.make({
    id: "one",
    timers,
    script: ScriptedProvider.inTurn(
      [ScriptedProvider.fail({ _tag: "RateLimited", retryAfterMillis: 2_000 })],
      ScriptedProvider.answer("one")
    )
  })
  const layer = CallRunner.layerWith(defaultOptions).pipe(
    Layer.provide([
      Catalog.layerOf([testModel("one/m", { billsAbortedCalls: true })]),
      Providers.layerOf([provider]),
      Policy.layerOpen,
      Health.layer,
      RetryBudget.layer
    ]),
    Layer.provideMerge(MemoryLedger.layerFunded(1_000_000)),
    Layer.provide(IdGenerator.layer),
    Layer.provide(Layer.succeed(Timers, timers))
  )
  const options = { requestId: newCallId(), endpoint: "chat", clientRequestId: null } as const
  return inVirtualTime(
    timers,
    Effect.gen(function* () {
      const runner = yield* CallRunner
      const startedAtMillis = timers.now()
      const asked = request({ stream: false, model: "one/m" })
      const call = yield* Effect.fork(Effect.flip(runner.complete(TestGateway.testCaller, asked, options, () => {})))
      yield* Effect.async<void>((resume) => void timers.after(1_000, () => resume(Effect.void)))
      yield* runner.stop(options.requestId)
      expect(yield* Fiber.join(call)).toMatchObject({
        _tag: "ProvidersFailed",
        endedBy: { code: "call_stopped" },
        message: "The call was stopped by a user of its project.",
        attempts: [{ error: { code: "provider_rate_limited" } }]
      })
      expect(timers.now() - startedAtMillis).toBe(1_000)
      expect(provider.calls).toHaveLength(1)
      expect(yield* booked).toMatchObject([{ charged: 0, absorbed: 0 }])
    })
  ).pipe(Effect.provide(layer))
})
