import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metrics from "../../observe/Metrics.ts"

export interface DrainShape {
  readonly isDraining: () => boolean
  /** A request is counted until the returned function is called. */
  readonly enter: () => () => void
  /** Ends the grace period: running calls are aborted as soon as draining has begun. */
  readonly force: Effect.Effect<void>
  /** Rejects new calls, waits for running calls during the grace period, then runs `abort` and waits for the calls to end. */
  readonly drain: (abort: Effect.Effect<void>) => Effect.Effect<void>
}

/** Time for aborted calls to write their last frame and to settle. */
const abortMillis = 5_000

/**
 * Tracks running calls for shutdown. Request fibers are not children of the server: without draining, shutdown would release the
 * layers while calls run, and clients would see a regular end of an incomplete response.
 */
export class Drain extends Context.Tag("gateway/http/Drain")<Drain, DrainShape>() {
  static readonly layer = (grace: Duration.Duration): Layer.Layer<Drain> => Layer.effect(this, make(grace))
}

/** Without a Layer, for one set of routes. */
export const make = (grace: Duration.Duration): Effect.Effect<DrainShape> =>
  Effect.gen(function* () {
    let running = 0
    const forced = yield* Deferred.make<void>()
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
      force: Effect.asVoid(Deferred.succeed(forced, undefined)),
      drain: Effect.fnUntraced(function* (abort) {
        draining = true
        yield* apart(Effect.raceFirst(idle, Effect.raceFirst(Deferred.await(forced), Effect.sleep(grace))))
        if (running === 0) return
        yield* abort
        yield* apart(Effect.timeoutOption(idle, abortMillis))
      })
    }
  })

/**
 * Runs an interruptible wait on its own fiber. Draining is a finalizer of an interrupted fiber: there an uninterruptible race waits
 * for its losers, and an interruptible race is interrupted at once.
 */
const apart = <A>(wait: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.flatMap(Effect.forkDaemon(Effect.interruptible(wait)), Fiber.join)
