import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { resealWebhooks } from "../account/alerts/ResealWebhooks.ts"
import { resealReports } from "../analysis/job/ResealReports.ts"
import { CaptureKeys } from "../capture/CaptureKeys.ts"
import type * as Settings from "../config/Settings.ts"
import { SealedCredentials } from "../credentials/SealedCredentials.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { Timers } from "../domain/Timers.ts"
import { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import { masterKeyLayer } from "./AccountServices.ts"
import * as ExistingDatabase from "./command/ExistingDatabase.ts"
import * as SealedValues from "./SealedValues.ts"

/** Some sealed values cannot be read any more. */
export class Unreadable extends Data.TaggedError("Unreadable")<{ readonly count: number }> {
  override get message(): string {
    return `${this.count} sealed values open with neither GATEWAY_MASTER_KEY nor GATEWAY_MASTER_KEY_PREVIOUS.`
  }
}

/**
 * Seals everything with the current master key, so that the previous one is no longer needed. Other nodes may run meanwhile;
 * the embedded database can be open in one process only.
 */
export const run = (settings: Settings.Settings) =>
  Effect.gen(function* () {
    yield* ExistingDatabase.required(settings)
    return yield* Effect.provide(resealed, sealing(settings))
  })

const resealed = Effect.gen(function* () {
  const credentials = yield* Effect.flatMap(SealedCredentials, (sealed) => sealed.reseal)
  const webhooks = yield* resealWebhooks
  const capture = yield* Effect.flatMap(CaptureKeys, (keys) => keys.reseal)
  const reports = yield* resealReports
  const unreadable = credentials.unreadable + webhooks.unreadable + capture.unreadable + reports.unreadable
  yield* Console.log(
    `sealed with the current master key: ${credentials.resealed} provider credentials, ${webhooks.resealed} webhook secrets, ${capture.resealed} keys of captured content, ${reports.resealed} reports of analyses`
  )
  if (unreadable > 0) return yield* new Unreadable({ count: unreadable })
})

const sealing = (settings: Settings.Settings) =>
  SealedValues.layer.pipe(
    Layer.provide(masterKeyLayer(settings)),
    Layer.provide(ChangeNotifications.layer),
    Layer.provide(ExistingDatabase.layer(settings)),
    Layer.provide(IdGenerator.layer),
    Layer.provide(Timers.layer)
  )
