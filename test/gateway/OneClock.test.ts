import { expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/TestClock"
import { describe } from "vitest"
import { Drain } from "../../src/http/server/Drain.ts"
import { Caller, Gateway, SimpleLayer, Timers } from "../../src/index.ts"
import { ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"
import { quiet } from "./virtualTime.ts"

const { answer, fail, hang } = ScriptedProvider

const ask = Effect.flatMap(Gateway, (gateway) => gateway.complete(request({ stream: false })))

describe("A TestClock", () => {
  const gatewayOf = (
    timers: VirtualTimers.VirtualTimers | Timers["Type"],
    ...scripts: Array<ScriptedProvider.Script>
  ) => {
    const provider = ScriptedProvider.make({ id: "one", timers, script: ScriptedProvider.inTurn(...scripts) })
    return { provider, layer: TestGateway.layer({ models: [testModel("one/m")], providers: [provider] }) }
  }

  it.effect("a TestClock moves the deadlines of a call", () =>
    Effect.gen(function* () {
      const { layer, provider } = gatewayOf(yield* Timers.ofClock, [hang])
      yield* Effect.gen(function* () {
        const asked = yield* Effect.fork(Effect.flip(ask))
        yield* TestClock.adjust("59 seconds")
        expect(provider.running()).toBe(1)
        yield* TestClock.adjust("1 seconds")
        expect(yield* Fiber.join(asked)).toMatchObject({ attempts: [{ error: { code: "provider_timeout" } }] })
      }).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(layer))
    })
  )

  it.effect("a TestClock moves the delay before a retry", () =>
    Effect.gen(function* () {
      const limited = fail({ _tag: "RateLimited", retryAfterMillis: 2_000 })
      const { layer, provider } = gatewayOf(yield* Timers.ofClock, [limited], answer("a"))
      yield* Effect.gen(function* () {
        const asked = yield* Effect.fork(ask)
        yield* TestClock.adjust("1999 millis")
        expect(provider.calls).toHaveLength(1)
        yield* TestClock.adjust("1 millis")
        expect((yield* Fiber.join(asked)).answer.text).toBe("a")
      }).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(layer))
    })
  )
})

describe("Timers beside the Clock", () => {
  it.effect("the delay before a retry is one of the gateway's timers, also where these and the Clock are two", () =>
    Effect.gen(function* () {
      const timers = VirtualTimers.make()
      const limited = fail({ _tag: "RateLimited", retryAfterMillis: 2_000 })
      const provider = ScriptedProvider.make({
        id: "one",
        timers,
        script: ScriptedProvider.inTurn([limited], answer("a"))
      })
      const layer = SimpleLayer({
        providers: [{ provider, models: [testModel("one/m")] }],
        timers: Layer.succeed(Timers, timers)
      })
      yield* Effect.gen(function* () {
        const asked = yield* Effect.fork(ask)
        yield* quiet
        timers.advance(0)
        yield* quiet
        timers.advance(1_999)
        yield* quiet
        expect(provider.calls).toHaveLength(1)
        timers.advance(1)
        yield* quiet
        expect(provider.calls).toHaveLength(2)
        timers.advance(0)
        expect((yield* Fiber.join(asked)).answer.text).toBe("a")
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect("so is the wait for money that running calls hold", () =>
    Effect.gen(function* () {
      const timers = VirtualTimers.make()
      const provider = ScriptedProvider.make({ id: "one", timers, script: () => [hang] })
      const layer = SimpleLayer({
        providers: [{ provider, models: [testModel("one/m")] }],
        timers: Layer.succeed(Timers, timers),
        creditMicroUsd: 600
      })
      yield* Effect.gen(function* () {
        const gateway = yield* Gateway
        const call = gateway.complete(request({ stream: false, maxOutputTokens: 100 }))
        const running = yield* Effect.fork(call)
        yield* quiet
        const waiting = yield* Effect.fork(Effect.flip(call))
        yield* quiet
        expect(provider.calls).toHaveLength(1)
        timers.advance(2_000)
        expect(yield* Fiber.join(waiting)).toMatchObject({ _tag: "InsufficientFunds", reason: "held" })
        yield* Fiber.interrupt(running)
      }).pipe(Effect.provide(layer))
    })
  )
})

describe("Virtual timers", () => {
  const timers = VirtualTimers.make(1_000)

  it.effect("virtual timers move Effect's clock, its sleeps and its schedules", () =>
    Effect.gen(function* () {
      expect(yield* Clock.currentTimeMillis).toBe(1_000)
      const beats: Array<number> = []
      const beat = Effect.map(Clock.currentTimeMillis, (now) => beats.push(now))
      const fiber = yield* Effect.fork(
        Effect.repeat(
          beat,
          Schedule.addDelay(Schedule.recurs(2), () => "10 seconds")
        )
      )
      yield* quiet
      timers.advance(10_000)
      yield* quiet
      expect(beats).toEqual([1_000, 11_000])
      timers.advance(10_000)
      yield* quiet
      yield* Fiber.join(fiber)
      expect(beats).toEqual([1_000, 11_000, 21_000])
    }).pipe(Effect.provide(VirtualTimers.layerOf(timers)))
  )

  it.effect("virtual timers move the grace of a drain", () =>
    Effect.gen(function* () {
      const drain = yield* Drain
      let isAborted = false
      const leave = drain.enter()
      const fiber = yield* Effect.fork(
        drain.drain({
          abort: Effect.sync(() => {
            isAborted = true
            leave()
          }),
          stopListening: Effect.dieMessage("without a delay the port stays open")
        })
      )
      yield* quiet
      timers.advance(29_000)
      yield* quiet
      expect(isAborted).toBe(false)
      timers.advance(1_000)
      yield* quiet
      yield* Fiber.join(fiber)
      expect(isAborted).toBe(true)
    }).pipe(Effect.provide(Drain.layer({ grace: Duration.seconds(30) })), Effect.provide(VirtualTimers.layerOf(timers)))
  )
})
