import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metrics from "../observe/Metrics.ts"

export interface DrainShape {
  readonly isDraining: () => boolean
  /** A request is counted until the returned function is called. */
  readonly enter: () => () => void
  /** Do not wait any longer: running calls are aborted as soon as draining has begun. */
  readonly hurry: Effect.Effect<void>
  /** Refuses new calls, waits for the running ones as long as the grace allows, then runs `abort` and waits for its effect. */
  readonly drain: (abort: Effect.Effect<void>) => Effect.Effect<void>
}

/** How long aborted calls get to write their last frame and to settle. */
const abortMillis = 5_000

/**
 * Running calls and their end. Request fibers are not children of the server, so that without this a shutdown would tear
 * the layers down under them and their clients would see a clean end of half an answer.
 */
export class Drain extends Context.Tag("gateway/http/Drain")<Drain, DrainShape>() {
  static readonly layer = (grace: Duration.Duration): Layer.Layer<Drain> => Layer.effect(this, make(grace))
}

const make = (grace: Duration.Duration): Effect.Effect<DrainShape> =>
  Effect.gen(function* () {
    let running = 0
    const hurried = yield* Deferred.make<void>()
    let draining = false
    let whenIdle: (() => void) | undefined

    const idle = Effect.async<void>((resume) => {
      if (running === 0) return resume(Effect.void)
      whenIdle = () => resume(Effect.void)
      return Effect.sync(() => {
        whenIdle = undefined
      })
    })
    return {
      isDraining: () => draining,
      enter: () => {
        running += 1
        Metrics.callsInFlight(running)
        return () => {
          running -= 1
          Metrics.callsInFlight(running)
          if (running === 0) whenIdle?.()
        }
      },
      hurry: Effect.asVoid(Deferred.succeed(hurried, undefined)),
      drain: Effect.fnUntraced(function* (abort) {
        draining = true
        yield* apart(Effect.raceFirst(idle, Effect.raceFirst(Deferred.await(hurried), Effect.sleep(grace))))
        if (running === 0) return
        yield* abort
        yield* apart(Effect.timeoutOption(idle, abortMillis))
      })
    }
  })

/**
 * A wait that can be given up, on a fiber of its own. Draining is a finalizer of a fiber that a signal has interrupted: there
 * an uninterruptible race waits for its losers, and an interruptible one is over before it has begun.
 */
const apart = <A>(wait: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.flatMap(Effect.forkDaemon(Effect.interruptible(wait)), Fiber.join)
