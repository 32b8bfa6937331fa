import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { FirstRun, type PeriodicOptions, periodically } from "../../src/domain/Periodic.ts"

type Ending = "works" | "fails" | "dies" | "is interrupted"

/** Runs that end as listed, the last ending from then on; what they log, and how many there were. */
const watch = (endings: ReadonlyArray<Ending>, options?: PeriodicOptions) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const scope = yield* Scope.make()
    let runs = 0
    const run = Effect.suspend((): Effect.Effect<void, string> => {
      const ending = endings[Math.min(runs++, endings.length - 1)]
      if (ending === "fails") return Effect.fail("away")
      if (ending === "dies") return Effect.die(new Error("a defect"))
      return ending === "is interrupted" ? Effect.interrupt : Effect.void
    })
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      lines.push(`${logLevel.label} ${[message].flat().join(" ")}`)
    })
    yield* periodically("10 seconds", "old rows could not be deleted", run, options).pipe(
      Scope.extend(scope),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
    const runsAfter = (seconds: number) => Effect.map(TestClock.adjust(`${seconds} seconds`), () => runs)
    return { lines, runsAfter, stop: Scope.close(scope, Exit.void) }
  })

const warning = "WARN old rows could not be deleted; the next run tries again"
const info = "INFO old rows could not be deleted: now it works again"

describe("periodic work in the background", () => {
  it.effect("runs at once, with a pause after each run, until its scope ends", () =>
    Effect.gen(function* () {
      const { runsAfter, lines, stop } = yield* watch(["works"])
      expect(yield* runsAfter(0)).toBe(1)
      expect(yield* runsAfter(9)).toBe(1)
      expect(yield* runsAfter(1)).toBe(2)
      expect(yield* runsAfter(30)).toBe(5)
      yield* stop
      expect(yield* runsAfter(100)).toBe(5)
      expect(lines).toEqual([])
    })
  )

  it.effect("waits with its first run for what it is told to wait for", () =>
    Effect.gen(function* () {
      const listening = yield* Deferred.make<void>()
      const { runsAfter, lines } = yield* Effect.provideService(watch(["works"]), FirstRun, Deferred.await(listening))
      expect(yield* runsAfter(30)).toBe(0)
      yield* Deferred.succeed(listening, undefined)
      expect(yield* runsAfter(0)).toBe(1)
      expect(yield* runsAfter(10)).toBe(2)
      expect(lines).toEqual([])
    })
  )

  it.effect.each(["fails", "dies", "is interrupted"] as const)("goes on after a run that %s", (ending) =>
    Effect.gen(function* () {
      const { runsAfter, lines } = yield* watch([ending, "works"])
      expect(yield* runsAfter(20)).toBe(3)
      expect(lines).toEqual([warning, info])
    })
  )

  it.effect("is logged when it begins to fail and when it works again, however often it failed", () =>
    Effect.gen(function* () {
      const { runsAfter, lines } = yield* watch(["works", "fails", "dies", "fails", "works", "works", "fails", "fails"])
      expect(yield* runsAfter(30)).toBe(4)
      expect(lines).toEqual([warning])
      expect(yield* runsAfter(20)).toBe(6)
      expect(lines).toEqual([warning, info])
      expect(yield* runsAfter(50)).toBe(11)
      expect(lines).toEqual([warning, info, warning])
    })
  )

  it.effect("leaves to others what they log, without taking it for a success", () =>
    Effect.gen(function* () {
      const options = { isLoggedElsewhere: (error: unknown) => error === "away" }
      const { runsAfter, lines } = yield* watch(["fails", "dies", "fails", "dies", "works"], options)
      expect(yield* runsAfter(0)).toBe(1)
      expect(lines).toEqual([])
      expect(yield* runsAfter(30)).toBe(4)
      expect(lines).toEqual([warning])
      expect(yield* runsAfter(10)).toBe(5)
      expect(lines).toEqual([warning, info])
    })
  )
})
