import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { TimerQueue } from "../../domain/TimerQueue.ts"
import { maxTimerMillis, neverRun, Timers, type TimersShape } from "../../domain/Timers.ts"

/**
 * A clock that moves only when advanced. Timers due at the same instant run in the order of their creation, so that a scripted
 * run is deterministic.
 */
export interface VirtualTimers extends TimersShape {
  /**
   * Advances time by `millis` and runs all timers that become due, each at its own instant. What is negative, infinite or not a
   * number is a defect.
   */
  readonly advance: (millis: number) => void
  /** Jumps to the next deadline and runs it; false when there is none. */
  readonly next: () => boolean
  /** Runs until no timer is pending; a program that never stops creating timers is a defect after `maxRuns` runs. */
  readonly runAll: (maxRuns?: number) => void
  /** Number of pending timers. */
  readonly pending: () => number
}

/** 2026-01-01T00:00:00Z. */
const epochMillis = 1_767_225_600_000
const defaultMaxRuns = 1_000_000

/** A clock that stands still until it is told to advance. */
export const make = (startMillis: number = epochMillis): VirtualTimers => {
  const queue = new TimerQueue()
  let nowMillis = startMillis

  const next = (untilMillis: number): boolean => {
    const first = queue.first
    if (first === undefined || first.atMillis > untilMillis) return false
    queue.removeFirst()
    nowMillis = Math.max(nowMillis, first.atMillis)
    first.run()
    return true
  }

  return {
    now: () => nowMillis,
    after: (millis, run) => {
      if (millis > maxTimerMillis) return neverRun
      return queue.add(nowMillis + (millis > 0 ? millis : 0), run)
    },
    advance: (millis) => {
      if (!(millis >= 0 && millis < Number.POSITIVE_INFINITY)) {
        throw new Error(`time advances by a finite number of milliseconds, at least 0, not by ${millis}`)
      }
      const untilMillis = nowMillis + millis
      while (next(untilMillis)) {}
      nowMillis = Math.max(nowMillis, untilMillis)
    },
    next: () => next(Number.POSITIVE_INFINITY),
    runAll: (maxRuns = defaultMaxRuns) => {
      for (let runs = 0; next(Number.POSITIVE_INFINITY); runs++) {
        if (runs >= maxRuns) throw new Error(`timers are created without end: ${maxRuns} have run`)
      }
    },
    pending: () => queue.size
  }
}

/**
 * Advances time, deadline by deadline, until the fiber is done. Before each deadline the work that needs no time has some turns of
 * the event loop, and where no timer is pending a hundred more: a fiber that is not done then waits for what no timer brings, which
 * is a defect. Reads of files and sockets take as many turns as they like: they need real timers.
 */
export const runUntilDone = <A, E>(timers: VirtualTimers, fiber: Fiber.RuntimeFiber<A, E>): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let idleTurns = 0; idleTurns < maxIdleTurns; idleTurns += turnsBetween) {
      for (let turn = 0; turn < turnsBetween; turn++) yield* eventLoopTurn
      if (Option.isSome(yield* Fiber.poll(fiber))) return
      if (timers.next()) idleTurns = 0
    }
    return yield* Effect.dieMessage(
      `the fiber waits for what no timer brings: none is pending after ${maxIdleTurns} turns`
    )
  })

const eventLoopTurn: Effect.Effect<void> = Effect.async((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})
/** Enough for the work of one deadline to finish before the next one runs. */
const turnsBetween = 4
const maxIdleTurns = 100

/** Deadlines, and with Effect's Clock also sleeps, retries, drain, caches and heartbeats, by these timers. */
export const layerOf = (timers: TimersShape): Layer.Layer<Timers> => Timers.layerOf(timers)
