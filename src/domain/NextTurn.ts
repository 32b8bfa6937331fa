import * as Effect from "effect/Effect"

/** Not `yieldNow`: its effect depends on the scheduler, and Effect's default scheduler continues in the same turn. */
export const nextTurn: Effect.Effect<void> = Effect.async((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})
