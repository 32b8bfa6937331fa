import { randomBytes } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { CaptureKeys } from "../../capture/CaptureKeys.ts"
import { CaptureStore } from "../../capture/CaptureStore.ts"
import { type CaptureSettings, type CaptureWindow, defaultSettings } from "../../capture/CaptureWindow.ts"
import {
  ConfigVersionMismatch,
  type NotFound,
  type RoleRequired,
  SealingUnavailable,
  type VersionMismatch
} from "../../domain/AccountError.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import { dateAt } from "../../domain/Dates.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { Timers } from "../../domain/Timers.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"

/** The current settings, with what is stored. */
export interface Collection {
  readonly settings: CaptureSettings
  /** 0 before anything was set. */
  readonly configVersion: number
  readonly samples: number
}

export interface ProjectCollectionShape {
  readonly read: (id: ProjectId) => Effect.Effect<Collection, NotFound | StoreUnavailable, CurrentUser>
  /**
   * Closes the window of `configVersion`, which has to be the current one, and opens the next; `check` sees the current
   * version first and can refuse it.
   */
  readonly update: (
    id: ProjectId,
    settings: CaptureSettings,
    configVersion: number,
    check: (current: number) => Effect.Effect<void, VersionMismatch>
  ) => Effect.Effect<
    Collection,
    NotFound | RoleRequired | StoreUnavailable | ConfigVersionMismatch | SealingUnavailable | VersionMismatch,
    CurrentUser
  >
}

/** Whether and how projects collect, as their members see and change it. */
export class ProjectCollection extends Context.Tag("gateway/account/ProjectCollection")<
  ProjectCollection,
  ProjectCollectionShape
>() {
  static readonly layer: Layer.Layer<
    ProjectCollection,
    never,
    AccountTransactions | Audit | CaptureKeys | CaptureStore | ProjectAccess | ProjectStore | Timers
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const saltBytes = 16

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const audit = yield* Audit
  const keys = yield* CaptureKeys
  const projects = yield* ProjectStore
  const store = yield* CaptureStore
  const timers = yield* Timers
  const transactions = yield* AccountTransactions
  const now = () => dateAt(timers.now())

  const collectionOf = (id: ProjectId, window: CaptureWindow | undefined) =>
    Effect.map(
      store.countSamples(id, now()),
      (samples): Collection => ({
        settings: window ?? defaultSettings,
        configVersion: window?.configVersion ?? 0,
        samples
      })
    )

  return ProjectCollection.of({
    read: (id) =>
      Effect.zipRight(
        access.find(id),
        Effect.flatMap(store.window(id), (window) => collectionOf(id, window))
      ),
    update: (id, settings, configVersion, check) =>
      Effect.gen(function* () {
        yield* access.require(id, "member")
        if (settings.enabled && !keys.isAvailable) return yield* unsealable
        if (settings.enabled) yield* keys.required(id)
        return yield* transactions.commit((announce) =>
          Effect.gen(function* () {
            yield* projects.lock(id)
            const { accountId } = yield* access.require(id, "member")
            yield* store.lock(id)
            const before = yield* store.window(id)
            const current = before?.configVersion ?? 0
            yield* check(current)
            if (current !== configVersion) return yield* changedMeanwhile
            const window: CaptureWindow = {
              ...settings,
              projectId: id,
              configVersion: configVersion + 1,
              salt: randomBytes(saltBytes),
              openedAt: now()
            }
            yield* store.open(window)
            yield* announce({ kind: "capture", id })
            yield* audit.record({
              accountId,
              action: "capture.update",
              target: { kind: "project", id },
              before: before === undefined ? null : audited(before),
              after: audited(window)
            })
            return yield* collectionOf(id, window)
          })
        )
      })
  })
})

const unsealable = new SealingUnavailable({
  message: "Calls cannot be captured: GATEWAY_MASTER_KEY is not set (32 bytes in base64)."
})
const changedMeanwhile = new ConfigVersionMismatch({
  message: "The settings have changed since they were read: read them again and retry with their config_version."
})

const audited = ({
  configVersion,
  content,
  enabled,
  maxSamples,
  replayAllowed,
  retentionDays,
  samplingRate
}: CaptureWindow) => ({
  config_version: configVersion,
  enabled,
  sampling_rate: samplingRate,
  retention_days: retentionDays,
  max_samples: maxSamples,
  content,
  replay_allowed: replayAllowed
})
