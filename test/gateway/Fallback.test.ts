import { expect, it } from "@effect/vitest"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "fast-check"
import { describe } from "vitest"
import * as Fallback from "../../src/gateway/Fallback.ts"

class Broken extends Data.TaggedError("Broken")<{ readonly by: string }> {}

const others = <E>(_: E, rest: ReadonlyArray<string>): ReadonlyArray<string> => rest

describe("firstOf", () => {
  it.effect("answers with the first success and says what failed before", () =>
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

  it.effect("fails with every failure in order when none is left", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Fallback.firstOf(["a", "b"], (candidate) => Effect.fail(new Broken({ by: candidate })), others)
      )
      expect(error.failed.map((failed) => failed.error.by)).toEqual(["a", "b"])
    })
  )

  it.effect("never falls back from a defect", () =>
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

  it.effect("tries again what advance puts in front", () =>
    Effect.gen(function* () {
      const tried: Array<string> = []
      yield* Effect.flip(
        Fallback.firstOf(
          ["a", "b"],
          (candidate) => {
            tried.push(candidate)
            return Effect.fail(new Broken({ by: candidate }))
          },
          (failed, rest) => (failed.length === 1 ? ["a", ...rest] : rest)
        )
      )
      expect(tried).toEqual(["a", "a", "b"])
    })
  )

  it("runs exactly the candidates up to the first that succeeds", () =>
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
            (_, left) => left
          )
        )
        const expected = succeeds.indexOf(true)
        expect(tried.length).toBe(expected < 0 ? succeeds.length : expected + 1)
        expect(Exit.isSuccess(exit)).toBe(expected >= 0)
      })
    ))

  it("keeps the exact error channel", () => {
    const program: Effect.Effect<
      Fallback.First<number, string, Broken>,
      Fallback.Exhausted<string, Broken>
    > = Fallback.firstOf(["a"], (): Effect.Effect<number, Broken> => Effect.succeed(1), others)
    expect(Effect.runSync(program).value).toBe(1)
  })
})
