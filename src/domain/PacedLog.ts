import * as Effect from "effect/Effect"
import type { TimersShape } from "./Timers.ts"

/** One line in the log in so many milliseconds at most: for what any client can cause at will. */
export const paced = (
  timers: Pick<TimersShape, "now">,
  everyMillis: number
): ((line: Effect.Effect<void>) => Effect.Effect<void>) => {
  let toldMillis = Number.NEGATIVE_INFINITY
  return (line) =>
    Effect.suspend(() => {
      if (timers.now() - toldMillis < everyMillis) return Effect.void
      toldMillis = timers.now()
      return line
    })
}
