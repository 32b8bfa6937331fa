import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { periodically } from "../../domain/Periodic.ts"
import { pauseBetweenPortions } from "../../sql/Portions.ts"
import { RetentionStore, type RetentionStoreShape } from "./RetentionStore.ts"

const interval = Duration.minutes(10)

/**
 * Deletes calls with their attempts and holds once they ended more than `callDays()` ago; with `null` they stay. Sums of hours are deleted
 * in any case; those of days and the journal stay. Any number of nodes may do so; one does at a time.
 */
export const layer = (callDays: () => number | null): Layer.Layer<never, never, RetentionStore> =>
  Layer.scopedDiscard(
    Effect.flatMap(RetentionStore, (store) =>
      periodically(
        interval,
        "old calls could not be deleted",
        Effect.suspend(() => deleteAll(store, callDays()))
      )
    )
  )

/** Portion after portion, until nothing is old enough. */
export const deleteAll = (store: RetentionStoreShape, callDays: number | null): Effect.Effect<void, StoreUnavailable> =>
  Effect.asVoid(
    Effect.repeat(store.deleteOld(callDays), {
      schedule: Schedule.spaced(pauseBetweenPortions),
      while: (deleted) => deleted > 0
    })
  )
