import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as Intervals from "effect/ScheduleIntervals"

/** A candidate with the error that it failed with. */
export interface Failed<C, E> {
  /** What was tried. */
  readonly candidate: C
  /** What it failed with. */
  readonly error: E
}

/** The value of the first candidate that succeeded. */
export interface First<A, C, E> {
  /** What it succeeded with. */
  readonly value: A
  /** Which one it was. */
  readonly candidate: C
  /** The failures before it, in order. */
  readonly failed: ReadonlyArray<Failed<C, E>>
}

/** The next step after a failure. */
export type Decision<C> =
  /** The same candidate again, after the delay. */
  | { readonly _tag: "Retry"; readonly delay: Duration.DurationInput }
  /** The first of these candidates, the others after it. */
  | { readonly _tag: "FallBack"; readonly to: Arr.NonEmptyReadonlyArray<C> }
  | { readonly _tag: "GiveUp" }

/** Falls back to the first of `candidates`, or gives up when there is none. */
export const fallBackTo = <C>(candidates: ReadonlyArray<C>): Decision<C> =>
  Arr.isNonEmptyReadonlyArray(candidates) ? { _tag: "FallBack", to: candidates } : { _tag: "GiveUp" }

/** Every candidate that could be tried has failed; `failed` has each failure in order. */
export class Exhausted<C, E> extends Data.TaggedError("Exhausted")<{
  readonly failed: Arr.NonEmptyReadonlyArray<Failed<unknown, unknown>>
}> {
  // `Data.TaggedError` cannot carry type parameters into its fields; only `firstOf` makes one
  /** Each failure, in order. */
  declare readonly failed: Arr.NonEmptyReadonlyArray<Failed<C, E>>

  override get message(): string {
    const errors = this.failed.map(({ error }) => (error instanceof Error ? error.message : String(error)))
    return `Every attempt has failed (${this.failed.length}): ${errors.join(" ")}`
  }
}

/**
 * The value of the first candidate that succeeds. After each failure `decide` says what follows: `Retry`, `FallBack` or
 * `GiveUp`; its decisions must come to an end. Defects and interruption are never fallen back from. Effect's ExecutionPlan
 * does not fit: there the later steps are fixed, here an error filters them and the ledger's hold is extended between them.
 * A retry waits by `wait`, which may end early.
 *
 * @example
 * const first = firstOf(
 *   ["a", "b"],
 *   (candidate) => (candidate === "a" ? Effect.fail("a is away") : Effect.succeed(candidate)),
 *   (_, rest) => Effect.succeed(fallBackTo(rest))
 * )
 * await Effect.runPromise(first)
 */
export const firstOf = <C, A, E, R, R2 = never>(
  candidates: Arr.NonEmptyReadonlyArray<C>,
  run: (candidate: C, rest: ReadonlyArray<C>) => Effect.Effect<A, E, R>,
  decide: (
    failed: Arr.NonEmptyReadonlyArray<Failed<C, E>>,
    rest: ReadonlyArray<C>
  ) => Effect.Effect<Decision<C>, never, R2>,
  wait: (delay: Duration.DurationInput) => Effect.Effect<void> = Effect.sleep
): Effect.Effect<First<A, C, E>, Exhausted<C, E>, R | R2> => {
  const attempt = (
    left: Arr.NonEmptyReadonlyArray<C>,
    before: ReadonlyArray<Failed<C, E>>
  ): Effect.Effect<First<A, C, E>, Exhausted<C, E>, R | R2> => {
    const candidate = left[0]
    const rest = left.slice(1)
    return Effect.matchEffect(run(candidate, rest), {
      onSuccess: (value) => Effect.succeed({ value, candidate, failed: before }),
      onFailure: (error) => {
        const failed = Arr.append(before, { candidate, error })
        return Effect.flatMap(decide(failed, rest), (decision) => {
          switch (decision._tag) {
            case "Retry":
              return Effect.flatMap(wait(decision.delay), () => attempt(left, failed))
            case "FallBack":
              return attempt(decision.to, failed)
            case "GiveUp":
              return Effect.fail(new Exhausted<C, E>({ failed }))
          }
        })
      }
    })
  }
  return Effect.suspend(() => attempt(candidates, []))
}

/** The delay that a schedule puts before the first retry after this error; none when the schedule allows no retry. */
export const delayBeforeRetry = <Out, In, R>(
  schedule: Schedule.Schedule<Out, In, R>,
  error: In
): Effect.Effect<Option.Option<Duration.Duration>, never, R> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.map(schedule.step(now, error, schedule.initial), ([, , decision]) =>
      ScheduleDecision.isContinue(decision)
        ? Option.some(Duration.millis(Math.max(0, Intervals.start(decision.intervals) - now)))
        : Option.none()
    )
  )
