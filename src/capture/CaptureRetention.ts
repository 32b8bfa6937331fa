import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { dateAt } from "../domain/Dates.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { periodically } from "../domain/Periodic.ts"
import { Timers } from "../domain/Timers.ts"
import { pauseBetweenPortions } from "../sql/Portions.ts"
import type { CaptureStoreShape } from "./CaptureRecords.ts"
import { CaptureStore } from "./CaptureStore.ts"

const interval = Duration.minutes(10)
const perPortion = 500

/** Deletes captured calls that have expired: their keys, so that nothing can be read from that moment on, and then their rows. */
export const layer: Layer.Layer<never, never, CaptureStore | Timers> = Layer.scopedDiscard(
  Effect.flatMap(Effect.all([CaptureStore, Timers]), ([store, timers]) =>
    periodically(
      interval,
      "expired samples could not be deleted",
      Effect.suspend(() => deleteExpired(store, dateAt(timers.now())))
    )
  )
)

/** Portion after portion, until nothing has expired. */
export const deleteExpired = (store: CaptureStoreShape, at: Date): Effect.Effect<void, StoreUnavailable> =>
  Effect.asVoid(
    Effect.repeat(store.deleteExpired(at, perPortion), {
      schedule: Schedule.spaced(pauseBetweenPortions),
      while: (deleted) => deleted > 0
    })
  )
