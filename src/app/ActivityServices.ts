import * as Layer from "effect/Layer"
import { Activity, summingUp } from "../account/activity/Activity.ts"
import { ActivityStore } from "../account/activity/ActivityStore.ts"
import { KeyStatus } from "../account/keys/KeyStatus.ts"
import { KeyStatusStore } from "../account/keys/KeyStatusStore.ts"
import { ReportPace } from "../account/pace/ReportPace.ts"
import { RefusalStore } from "../account/requests/RefusalStore.ts"
import { type DescribedError, Refusals } from "../account/requests/Refusals.ts"
import { RequestLog } from "../account/requests/RequestLog.ts"
import { RequestLogStore } from "../account/requests/RequestLogStore.ts"
import * as Retention from "../account/retention/Retention.ts"
import { RetentionStore } from "../account/retention/RetentionStore.ts"
import type * as Settings from "../config/Settings.ts"
import type { CallFailure } from "../domain/GatewayError.ts"
import * as Errors from "../http/Errors.ts"

/** What is read of calls that have ended, and how long they are kept. */
export const activityServices = ({ rateLimits, retention }: Pick<Settings.Settings, "rateLimits" | "retention">) =>
  Layer.mergeAll(
    Layer.merge(Activity.layer, summingUp).pipe(Layer.provide(ActivityStore.layer())),
    ReportPace.layer,
    KeyStatus.layer(rateLimits.key).pipe(Layer.provide(KeyStatusStore.layer)),
    RequestLog.layer.pipe(Layer.provide(RequestLogStore.layer())),
    Retention.layer(retention.callDays).pipe(Layer.provide(RetentionStore.layer))
  )

/** What a failure looks like to its caller. */
export const describeFailure = (error: CallFailure): DescribedError => {
  const { error: described, status } = Errors.of(error)
  return { status, code: described.code, message: described.message }
}

/** The gateway reports refused requests to it. */
export const refusals = Refusals.layer(describeFailure).pipe(Layer.provideMerge(RefusalStore.layer))
