import { randomUUID } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { maxWaiting } from "../../src/account/pace/Pace.ts"
import { ReportPace } from "../../src/account/pace/ReportPace.ts"
import { UserId } from "../../src/domain/Ids.ts"

const aPerson = () => UserId.make(randomUUID())

/** Asks for reports of 20 ms without a pause; how many were done. */
const asking = (user: UserId) => {
  const done = { count: 0 }
  const report = Effect.andThen(Effect.sleep("20 millis"), () => {
    done.count += 1
  })
  return Effect.gen(function* () {
    const { run } = yield* ReportPace
    yield* Effect.fork(Effect.forever(run(user, report)))
    return done
  })
}

describe("the pace of reports", () => {
  it.effect("a person who asks without a pause gets some at once, and then 2 % of the time", () =>
    Effect.gen(function* () {
      const done = yield* asking(aPerson())
      yield* TestClock.adjust("10 seconds")
      const burst = done.count
      expect(burst).toBeGreaterThan(30)
      expect(burst).toBeLessThan(60)
      yield* TestClock.adjust("100 seconds")
      // 20 ms and 980 ms of pause
      expect(done.count - burst).toBeGreaterThanOrEqual(99)
      expect(done.count - burst).toBeLessThanOrEqual(102)
      // another person waits for none of it
      const other = yield* asking(aPerson())
      yield* TestClock.adjust("21 millis")
      expect(other.count).toBe(1)
    }).pipe(Effect.provide(ReportPace.layer))
  )

  it.effect("a slow report is paid for after a second", () =>
    Effect.gen(function* () {
      const { run } = yield* ReportPace
      const user = aPerson()
      let count = 0
      const report = Effect.andThen(Effect.sleep("2 seconds"), () => {
        count += 1
      })
      yield* Effect.fork(Effect.forever(run(user, report)))
      yield* TestClock.adjust("300 seconds")
      expect(count).toBeGreaterThan(100)
    }).pipe(Effect.provide(ReportPace.layer))
  )

  it.effect("of many at once the last ones are refused; those that leave make room", () =>
    Effect.gen(function* () {
      const { run } = yield* ReportPace
      const user = aPerson()
      const fibers = yield* Effect.all(Array.from({ length: maxWaiting }, () => Effect.fork(run(user, Effect.never))))
      yield* Effect.yieldNow()
      expect(yield* Effect.flip(run(user, Effect.void))).toMatchObject({ code: "rate_limit_exceeded" })
      expect(yield* run(aPerson(), Effect.succeed(1))).toBe(1)
      yield* Fiber.interruptAll(fibers)
      expect(Either.isRight(yield* Effect.either(run(user, Effect.void)))).toBe(true)
    }).pipe(Effect.provide(ReportPace.layer))
  )
})
