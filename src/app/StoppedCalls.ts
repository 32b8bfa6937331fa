import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { RequestId } from "../domain/Ids.ts"
import { CallRunner } from "../gateway/CallRunner.ts"
import { ChangeNotifications } from "../sql/ChangeNotifications.ts"

/** Ends calls of this node that a person stops, at whichever node. A node that hears nothing lets them run to their end. */
export const stoppedCalls: Layer.Layer<never, never, CallRunner | ChangeNotifications> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const runner = yield* CallRunner
    const changes = yield* ChangeNotifications
    const runtime = yield* Effect.runtime<never>()
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        changes.onChange((change) => {
          if (change?.kind === "call") Runtime.runSync(runtime)(runner.stop(RequestId.make(change.id)))
        })
      ),
      (cancel) => Effect.sync(cancel)
    )
  })
)
