import { randomBytes } from "node:crypto"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Audit } from "../../audit/Audit.ts"
import { Capture } from "../../capture/Capture.ts"
import { Captured } from "../../capture/Captured.ts"
import { CaptureKeys } from "../../capture/CaptureKeys.ts"
import type { Place, SampleRow } from "../../capture/CaptureRecords.ts"
import { CaptureStore } from "../../capture/CaptureStore.ts"
import { type CaptureSettings, type CaptureWindow, defaultSettings } from "../../capture/CaptureWindow.ts"
import { CaptureErasure, type Erasure } from "../../capture/Erasure.ts"
import {
  ConfigVersionMismatch,
  NotFound,
  type RoleRequired,
  SealingUnavailable,
  type VersionMismatch
} from "../../domain/AccountError.ts"
import type { CapturedCall } from "../../domain/CapturedCall.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { dateAt } from "../../domain/Dates.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId, RequestId } from "../../domain/Ids.ts"
import { Timers } from "../../domain/Timers.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import type { AccessibleProject } from "../../identity/projects/ProjectAccessStore.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"

type Refused = NotFound | RoleRequired | StoreUnavailable
/** Also where no master key opens what is stored. */
type Unread = Refused | SealingUnavailable

/** The current settings, with what is stored. */
export interface Collection {
  readonly settings: CaptureSettings
  /** 0 before anything was set. */
  readonly configVersion: number
  readonly samples: number
}

/** Without content. */
interface ListedSample {
  readonly id: RequestId
  readonly call: CapturedCall
}

export interface ProjectCaptureShape {
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
  ) => Effect.Effect<Collection, Refused | ConfigVersionMismatch | SealingUnavailable | VersionMismatch, CurrentUser>
  /** Without content; newest first, those before `before`. */
  readonly list: (
    id: ProjectId,
    max: number,
    before: RequestId | undefined
  ) => Effect.Effect<ReadonlyArray<ListedSample>, Unread, CurrentUser>
  /** With content, which is recorded in the audit log. */
  readonly sample: (id: RequestId) => Effect.Effect<CapturedCall, Unread, CurrentUser>
  readonly removeSample: (id: RequestId) => Effect.Effect<void, Unread, CurrentUser>
  /** The number of samples that are gone. */
  readonly erase: (id: ProjectId, erasure: Erasure) => Effect.Effect<number, Unread, CurrentUser>
  /** Conversation by conversation, with content; that it was read is recorded in the audit log. */
  readonly exported: (
    id: ProjectId
  ) => Effect.Effect<Stream.Stream<CapturedCall, StoreUnavailable>, Unread, CurrentUser>
}

/** What projects collect, as their members see and change it. */
export class ProjectCapture extends Context.Tag("gateway/account/ProjectCapture")<
  ProjectCapture,
  ProjectCaptureShape
>() {
  static readonly layer: Layer.Layer<
    ProjectCapture,
    never,
    | AccountTransactions
    | Audit
    | Capture
    | Captured
    | CaptureErasure
    | CaptureKeys
    | CaptureStore
    | ProjectAccess
    | ProjectStore
    | Timers
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const saltBytes = 16
/** How long an erasure waits for calls that this node has taken and not yet written. */
const maxWait = Duration.seconds(2)
const conversationsPerQuery = 100
/** Each is opened whole for its place in a list, up to 1 MiB: more at once would hold the event loop. */
const samplesPerQuery = 4

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const audit = yield* Audit
  const capture = yield* Capture
  const captured = yield* Captured
  const erasure = yield* CaptureErasure
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

  /** Content is for the members of a project: a command has the master key, and is nobody's member. */
  const requireReader = (id: ProjectId): Effect.Effect<AccessibleProject, Refused, CurrentUser> =>
    Effect.flatMap(CurrentUser, ({ transport }) =>
      transport === "command" ? Effect.fail(noSuchProject) : access.require(id, "member")
    )
  const record = (
    { accountId }: AccessibleProject,
    action: string,
    target: { readonly kind: string; readonly id: string },
    before: object | null,
    after: object | null
  ) => audit.record({ accountId, action, target, before, after })

  /** A sample of another tenant is as unknown as one that never was. */
  const found = (id: RequestId): Effect.Effect<readonly [SampleRow, AccessibleProject], Refused, CurrentUser> =>
    Effect.gen(function* () {
      const row = yield* store.sample(id, now())
      if (row === undefined) return yield* noSuchSample
      const project = yield* Effect.catchTag(requireReader(row.projectId), "NotFound", () => noSuchSample)
      return [row, project]
    })

  return ProjectCapture.of({
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
            const project = yield* access.require(id, "member")
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
            const target = { kind: "project", id }
            yield* record(
              project,
              "capture.update",
              target,
              before === undefined ? null : audited(before),
              audited(window)
            )
            return yield* collectionOf(id, window)
          })
        )
      }),
    list: (id, max, before) =>
      Effect.gen(function* () {
        yield* requireReader(id)
        yield* keys.required(id)
        const listed: Array<ListedSample> = []
        let last = before
        while (listed.length < max) {
          const rows = yield* store.page(id, last, Math.min(samplesPerQuery, max - listed.length), now())
          if (rows.length === 0) break
          for (const row of rows) {
            const call = yield* captured.summary(row)
            if (call !== undefined) listed.push({ id: row.id, call })
            last = row.id
          }
        }
        return listed
      }),
    sample: (id) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const [row, project] = yield* found(id)
          yield* keys.required(row.projectId)
          const call = yield* captured.call(row)
          if (call === undefined) return yield* noSuchSample
          yield* record(project, "capture.read", { kind: "capture_sample", id }, null, null)
          return call
        })
      ),
    removeSample: (id) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const [row, project] = yield* found(id)
          yield* erasure.erase(row.projectId, { _tag: "Sample", id })
          yield* record(project, "capture.delete", { kind: "capture_sample", id }, { project_id: row.projectId }, null)
        })
      ),
    erase: (id, what) =>
      Effect.gen(function* () {
        const project = yield* access.require(id, "member")
        // what was written after the erasure would stay
        yield* Effect.timeoutOption(capture.flushed, maxWait)
        return yield* transactions.commit(() =>
          Effect.gen(function* () {
            const erased = yield* erasure.erase(id, what)
            // not the name of an end user: the log is kept for longer than what is erased
            const target = what._tag === "Key" ? { key_id: what.keyId } : {}
            const fields = { target: what._tag, ...target }
            yield* record(project, "capture.erase", { kind: "project", id }, fields, { erased })
            return erased
          })
        )
      }),
    exported: (id) =>
      Effect.gen(function* () {
        const project = yield* requireReader(id)
        yield* keys.required(id)
        yield* transactions.commit(() => record(project, "capture.export", { kind: "project", id }, null, null))
        return Stream.paginateChunkEffect(Option.none<Place>(), (after) =>
          Effect.map(
            store.conversationsAfter(id, Option.getOrUndefined(after), conversationsPerQuery),
            (places) =>
              [Chunk.fromIterable(places), Option.map(Option.fromNullable(places.at(-1)), Option.some)] as const
          )
        ).pipe(
          Stream.mapEffect((place) => captured.calls(id, place)),
          Stream.flatMap(Stream.fromIterable)
        )
      })
  })
})

const noSuchProject = new NotFound({ message: "Project not found." })
const noSuchSample = new NotFound({ message: "Sample not found." })
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
