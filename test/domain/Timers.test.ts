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

  it.effect(
    "run those of the same instant in the order of their creation, an earlier one first, and all though one throws",
    () =>
      Effect.gen(function* () {
        const timers = yield* Timers.ofClock
        const ran: Array<string> = []
        for (const name of ["a", "b", "c"]) timers.after(1_000, () => ran.push(name))
        const cancel = timers.after(1_000, () => ran.push("cancelled"))
        timers.after(500.25, () => {
          ran.push("earlier")
          timers.after(499.75, () => ran.push("d"))
          cancel()
          throw new Error("a callback throws")
        })
        yield* TestClock.adjust("10 seconds")
        expect(ran).toEqual(["earlier", "a", "b", "c", "d"])
        timers.after(1, () => ran.push("afterwards"))
        yield* TestClock.adjust(1)
        expect(ran.at(-1)).toBe("afterwards")
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

  it.effect("leave no sleep behind, which would keep the process running", () =>
    Effect.gen(function* () {
      let sleeping = 0
      const sleep = Effect.async<void>(() => {
        sleeping += 1
        return Effect.sync(() => {
          sleeping -= 1
        })
      })
      const clock: Clock.Clock = Object.assign(Clock.make(), { sleep: () => sleep })
      const timers = yield* Effect.withClock(Effect.uninterruptible(Timers.ofClock), clock)
      const cancel = timers.after(1_000, () => {})
      yield* quiet
      expect(sleeping).toBe(1)
      cancel()
      yield* quiet
      expect(sleeping).toBe(0)
    })
  )
})

describe("timers of code that cannot be interrupted", () => {
  it.effect("can be cancelled as any other", () =>
    Effect.gen(function* () {
      const timers = yield* Effect.uninterruptible(Timers.ofClock)
      let hasRun = false
      const cancel = timers.after(1_000, () => {
        hasRun = true
      })
      yield* quiet
      cancel()
      yield* TestClock.adjust(5_000)
      expect(hasRun).toBe(false)
    })
  )
})

describe("real time", () => {
  it.live("has timers that never end: what is longer than a timer can be is not over at once", () =>
    Effect.gen(function* () {
      const timers = yield* Timers
      let ran = 0
      const cancels = [Number.POSITIVE_INFINITY, 2 ** 31].map((millis) => timers.after(millis, () => ran++))
      yield* Effect.async<void>((resume) => void timers.after(20, () => resume(Effect.void)))
      for (const cancel of cancels) cancel()
      expect(ran).toBe(0)
    }).pipe(Effect.provide(Timers.layer))
  )

  const clocks = () => {
    const at = { monotonic: 0, wall: 1_000_000 }
    const now = Timers.nowOf(at.wall, { monotonic: () => at.monotonic, wall: () => at.wall })
    const pass = (millis: number) => {
      at.monotonic += millis
      at.wall += millis
      return now()
    }
    return { at, now, pass }
  }

  it("follows a clock that is set forward, as after a suspended machine or a start before the time was known", () => {
    const { at, pass } = clocks()
    expect(pass(5_000.5)).toBe(1_005_000.5)
    at.wall += 3_600_000
    expect(pass(1_000)).toBe(4_606_000.5)
    expect(pass(0.25)).toBe(4_606_000.75)
    at.wall += 7_200_000
    expect(pass(2_000)).toBe(11_808_000.75)
  })

  it("never goes back, and is as even as the monotonic clock where the other is only corrected a little", () => {
    const { at, now, pass } = clocks()
    at.wall += 900
    expect(pass(2_000)).toBe(1_002_000)
    at.wall -= 3_600_000
    expect(pass(2_000)).toBe(1_004_000)
    expect(now()).toBe(1_004_000)
  })

  it("waits at half speed for a clock that is set back", () => {
    const { at, now, pass } = clocks()
    at.wall -= 600_000
    expect(pass(1_000)).toBe(1_001_000)
    expect(pass(300)).toBe(1_001_150)
    let last = now()
    for (let passed = 0; passed < 1_200_000; passed += 700) {
      const next = pass(700)
      expect(next - last).toBeGreaterThanOrEqual(350)
      expect(next - last).toBeLessThanOrEqual(700)
      last = next
    }
    expect(Math.abs(last - at.wall)).toBeLessThanOrEqual(1_000)
    expect(pass(5_000)).toBe(last + 5_000)
    at.wall += 3_600_000
    expect(pass(1_000)).toBe(at.wall)
  })
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
