import { expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { describe } from "vitest"
import { Timers } from "../../src/index.ts"
import { VirtualTimers } from "../../src/testing/index.ts"
import { quiet } from "../gateway/virtualTime.ts"

describe("timers on top of the current Clock", () => {
  it.effect("run a callback once its time has come, and never before `after` has returned", () =>
    Effect.gen(function* () {
      const timers = yield* Timers.ofClock
      const ran: Array<string> = []
      timers.after(0, () => ran.push("due at once"))
      timers.after(1_000, () => ran.push("due later"))
      expect(ran).toEqual([])
      yield* quiet
      expect(ran).toEqual(["due at once"])
      yield* TestClock.adjust(999)
      expect(ran).toEqual(["due at once"])
      yield* TestClock.adjust(1)
      expect(ran).toEqual(["due at once", "due later"])
    })
  )

  it.effect("never run a callback that was cancelled, however often", () =>
    Effect.gen(function* () {
      const timers = yield* Timers.ofClock
      let hasRun = false
      const cancel = timers.after(1_000, () => {
        hasRun = true
      })
      cancel()
      cancel()
      yield* TestClock.adjust(5_000)
      expect(hasRun).toBe(false)
    })
  )
})

describe("the Clock on top of timers", () => {
  const timers = VirtualTimers.make(1_000.25)

  it.effect("shows the same time, in whole milliseconds and in nanoseconds", () =>
    Effect.gen(function* () {
      expect(yield* Clock.currentTimeMillis).toBe(1_000)
      expect(yield* Clock.currentTimeNanos).toBe(1_000_250_000n)
    }).pipe(Effect.provide(Timers.layerOf(timers)))
  )

  it.effect("leaves no timer behind when a sleep is interrupted", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(Clock.sleep("10 seconds"))
      yield* quiet
      expect(timers.pending()).toBe(1)
      yield* Fiber.interrupt(fiber)
      expect(timers.pending()).toBe(0)
    }).pipe(Effect.provide(Timers.layerOf(timers)))
  )
})
