import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Scope from "effect/Scope"

/** What a finalizer waits for, for so long at most. That is real time: nobody moves a TestClock while a Layer is closed. */
export const closedWithin =
  (millis: number) =>
  <A, E, R>(closed: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
    closed.pipe(Effect.interruptible, Effect.timeoutOption(millis), inRealTime)

/** As `Effect.scoped`, for finalizers of others, whose bounds are of the Clock. */
export const scopedClosedInRealTime = <A, E, R>(
  use: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Scope.Scope>> =>
  Effect.acquireUseRelease(
    Scope.make(),
    (scope) => Scope.extend(use, scope),
    (scope, exit) => inRealTime(Scope.close(scope, exit))
  )

const inRealTime = Effect.withClock(Clock.make())
