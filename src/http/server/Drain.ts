import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metrics from "../../observe/Metrics.ts"

export interface DrainShape {
  /** The node is not ready: balancers are to send nothing more. */
  readonly isLeaving: () => boolean
  /** A response ends its connection. */
  readonly closesConnections: () => boolean
  /** New calls are rejected. */
  readonly isDraining: () => boolean
  /** A request is counted until the returned function is called. */
  readonly enter: () => () => void
  /** Ends delay and grace period: running calls are aborted as soon as draining has begun. */
  readonly force: Effect.Effect<void>
  /** Waits for running calls during the grace period, then runs `abort` and waits for the calls to end. */
  readonly drain: (options: DrainSteps) => Effect.Effect<void>
}

export interface DrainSteps {
  readonly abort: Effect.Effect<void>
  /** Run after a delay: connections that are open stay so. */
  readonly stopListening: Effect.Effect<void>
}

export interface DrainOptions {
  readonly grace: Duration.Duration
  /**
   * How long everything is still served while the node says that it is not ready. Then the port is closed, so that a balancer
   * that has not noticed is refused the connection and takes another node, and what still comes on open connections is served
   * as the last of its connection. Without a delay the port stays open, and new calls are answered with 503.
   */
  readonly delay?: Duration.Duration
}

/** How long after the port is closed a request may come on a connection that was accepted before. */
const lastRequestMillis = 500

/** Time for aborted calls to write their last frame and to settle. */
const abortMillis = 5_000

/**
 * Tracks running calls for shutdown. Request fibers are not children of the server: without draining, shutdown would release the
 * layers while calls run, and clients would see a regular end of an incomplete response.
 */
export class Drain extends Context.Tag("gateway/http/Drain")<Drain, DrainShape>() {
  static readonly layer = (options: DrainOptions): Layer.Layer<Drain> => Layer.effect(this, make(options))
}

/** Without a Layer, for one set of routes. */
export const make = ({ delay = Duration.zero, grace }: DrainOptions): Effect.Effect<DrainShape> =>
  Effect.gen(function* () {
    let running = 0
    const forced = yield* Deferred.make<void>()
    let phase: "serving" | "leaving" | "closing" | "rejecting" = "serving"
    let whenIdle: (() => void) | undefined

    const idle = Effect.async<void>((resume) => {
      if (running === 0) return resume(Effect.void)
      whenIdle = () => resume(Effect.void)
      return Effect.sync(() => {
        whenIdle = undefined
      })
    })
    const unlessForced = (wait: Effect.Effect<void>) => Effect.raceFirst(wait, Deferred.await(forced))
    const leave = Effect.fnUntraced(function* (stopListening: Effect.Effect<void>) {
      phase = "leaving"
      yield* log("leaving: not ready, and still serving", { running, delaySeconds: Duration.toSeconds(delay) })
      yield* apart(unlessForced(Effect.sleep(delay)))
      phase = "closing"
      yield* stopListening
      // the requests of connections that were just accepted are on their way
      yield* apart(unlessForced(Effect.sleep(lastRequestMillis)))
    })
    return {
      isLeaving: () => phase !== "serving",
      closesConnections: () => phase === "closing" || phase === "rejecting",
      isDraining: () => phase === "rejecting",
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
      drain: Effect.fnUntraced(function* ({ abort, stopListening }) {
        if (Duration.greaterThan(delay, Duration.zero)) yield* leave(stopListening)
        else phase = "rejecting"
        const [waited, left] = yield* Effect.timed(
          Effect.gen(function* () {
            yield* log("draining: running calls may end", { running, graceSeconds: Duration.toSeconds(grace) })
            yield* apart(Effect.raceFirst(idle, unlessForced(Effect.sleep(grace))))
            const left = running
            if (left === 0) return left
            phase = "rejecting"
            yield* abort
            yield* apart(Effect.timeoutOption(idle, abortMillis))
            return left
          })
        )
        yield* log("drained", { aborted: left, millis: Math.round(Duration.toMillis(waited)) })
      })
    }
  })

const log = (message: string, fields: Readonly<Record<string, number>>): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logInfo(message), fields)

/**
 * Runs an interruptible wait on its own fiber. Draining is a finalizer of an interrupted fiber: there an uninterruptible race waits
 * for its losers, and an interruptible race is interrupted at once.
 */
const apart = <A>(wait: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.flatMap(Effect.forkDaemon(Effect.interruptible(wait)), Fiber.join)
