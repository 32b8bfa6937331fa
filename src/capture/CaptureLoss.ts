import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import * as CaptureMetrics from "../observe/CaptureMetrics.ts"
import type { SealerFailed } from "./worker/Sealer.ts"

/** What fails is counted as lost. */
export const losing = (
  amount: () => number,
  effect: Effect.Effect<void, StoreUnavailable | SealerFailed>
): Effect.Effect<void> =>
  effect.pipe(
    Effect.catchTags({
      StoreUnavailable: (error) => lost(amount(), "store_unavailable", Cause.fail(error)),
      SealerFailed: (error) => lost(amount(), "sealing_failed", Cause.fail(error))
    }),
    Effect.catchAllCause((cause) => lost(amount(), "sealing_failed", cause))
  )

/** Content may be in the cause of a defect: only its kind is logged. */
const lost = (amount: number, reason: CaptureMetrics.DropReason, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    CaptureMetrics.dropped(reason, amount)
    const kind = Cause.isInterruptedOnly(cause) ? "interrupted" : nameOf(Cause.squash(cause))
    return Effect.annotateLogs(Effect.logWarning("calls were not captured"), { reason, amount, kind })
  })

const nameOf = (error: unknown): string =>
  error instanceof Error ? ("_tag" in error ? String(error._tag) : error.name) : "unknown"
