import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe } from "vitest"
import { Timers } from "../../src/domain/Timers.ts"
import { LoadShedding } from "../../src/http/LoadShedding.ts"

/** An event loop whose one timer runs as late as it is told. */
const makeLoop = () => {
  let now = 0
  let waiting: { readonly atMillis: number; readonly run: () => void } | undefined
  return {
    timers: Layer.succeed(Timers, {
      now: () => now,
      after: (millis, run) => {
        waiting = { atMillis: now + millis, run }
        return () => {
          waiting = undefined
        }
      }
    }),
    turn: (lateMillis: number) => {
      if (waiting === undefined) throw new Error("nothing waits")
      now = waiting.atMillis + lateMillis
      waiting.run()
    },
    isIdle: () => waiting === undefined
  }
}

const watched = <A>(use: (loop: ReturnType<typeof makeLoop>, isOverloaded: () => boolean) => A): Effect.Effect<A> => {
  const loop = makeLoop()
  return Effect.map(LoadShedding, ({ isOverloaded }) => use(loop, isOverloaded)).pipe(
    Effect.provide(Layer.provide(LoadShedding.layer, loop.timers))
  )
}

describe("load shedding", () => {
  it.effect("begins when the loop has been late by more than a second for three seconds, and ends with it", () =>
    watched((loop, isOverloaded) => {
      const seen: Array<boolean> = []
      for (const late of [0, 1_001, 1_001, 1_001, 1_001, 0, 1_001]) {
        loop.turn(late)
        seen.push(isOverloaded())
      }
      expect(seen).toEqual([false, false, false, false, true, false, false])
    })
  )

  it.effect("does not begin for one long pause, nor for a loop that is late by less", () =>
    watched((loop, isOverloaded) => {
      for (const late of [60_000, 0, ...Array.from({ length: 100 }, () => 1_000)]) {
        loop.turn(late)
        expect(isOverloaded()).toBe(false)
      }
    })
  )

  it.effect("leaves no timer behind", () =>
    Effect.map(
      watched((loop) => loop),
      (loop) => expect(loop.isIdle()).toBe(true)
    )
  )
})
