import * as Layer from "effect/Layer"
import { Capture } from "../capture/Capture.ts"
import { Captured } from "../capture/Captured.ts"
import { CaptureKeys } from "../capture/CaptureKeys.ts"
import * as CaptureRetention from "../capture/CaptureRetention.ts"
import { CaptureStore } from "../capture/CaptureStore.ts"
import { CaptureWindows } from "../capture/CaptureWindows.ts"
import { CaptureErasure } from "../capture/Erasure.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"

/** What projects collect of calls that opt in: the gateway reports its calls to it, the account API and analyses read from it. */
export const captureServices = Layer.mergeAll(Capture.layer, CaptureErasure.layer, CaptureRetention.layer).pipe(
  Layer.provideMerge(Layer.merge(Captured.layer, CaptureWindows.layer)),
  Layer.provideMerge(CaptureKeys.layer),
  Layer.provideMerge(CaptureStore.layer),
  Layer.provide(AccountTransactions.layer)
)
