import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

const collectors = new Set<() => void>()

/** Called before every scrape, for gauges of what is not told as it changes. */
export const collecting = (collect: () => void): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      collectors.add(collect)
    }),
    () => Effect.sync(() => collectors.delete(collect))
  )

export const collectAll = (): void => {
  for (const collect of collectors) collect()
}
