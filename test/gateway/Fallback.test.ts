import { expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/TestClock"
import * as fc from "fast-check"
import { describe } from "vitest"
import * as Fallback from "../../src/gateway/Fallback.ts"

class Broken extends Data.TaggedError("Broken")<{ readonly by: string }> {}

const others = <E, C>(_: E, rest: ReadonlyArray<C>) => Effect.succeed(Fallback.fallBackTo(rest))

describe("firstOf", () => {
  it.effect("firstOf answers with the first success and the failures before it", () =>
    Effect.gen(function* () {
      const first = yield* Fallback.firstOf(
        ["a", "b", "c"],
        (candidate) => (candidate === "b" ? Effect.succeed(2) : Effect.fail(new Broken({ by: candidate }))),
        others
      )
      expect(first.value).toBe(2)
      expect(first.candidate).toBe("b")
      expect(first.failed.map((failed) => [failed.candidate, failed.error.by])).toEqual([["a", "a"]])
    })
  )

  it.effect("firstOf fails with every failure in order when no candidate is left", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Fallback.firstOf(["a", "b"], (candidate) => Effect.fail(new Broken({ by: candidate })), others)
      )
      expect(error.failed.map((failed) => failed.error.by)).toEqual(["a", "b"])
    })
  )

  it.effect("firstOf never falls back from a defect", () =>
    Effect.gen(function* () {
      const tried: Array<string> = []
      const exit = yield* Effect.exit(
        Fallback.firstOf(
          ["a", "b"],
          (candidate): Effect.Effect<number, Broken> => {
            tried.push(candidate)
            return Effect.die("broken invariant")
          },
          others
        )
      )
      expect(Exit.isFailure(exit)).toBe(true)
      expect(tried).toEqual(["a"])
    })
  )

  it.effect("firstOf retries the same candidate after the delay of the decision, then falls back", () =>
    Effect.gen(function* () {
      const tried: Array<readonly [string, number]> = []
      const calledAt: Array<number> = []
      const clock = yield* Effect.clock
      const decide = (
        failed: ReadonlyArray<Fallback.Failed<string, Broken>>,
        rest: ReadonlyArray<string>
      ): Effect.Effect<Fallback.Decision<string>> =>
        Effect.succeed(failed.length === 1 ? { _tag: "Retry", delay: "5 seconds" } : Fallback.fallBackTo(rest))
      const program = Fallback.firstOf(
        ["a", "b"],
        (candidate) => {
          calledAt.push(clock.unsafeCurrentTimeMillis())
          return Effect.flatMap(Clock.currentTimeMillis, (now) => {
            tried.push([candidate, now])
            return Effect.fail(new Broken({ by: candidate }))
          })
        },
        decide
      )
      const fiber = yield* Effect.fork(Effect.flip(program))
      yield* TestClock.adjust("4999 millis")
      expect(tried).toEqual([["a", 0]])
      yield* TestClock.adjust("1 millis")
      const { failed } = yield* Fiber.join(fiber)
      expect(tried).toEqual([
        ["a", 0],
        ["a", 5_000],
        ["b", 5_000]
      ])
      expect(calledAt).toEqual([0, 5_000, 5_000])
      expect(failed.map(({ error }) => error.by)).toEqual(["a", "a", "b"])
    })
  )

  it.effect("firstOf ends at once when the decision is to give up, whatever is left", () =>
    Effect.gen(function* () {
      const { failed } = yield* Effect.flip(
        Fallback.firstOf(
          ["a", "b"],
          (candidate) => Effect.fail(new Broken({ by: candidate })),
          () => Effect.succeed<Fallback.Decision<string>>({ _tag: "GiveUp" })
        )
      )
      expect(failed).toHaveLength(1)
    })
  )

  it.effect("the delay before a retry comes from a schedule, and a schedule that has ended allows no retry", () =>
    Effect.gen(function* () {
      const spaced = yield* Fallback.delayBeforeRetry(Schedule.spaced("3 seconds"), "error")
      expect(Option.map(spaced, Duration.toMillis)).toEqual(Option.some(3_000))
      expect(yield* Fallback.delayBeforeRetry(Schedule.stop, "error")).toEqual(Option.none())
    })
  )

  it("firstOf runs exactly the candidates up to the first that succeeds", () =>
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), (succeeds) => {
        const [first, ...rest] = succeeds.map((_, index) => index)
        if (first === undefined) return
        const tried: Array<number> = []
        const exit = Effect.runSyncExit(
          Fallback.firstOf(
            [first, ...rest],
            (index) => {
              tried.push(index)
              return succeeds[index] === true ? Effect.succeed(index) : Effect.fail(new Broken({ by: String(index) }))
            },
            others
          )
        )
        const expected = succeeds.indexOf(true)
        expect(tried.length).toBe(expected < 0 ? succeeds.length : expected + 1)
        expect(Exit.isSuccess(exit)).toBe(expected >= 0)
      })
    ))

  it("firstOf keeps the exact error channel", () => {
    const program: Effect.Effect<
      Fallback.First<number, string, Broken>,
      Fallback.Exhausted<string, Broken>
    > = Fallback.firstOf(["a"], (): Effect.Effect<number, Broken> => Effect.succeed(1), others)
    expect(Effect.runSync(program).value).toBe(1)
  })
})
