import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AlertStore } from "../account/alerts/AlertStore.ts"
import { WebhookSecrets } from "../account/alerts/WebhookSecrets.ts"
import { AnalysisStore } from "../analysis/job/AnalysisStore.ts"
import { ReportSeal } from "../analysis/job/ReportSeal.ts"
import { CaptureKeys } from "../capture/CaptureKeys.ts"
import { CaptureStore } from "../capture/CaptureStore.ts"
import type * as Settings from "../config/Settings.ts"
import { CredentialStore } from "../credentials/CredentialStore.ts"
import * as MasterKey from "../credentials/MasterKey.ts"
import { SealedCredentials } from "../credentials/SealedCredentials.ts"
import type { SealingUnavailable } from "../domain/AccountError.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import { Timers } from "../domain/Timers.ts"
import { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import { reasonOf } from "../sql/DatabaseError.ts"
import * as DirectoryLock from "../sql/embedded/DirectoryLock.ts"
import * as Embedded from "../sql/embedded/Embedded.ts"
import * as ExistingDatabase from "./command/ExistingDatabase.ts"

type SealingSettings = Pick<Settings.Settings, "databaseUrl" | "dataDirectory" | "masterKey">

/** Everything that is sealed under the master key. */
export const layer = Layer.mergeAll(
  SealedCredentials.layer,
  WebhookSecrets.layer,
  CaptureKeys.layer,
  ReportSeal.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(CredentialStore.layer, CaptureStore.layer, AlertStore.layer, AnalysisStore.layer))
)

/** Of each kind so many are tried, the oldest: a key that was lost or confused opens none of them. */
const maxTried = 5

/** What to say where values in the database were sealed under another key than the settings have; `null`: all that were tried open. */
export const otherKeyOf = ({ dataDirectory, databaseUrl, masterKey }: SealingSettings) =>
  Effect.gen(function* () {
    // without any key there is a warning of its own
    if (databaseUrl !== null && masterKey.current === null) return null
    const tried = yield* Effect.all({
      "credentials of projects": credentials,
      "secrets of webhooks": webhooks,
      "keys of captured content": captured,
      "reports of analyses": reports
    })
    const kinds = Object.entries(tried).map(([name, values]) => ({
      name,
      values: values.length,
      opened: values.filter((isOpened) => isOpened).length
    }))
    const failed = kinds.filter(({ opened, values }) => opened < values)
    if (failed.length === 0) return null
    const which = kinds.some(({ opened }) => opened > 0) ? "all of this database was" : "this database was"
    const counts = failed.map(({ name, opened, values }) => `${opened} of ${values} ${name}`).join(", ")
    const issue: ConfigIssue = {
      path: masterKey.current === null ? join(dataDirectory, MasterKey.fileName) : "GATEWAY_MASTER_KEY",
      message: `is not the key that ${which} sealed under: of what was tried it opens ${counts}, and all that needs the others fails. Set that key as GATEWAY_MASTER_KEY, or as GATEWAY_MASTER_KEY_PREVIOUS where this one is to stay`
    }
    return issue
  })

/**
 * Before a start: why none can open the database, or what is sealed in it; `null`: nothing is wrong. Makes neither a database nor a
 * key, and leaves alone what a service has open.
 */
export const beforeStart = (settings: SealingSettings): Effect.Effect<ConfigIssue | null> =>
  Effect.gen(function* () {
    const { dataDirectory, databaseUrl, masterKey } = settings
    const isFree =
      databaseUrl !== null || ((yield* Embedded.isIn(dataDirectory)) && !(yield* DirectoryLock.isHeld(dataDirectory)))
    if (!isFree) return null
    const key = MasterKey.MasterKey.layerExisting({
      ...masterKey,
      directory: databaseUrl === null ? dataDirectory : null
    })
    return yield* Effect.provide(
      otherKeyOf(settings),
      layer.pipe(
        Layer.provide([key, ChangeNotifications.layer]),
        Layer.provide([ExistingDatabase.layer(settings), IdGenerator.layer]),
        Layer.provide(Timers.layer)
      )
    )
  }).pipe(
    // a start makes or migrates it
    Effect.catchTag("SchemaOutdated", () => Effect.succeed(null)),
    Effect.catchAll((error) => {
      const path = settings.databaseUrl === null ? "DATA_DIR" : "DATABASE_URL"
      return Effect.succeed({ path, message: `cannot be used now: ${reasonOf(error)}` })
    })
  )

const credentials = Effect.flatMap(Effect.all([CredentialStore, SealedCredentials]), ([store, sealed]) =>
  triedEach(store.all(undefined, maxTried), (row) => sealed.open(row))
)

const webhooks = Effect.flatMap(Effect.all([AlertStore, WebhookSecrets]), ([store, secrets]) =>
  triedEach(store.secrets(undefined, maxTried), ({ projectId, sealed }) => secrets.open(projectId, sealed))
)

const captured = Effect.flatMap(Effect.all([CaptureStore, CaptureKeys]), ([store, keys]) =>
  triedEach(store.projectKeys(undefined, maxTried), ({ projectId }) => Effect.as(keys.required(projectId), projectId))
)

const reports = Effect.flatMap(Effect.all([AnalysisStore, ReportSeal]), ([store, seal]) =>
  triedEach(store.reports(undefined, maxTried), ({ id, sealed }) => seal.open(id, sealed))
)

const triedEach = <Row>(
  rows: Effect.Effect<ReadonlyArray<Row>, StoreUnavailable>,
  open: (row: Row) => Effect.Effect<unknown, SealingUnavailable | StoreUnavailable>
): Effect.Effect<ReadonlyArray<boolean>, StoreUnavailable> =>
  Effect.flatMap(rows, (all) =>
    Effect.forEach(all, (row) =>
      open(row).pipe(
        Effect.map((value) => value !== undefined),
        Effect.catchTag("SealingUnavailable", () => Effect.succeed(false))
      )
    )
  )
