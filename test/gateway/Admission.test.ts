import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import {
  Caller,
  Catalog,
  Gateway,
  Health,
  IdGenerator,
  Policy,
  Providers,
  RateLimits,
  RetryBudget,
  RoutingConfigurations,
  Timers
} from "../../src/index.ts"
import { openPolicy } from "../../src/policy/ProjectPolicy.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"
import { inVirtualTime, quiet } from "./virtualTime.ts"

const oneAtATime = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: 1 }
const noConfigurations = Layer.succeed(RoutingConfigurations, { ofProject: () => Effect.succeed([]) })
const noLimit = { ...oneAtATime, concurrentRequests: null }

/** Without other rules of the project, its policy takes a second to be read. */
const setUp = (policy?: Layer.Layer<Policy>, configurations = noConfigurations) => {
  const timers = VirtualTimers.make()
  const provider = ScriptedProvider.make({ id: "one", timers, script: () => ScriptedProvider.answer("hi") })
  const slowPolicy = Layer.succeed(Policy, {
    ofProject: () =>
      Effect.async((resume) => {
        timers.after(1_000, () => resume(Effect.succeed(openPolicy)))
      })
  })
  const layer = Gateway.layer.pipe(
    Layer.provide([
      Catalog.layerOf([testModel("one/m")]),
      Providers.layerOf([provider]),
      policy ?? slowPolicy,
      configurations,
      RateLimits.layerMemory({ key: oneAtATime, project: noLimit }),
      Health.layer,
      RetryBudget.layer
    ]),
    Layer.provideMerge(MemoryLedger.layerFunded(1_000_000)),
    Layer.provide(IdGenerator.layer),
    Layer.provide(Layer.succeed(Timers, timers))
  )
  return { timers, provider, layer }
}

it.effect("a client that leaves during admission releases its place and holds nothing", () => {
  const { layer, provider, timers } = setUp()
  return inVirtualTime(
    timers,
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const complete = Effect.asVoid(gateway.complete(request({ stream: false })))
      for (const leaving of [complete, Effect.orDie(Effect.asVoid(gateway.models))]) {
        const first = yield* Effect.fork(leaving)
        yield* quiet
        yield* Fiber.interrupt(first)
        const answer = yield* gateway.complete(request({ stream: false }))
        expect(answer.answer.text).toBe("hi")
      }
      expect(provider.calls).toHaveLength(2)
      expect((yield* MemoryLedger).calls().map((call) => call.state)).toEqual(expect.not.arrayContaining(["held"]))
    })
  ).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(layer))
})

it.effect("rules that are in memory are not read", () => {
  const { layer, provider, timers } = setUp(
    Layer.succeed(Policy, { ofProject: () => Effect.dieMessage("the policy is in memory"), peek: () => openPolicy }),
    Layer.succeed(RoutingConfigurations, {
      ofProject: () => Effect.dieMessage("the configurations are in memory"),
      peek: () => []
    })
  )
  return inVirtualTime(
    timers,
    Effect.gen(function* () {
      expect((yield* (yield* Gateway).complete(request({ stream: false }))).answer.text).toBe("hi")
      expect(provider.calls).toHaveLength(1)
    })
  ).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(layer))
})
