import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CallOptions } from "../../src/gateway/Admission.ts"
import { CallRunner } from "../../src/gateway/CallRunner.ts"
import { defaultOptions } from "../../src/gateway/GatewayOptions.ts"
import { Catalog, Health, IdGenerator, Ledger, Policy, Providers, RetryBudget, Timers } from "../../src/index.ts"
import { ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { newCallId } from "../ledger/fixtures.ts"
import { request } from "../provider/protocols/calls.ts"
import { inVirtualTime } from "./virtualTime.ts"

const caller = TestGateway.testCaller
const options = (): CallOptions => ({
  requestId: newCallId(),
  endpoint: "chat",
  clientRequestId: null,
  keptAnswer: () => ({
    keyId: caller.keyId,
    idempotencyKey: "order 7",
    status: 200,
    contentType: "application/json",
    headers: {},
    sealed: new Uint8Array(),
    keptMillis: 1_000
  })
})

it.effect("a response that is kept waits for the settlements of its own account only", () => {
  const timers = VirtualTimers.make()
  const provider = ScriptedProvider.make({ id: "one", timers, script: () => ScriptedProvider.answer("hi") })
  // something has the rows of another account locked
  const ledger = Layer.effect(
    Ledger,
    Effect.map(Ledger, (memory) => ({
      ...memory,
      flushed: Effect.never,
      flushedOf: (account: string) => (account === caller.accountId ? Effect.void : Effect.never)
    }))
  ).pipe(Layer.provide(Ledger.layerMemory({ creditMicroUsd: 1_000_000 })))
  const layer = CallRunner.layerWith(defaultOptions).pipe(
    Layer.provide([
      Catalog.layerOf([testModel("one/m")]),
      Providers.layerOf([provider]),
      Policy.layerOpen,
      Health.layer,
      RetryBudget.layer,
      ledger
    ]),
    Layer.provide(IdGenerator.layer),
    Layer.provide(Layer.succeed(Timers, timers))
  )
  return inVirtualTime(
    timers,
    Effect.gen(function* () {
      const runner = yield* CallRunner
      const text = yield* runner.complete(caller, request({ stream: false }), options(), ({ answer }) => answer.text)
      expect(text).toBe("hi")
    })
  ).pipe(Effect.provide(layer))
})
