// @effect-diagnostics globalDate:off
// @effect-diagnostics globalTimers:off
// @effect-diagnostics globalTimersInEffect:off
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { TimerQueue } from "./TimerQueue.ts"

/** Takes a timer back; harmless when it has run. */
export type Cancel = () => void

/** Reads the time, and runs callbacks later. */
export interface TimersShape {
  /** Milliseconds since the epoch, with a fraction; never goes back. */
  readonly now: () => number
  /**
   * Runs `run` once after `millis`, unless cancelled before; never after more than 2^31-1, as `Infinity`. Cancelling twice is
   * harmless.
   */
  readonly after: (millis: number, run: () => void) => Cancel
}

/** How far the machine's clock may be from what was measured since the start: beyond that it was set, or the machine slept. */
const maxApartMillis = 1_000
/** Node runs a timer of more at once. As with Effect's Clock, 25 days do not end. */
export const maxTimerMillis = 2 ** 31 - 1
/** Takes a timer back that never runs. */
export const neverRun: Cancel = () => {}
/** A call reads the time twenty times. */
const compareEveryMillis = 1_000

/**
 * Time for code that runs in callbacks: the deadlines of a call, the transport, the scripted providers. Effect's Clock has
 * no callback timer, and `Effect.timeout` costs a fiber: 31 simulated calls a second with TestClock alone, 2,700 with a heap
 * of timers (measured). Timers and Clock move together: `layerOf` sets both from timers, `layerClock` makes timers of the
 * current Clock.
 */
export class Timers extends Context.Tag("gateway/domain/Timers")<Timers, TimersShape>() {
  /** Real time. */
  static readonly layer: Layer.Layer<Timers> = Layer.succeed(this, {
    now: this.nowOf(performance.timeOrigin, { monotonic: () => performance.now(), wall: () => Date.now() }),
    after: (millis, run) => {
      if (millis > maxTimerMillis) return neverRun
      const timer = setTimeout(run, millis)
      return () => clearTimeout(timer)
    }
  })

  /**
   * Monotonic since the start, so that durations are right; but signatures, tokens and dates need the time that others have. A clock
   * that is set forward is followed at once. One that is set back is waited for at half speed, and no time comes twice.
   * @internal
   */
  static nowOf(
    startMillis: number,
    { monotonic, wall }: { readonly monotonic: () => number; readonly wall: () => number }
  ): () => number {
    let originMillis = startMillis
    let comparedAtMillis = 0
    let aheadMillis = 0
    const waitedMillis = (elapsedMillis: number): number =>
      Math.min(aheadMillis, (elapsedMillis - comparedAtMillis) / 2)
    return () => {
      const elapsedMillis = monotonic()
      if (elapsedMillis - comparedAtMillis >= compareEveryMillis) {
        originMillis -= waitedMillis(elapsedMillis)
        comparedAtMillis = elapsedMillis
        const behindMillis = wall() - elapsedMillis - originMillis
        if (behindMillis > maxApartMillis) originMillis += behindMillis
        aheadMillis = behindMillis < -maxApartMillis ? -behindMillis : 0
      }
      return originMillis + elapsedMillis - waitedMillis(elapsedMillis)
    }
  }

  /**
   * These timers, and an Effect Clock on top of them: sleeps and schedules move with the deadlines. Of timers of `ofClock` it is their
   * own Clock, so that a TestClock remains one.
   */
  static readonly layerOf = (timers: TimersShape): Layer.Layer<Timers> =>
    Layer.merge(Layer.succeed(this, timers), Layer.setClock(clocks.get(timers) ?? clockOf(timers)))

  /**
   * Timers on top of the current Effect Clock: a TestClock moves them too. One fiber sleeps until the first is due; those of the same
   * instant run in the order of their creation.
   */
  static readonly ofClock: Effect.Effect<TimersShape> = Effect.map(
    Effect.all([Effect.clock, Effect.runtime<never>()]),
    ([clock, runtime]) => {
      const timers = timersOf(clock, runtime)
      clocks.set(timers, clock)
      return timers
    }
  )

  /** Timers on top of the current Effect Clock, as a Layer: in a test the TestClock moves deadlines, retries and heartbeats. */
  static readonly layerClock: Layer.Layer<Timers> = Layer.effect(this, this.ofClock)
}

/** By the timers that are made on top of them. */
const clocks = new WeakMap<TimersShape, Clock.Clock>()

/** One sleep of the Clock for the timer that is due first: 150 calls under a TestClock take a sixth of the time. */
const timersOf = (clock: Clock.Clock, runtime: Runtime.Runtime<never>): TimersShape => {
  const queue = new TimerQueue()
  const startNanos = clock.unsafeCurrentTimeNanos()
  // not the time of day, which can be set
  const elapsedMillis = (): number => Number(clock.unsafeCurrentTimeNanos() - startNanos) / 1_000_000
  let sleeping: { readonly untilMillis: number; readonly fiber: Fiber.RuntimeFiber<void> } | undefined

  const stopSleeping = (): void => {
    sleeping?.fiber.unsafeInterruptAsFork(sleeping.fiber.id())
    sleeping = undefined
  }

  const runDue = (untilMillis: number): void => {
    sleeping = undefined
    const dueMillis = Math.max(untilMillis, elapsedMillis())
    for (let first = queue.first; first !== undefined && first.atMillis <= dueMillis; first = queue.first) {
      queue.removeFirst()
      // in a fiber: what one throws does not keep the others from running
      Runtime.runFork(runtime, Effect.sync(first.run))
    }
    sleepUntilFirst()
  }

  const sleepUntilFirst = (): void => {
    const untilMillis = queue.first?.atMillis ?? Number.POSITIVE_INFINITY
    if (untilMillis >= (sleeping?.untilMillis ?? Number.POSITIVE_INFINITY)) return
    stopSleeping()
    const slept = Effect.zipRight(
      clock.sleep(Duration.millis(Math.max(0, untilMillis - elapsedMillis()))),
      Effect.sync(() => runDue(untilMillis))
    )
    // not immediate: a callback never runs before `after` has returned;
    // interruptible: the timers may be made where nothing can be interrupted
    const fiber = Runtime.runFork(runtime, Effect.interruptible(slept), { immediate: false })
    sleeping = { untilMillis, fiber }
  }

  return {
    now: () => clock.unsafeCurrentTimeMillis(),
    after: (millis, run) => {
      if (millis > maxTimerMillis) return neverRun
      const remove = queue.add(elapsedMillis() + (millis > 0 ? millis : 0), run)
      sleepUntilFirst()
      return () => {
        remove()
        if (queue.size === 0) stopSleeping()
      }
    }
  }
}

const clockOf = (timers: TimersShape): Clock.Clock => {
  const nanos = (): bigint => BigInt(Math.round(timers.now() * 1_000)) * 1_000n
  return {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => Math.floor(timers.now()),
    unsafeCurrentTimeNanos: nanos,
    currentTimeMillis: Effect.sync(() => Math.floor(timers.now())),
    currentTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.async((resume) => {
        const cancel = timers.after(Duration.toMillis(duration), () => resume(Effect.void))
        return Effect.sync(cancel)
      })
  }
}
