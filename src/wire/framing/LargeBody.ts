import * as Effect from "effect/Effect"

/**
 * Each step over a body of this size takes one to two milliseconds, and at the maximum size up to 100 ms: for larger bodies, each
 * step runs in its own turn of the event loop.
 */
export const maxBytesInOneTurn = 256 * 1024

/** Yields to the event loop before the next step over a large body of `bytes`. */
export const yieldIfLarge = (bytes: number): Effect.Effect<void> => (bytes > maxBytesInOneTurn ? nextTurn : Effect.void)

/** Not `yieldNow`: its effect depends on the scheduler, and Effect's default scheduler continues in the same turn. */
export const nextTurn: Effect.Effect<void> = Effect.async((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})
