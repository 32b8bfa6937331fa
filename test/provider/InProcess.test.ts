import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Catalog } from "../../src/catalog/Catalog.ts"
import { Caller } from "../../src/domain/Caller.ts"
import type { InvalidConfiguration } from "../../src/domain/InvalidConfiguration.ts"
import {
  finishEvent,
  Gateway,
  IdGenerator,
  Ledger,
  makeModel,
  makeProvider,
  Policy,
  ProviderLayer,
  Providers,
  Timers,
  textEvent,
  usageEvent
} from "../../src/index.ts"
import { testCaller } from "../../src/testing/doubles/TestGateway.ts"
import { recordingTracer } from "../gateway/recordingTracer.ts"
import { call, open, request } from "./protocols/calls.ts"

class Greeting extends Context.Tag("test/Greeting")<Greeting, string>() {}
class Offline extends Error {
  override readonly name = "Offline"
}

const limits = { contextTokens: 8_192, outputTokens: 1_024, prices: { input: 0, output: 0 } }
const say = (text: string) =>
  Stream.make(textEvent(text), finishEvent(), usageEvent({ inputTokens: 3, outputTokens: 2 }))

const greeter = {
  provider: Effect.flatMap(Greeting, (greeting) =>
    makeProvider("greeter", () => Stream.withSpan(say(greeting), "greeter.look-up"))
  ),
  models: [makeModel({ id: "greeter/small", ...limits, quality: 0.2 })]
}
const offline = {
  provider: makeProvider("offline", () => Stream.fail(new Offline("no connection, token 1234"))),
  models: [makeModel({ id: "offline/large", ...limits, quality: 0.9 })]
}

const gatewayOf = <R>(
  providers: Layer.Layer<Layer.Layer.Success<ReturnType<typeof ProviderLayer>>, InvalidConfiguration, Timers | R>
) =>
  Gateway.layer.pipe(
    Layer.provideMerge(providers),
    Layer.provide([Policy.layerOpen, Ledger.layerMemory({ creditMicroUsd: 1_000_000 })]),
    Layer.provideMerge(IdGenerator.layer),
    Layer.provideMerge(Timers.layer)
  )
const complete = Effect.flatMap(Gateway, (gateway) => gateway.complete(request({ stream: false })))

it.effect("providers of the application answer beside the simulated ones, and fall back with their cause kept", () =>
  Effect.gen(function* () {
    const layer = gatewayOf(ProviderLayer({ simulated: true, providers: [greeter, offline] }))
    const { spans, tracer } = recordingTracer()
    const answered = Effect.gen(function* () {
      const models = (yield* Catalog).snapshot().models.map(({ id }) => id)
      expect(models).toEqual(expect.arrayContaining(["greeter/small", "offline/large", "sim/fast"]))
      return yield* Effect.withTracer(
        Effect.flatMap(Gateway, (gateway) =>
          gateway.complete(
            request({
              stream: false,
              routing: { ...request().routing, providers: { allow: ["greeter", "offline"], deny: [] }, alpha: 1 }
            })
          )
        ),
        tracer
      )
    }).pipe(
      Effect.provide(layer),
      Effect.provideService(Caller, testCaller),
      Effect.provideService(Greeting, "Good day.")
    )
    const { answer, metadata } = yield* answered
    expect(answer.text).toBe("Good day.")
    expect(metadata.attempts.map(({ error, model }) => [model, error?.message ?? null])).toEqual([
      ["offline/large", "The provider failed."],
      ["greeter/small", null]
    ])
    expect(spans.map(({ name, parent }) => `${parent} > ${name}`)).toContain("chat small > greeter.look-up")
  })
)

it.effect("what one's own provider fails with is told to nobody but the application", () =>
  Effect.gen(function* () {
    const layer = gatewayOf(ProviderLayer({ providers: [offline] }))
    const exit = yield* complete.pipe(Effect.provide(layer), Effect.provideService(Caller, testCaller), Effect.exit)
    const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
    expect(error?._tag).toBe("ProvidersFailed")
    expect(error?.message).toBe("offline/large: The provider failed.")
    expect(JSON.stringify(error)).not.toContain("1234")
  })
)

it.live("a provider's stream is finalized before the Layer of what it needs is released", () =>
  Effect.gen(function* () {
    const order: Array<string> = []
    const note = (what: string) => Effect.sync(() => order.push(what))
    const needed = Layer.scoped(
      Greeting,
      Effect.acquireRelease(Effect.succeed("Good day."), () => note("released"))
    )
    const slow = {
      provider: makeProvider("greeter", () =>
        Stream.unwrap(
          Effect.map(Greeting, (greeting) => Stream.concat(Stream.make(textEvent(greeting)), Stream.never))
        ).pipe(Stream.ensuring(Effect.zipRight(Effect.sleep("50 millis"), note("finalized"))))
      ),
      models: greeter.models
    }
    const firstEvent = Effect.flatMap(Gateway, (gateway) =>
      Effect.flatMap(gateway.stream(request()), ({ events }) => Stream.runCollect(Stream.take(events, 1)))
    )
    const layer = gatewayOf(ProviderLayer({ providers: [slow] })).pipe(Layer.provide(needed))
    yield* Effect.scoped(firstEvent).pipe(Effect.provide(layer), Effect.provideService(Caller, testCaller))
    expect(order).toEqual(["finalized", "released"])
  })
)

it.live("a call of a provider that was made uninterruptibly is closed like any other", () =>
  Effect.gen(function* () {
    const finalized = yield* Deferred.make<void>()
    const said = Stream.concat(Stream.make(textEvent("Good day.")), Stream.never)
    const provider = yield* Effect.uninterruptible(
      makeProvider("greeter", () => Stream.ensuring(said, Deferred.succeed(finalized, undefined)))
    )
    const { recorder, upstream } = open(provider, call())
    yield* Effect.promise(() => recorder.until(({ text }) => text !== ""))
    upstream.close()
    yield* Effect.timeout(Deferred.await(finalized), "2 seconds")
  })
)

it.live("providers are closed side by side: running calls end, and one that cannot be closed holds up no other", () =>
  Effect.gen(function* () {
    const order: Array<string> = []
    const ended = Effect.zipRight(
      Effect.sleep("20 millis"),
      Effect.sync(() => order.push("finalized"))
    )
    const provider = yield* makeProvider("greeter", () => Stream.ensuring(Stream.never, ended))
    const failing = { ...provider, id: "failing", close: Effect.dieMessage("a bug") }
    const recorders = [1, 2].map(() => open(provider, call()).recorder)
    yield* Effect.provide(Effect.sleep("1 millis"), Providers.layerOf([failing, provider]))
    expect(order).toEqual(["finalized", "finalized"])
    expect(recorders.map(({ outcome }) => outcome)).toEqual(["Failed", "Failed"])
  })
)

it.scoped("two providers with one id, and a model of another provider, are refused when the Layer is built", () =>
  Effect.gen(function* () {
    const foreign = { ...offline, models: greeter.models }
    const layer = ProviderLayer({ providers: [offline, offline, foreign] })
    const { message } = yield* Effect.flip(Layer.build(Layer.provide(layer, Timers.layer)))
    expect(message.split("\n")).toEqual([
      "providers[1].provider.id: is the id of another provider",
      "providers[2].provider.id: is the id of another provider",
      "providers[2].models[0].providerId: must be the id of its provider"
    ])
  })
)

it.scoped("two models with one id are refused when the Layer is built", () =>
  Effect.gen(function* () {
    const model = makeModel({ id: "offline/small", ...limits })
    const layer = ProviderLayer({ providers: [{ ...offline, models: [model, { ...model, outputTokens: 10 }] }] })
    const { issues } = yield* Effect.flip(Layer.build(Layer.provide(layer, Timers.layer)))
    expect(issues).toEqual([{ path: "providers[0].models[1].id", message: "is given twice" }])
  })
)

it("a model without a provider or with broken limits is refused", () => {
  expect(() => makeModel({ id: "small", ...limits })).toThrow("is not <provider>/<model>")
  expect(() => makeModel({ id: "mine/small", ...limits, contextTokens: 0.5 })).toThrow("contextTokens")
  expect(() => makeModel({ id: "mine/small", ...limits, outputTokens: 0 })).toThrow("outputTokens")
  expect(() => makeModel({ id: "mine/small", ...limits, prices: { input: -1, output: 0 } })).toThrow("input")
})
