import * as Arr from "effect/Array"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

export interface Failed<C, E> {
  readonly candidate: C
  readonly error: E
}

export interface First<A, C, E> {
  readonly value: A
  readonly candidate: C
  /** What failed before, in order. */
  readonly failed: ReadonlyArray<Failed<C, E>>
}

/** Every candidate that could be tried has failed; `failed` has each of them, in order. */
export class Exhausted<C, E> extends Data.TaggedError("Exhausted")<{
  readonly failed: Arr.NonEmptyReadonlyArray<Failed<unknown, unknown>>
}> {
  declare readonly failed: Arr.NonEmptyReadonlyArray<Failed<C, E>>
}

/**
 * The value of the first candidate that succeeds. After each failure `advance` says what is left to try: it may drop
 * candidates, keep them, or put the failed one in front again. Its answers must come to an end. Defects and interruption
 * are never fallen back from.
 */
export const firstOf = <C, A, E, R>(
  candidates: Arr.NonEmptyReadonlyArray<C>,
  run: (candidate: C, rest: ReadonlyArray<C>) => Effect.Effect<A, E, R>,
  advance: (failed: Arr.NonEmptyReadonlyArray<Failed<C, E>>, rest: ReadonlyArray<C>) => ReadonlyArray<C>
): Effect.Effect<First<A, C, E>, Exhausted<C, E>, R> => {
  const attempt = (
    candidate: C,
    rest: ReadonlyArray<C>,
    before: ReadonlyArray<Failed<C, E>>
  ): Effect.Effect<First<A, C, E>, Exhausted<C, E>, R> =>
    Effect.matchEffect(run(candidate, rest), {
      onSuccess: (value) => Effect.succeed({ value, candidate, failed: before }),
      onFailure: (error) => {
        const failed = Arr.append(before, { candidate, error })
        const [next, ...others] = advance(failed, rest)
        return next === undefined ? Effect.fail(new Exhausted<C, E>({ failed })) : attempt(next, others, failed)
      }
    })
  const [first, ...rest] = candidates
  return Effect.suspend(() => attempt(first, rest, []))
}
