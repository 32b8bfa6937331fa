import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dateAt } from "../domain/Dates.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { periodically } from "../domain/Periodic.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
import { ContentStore, type ContentStoreShape } from "./ContentStore.ts"
import { undoMillis } from "./Conversations.ts"
import { Objects, type ObjectsShape } from "./Objects.ts"

const every = Duration.minutes(10)
const perPortion = 50
/** An image that is in no message so long after it was uploaded is not needed. */
const unusedMillis = 24 * 3_600_000

export interface ErasureDeps {
  readonly contents: ContentStoreShape
  readonly objects: ObjectsShape
  readonly timers: TimersShape
}

/** Erases deleted conversations, and images that no message has, on whichever node is first. */
export const erasing: Layer.Layer<never, never, ContentStore | Objects | Timers> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const deps = { contents: yield* ContentStore, objects: yield* Objects, timers: yield* Timers }
    yield* periodically(every, "deleted conversations could not be erased", eraseAll(deps))
  })
)

/** Portion after portion, until nothing is left. */
export const eraseAll = ({ contents, objects, timers }: ErasureDeps): Effect.Effect<void, StoreUnavailable> =>
  Effect.gen(function* () {
    const now = timers.now()
    yield* Effect.repeat(contents.erase(dateAt(now - undoMillis), perPortion), { while: (count) => count > 0 })
    const unusedBefore = dateAt(now - unusedMillis)
    // the row last: without it nobody would find an object that is still there
    const remove = (id: string) =>
      Effect.whenEffect(
        Effect.zipRight(objects.remove(id), contents.removeImage(id)),
        contents.withdraw(id, unusedBefore)
      )
    const removed = Effect.tap(contents.unused(unusedBefore, perPortion), (ids) =>
      Effect.forEach(ids, remove, { discard: true })
    )
    yield* Effect.repeat(removed, { while: (ids) => ids.length > 0 })
  })
