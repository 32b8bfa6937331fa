import * as Effect from "effect/Effect"

/**
 * Each step over a body of this size takes a millisecond or two, and at the largest size up to a tenth of a second: above
 * it, each step has a turn of the event loop of its own.
 */
export const maxBytesInOneTurn = 256 * 1024

/** Lets everything else that is due run before the next step over a body of `bytes`, if that is a large one. */
export const yieldIfLarge = (bytes: number): Effect.Effect<void> => (bytes > maxBytesInOneTurn ? nextTurn : Effect.void)

/** Not `yieldNow`: what that waits for depends on the scheduler, and Effect's own goes on in the same turn. */
const nextTurn: Effect.Effect<void> = Effect.async((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})
