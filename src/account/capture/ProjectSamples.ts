import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Audit, type AuditShape } from "../../audit/Audit.ts"
import { Capture } from "../../capture/Capture.ts"
import { Captured, type CapturedShape } from "../../capture/Captured.ts"
import { CaptureKeys } from "../../capture/CaptureKeys.ts"
import type { Place, SampleRow } from "../../capture/CaptureRecords.ts"
import { CaptureStore } from "../../capture/CaptureStore.ts"
import { CaptureErasure, type Erasure } from "../../capture/Erasure.ts"
import { NotFound, type RoleRequired, type SealingUnavailable } from "../../domain/AccountError.ts"
import type { CapturedCall } from "../../domain/CapturedCall.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { dateAt } from "../../domain/Dates.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId, RequestId } from "../../domain/Ids.ts"
import { Timers } from "../../domain/Timers.ts"
import { ProjectAccess, type ProjectAccessShape } from "../../identity/projects/ProjectAccess.ts"
import type { AccessibleProject } from "../../identity/projects/ProjectAccessStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"

type Refused = NotFound | RoleRequired | StoreUnavailable
/** Also where no master key opens what is stored. */
type Unread = Refused | SealingUnavailable

/** Without content. */
interface ListedSample {
  readonly id: RequestId
  readonly call: CapturedCall
}

export interface ProjectSamplesShape {
  /** Without content; newest first, those before `before`. */
  readonly list: (
    id: ProjectId,
    max: number,
    before: RequestId | undefined
  ) => Effect.Effect<ReadonlyArray<ListedSample>, Unread, CurrentUser>
  /** With content, which is recorded in the audit log. */
  readonly read: (id: RequestId) => Effect.Effect<CapturedCall, Unread, CurrentUser>
  readonly remove: (id: RequestId) => Effect.Effect<void, Unread, CurrentUser>
  /** The number of samples that are gone. */
  readonly erase: (id: ProjectId, erasure: Erasure) => Effect.Effect<number, Unread, CurrentUser>
  /** Conversation by conversation, with content; that it was read is recorded in the audit log. */
  readonly exported: (
    id: ProjectId
  ) => Effect.Effect<Stream.Stream<CapturedCall, StoreUnavailable>, Unread, CurrentUser>
}

/** What projects have collected, as their members read and erase it. */
export class ProjectSamples extends Context.Tag("gateway/account/ProjectSamples")<
  ProjectSamples,
  ProjectSamplesShape
>() {
  static readonly layer: Layer.Layer<
    ProjectSamples,
    never,
    | AccountTransactions
    | Audit
    | Capture
    | Captured
    | CaptureErasure
    | CaptureKeys
    | CaptureStore
    | ProjectAccess
    | Timers
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

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
  const store = yield* CaptureStore
  const timers = yield* Timers
  const transactions = yield* AccountTransactions
  const now = () => dateAt(timers.now())
  const record = recordWith(audit)

  /** A sample of another tenant is as unknown as one that never was. */
  const found = (id: RequestId): Effect.Effect<readonly [SampleRow, AccessibleProject], Refused, CurrentUser> =>
    Effect.gen(function* () {
      const row = yield* store.sample(id, now())
      if (row === undefined) return yield* noSuchSample
      const project = yield* Effect.catchTag(requireReader(access, row.projectId), "NotFound", () => noSuchSample)
      return [row, project]
    })

  return ProjectSamples.of({
    list: (id, max, before) =>
      Effect.zipRight(
        Effect.zipRight(requireReader(access, id), keys.required(id)),
        newestSamples({ captured, store, now }, id, max, before)
      ),
    read: (id) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const [row, project] = yield* found(id)
          yield* keys.required(row.projectId)
          const call = yield* captured.call(row)
          if (call === undefined) return yield* noSuchSample
          yield* record(project, "capture.read", { kind: "capture_sample", id })
          return call
        })
      ),
    remove: (id) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const [row, project] = yield* found(id)
          yield* erasure.erase(row.projectId, { _tag: "Sample", id })
          yield* record(project, "capture.delete", { kind: "capture_sample", id }, { project_id: row.projectId })
        })
      ),
    erase: (id, what) =>
      Effect.gen(function* () {
        yield* access.require(id, "member")
        // what was written after the erasure would stay
        yield* Effect.timeoutOption(capture.flushed, maxWait)
        return yield* transactions.commit(() =>
          Effect.gen(function* () {
            // the wait takes a while: who is no member any more by now erases nothing
            const project = yield* access.require(id, "member")
            const erased = yield* erasure.erase(id, what)
            yield* record(project, "capture.erase", { kind: "project", id }, loggedTarget(what), { erased })
            return erased
          })
        )
      }),
    exported: (id) =>
      Effect.gen(function* () {
        yield* transactions.commit(() =>
          Effect.gen(function* () {
            const project = yield* requireReader(access, id)
            yield* keys.required(id)
            yield* record(project, "capture.export", { kind: "project", id })
          })
        )
        return capturedCalls(store, captured, id)
      })
  })
})

/** Content is for the members of a project: a command has the master key, and is nobody's member. */
const requireReader = (
  access: ProjectAccessShape,
  id: ProjectId
): Effect.Effect<AccessibleProject, Refused, CurrentUser> =>
  Effect.flatMap(CurrentUser, ({ transport }) =>
    transport === "command" ? noSuchProject : access.require(id, "member")
  )

const recordWith =
  (audit: AuditShape) =>
  (
    { accountId }: AccessibleProject,
    action: string,
    target: { readonly kind: string; readonly id: string },
    before: object | null = null,
    after: object | null = null
  ) =>
    audit.record({ accountId, action, target, before, after })

interface SampleReading {
  readonly captured: CapturedShape
  readonly store: Context.Tag.Service<CaptureStore>
  readonly now: () => Date
}

/** Those that can still be read. */
const newestSamples = (
  { captured, now, store }: SampleReading,
  id: ProjectId,
  max: number,
  before: RequestId | undefined
): Effect.Effect<ReadonlyArray<ListedSample>, StoreUnavailable> =>
  Effect.gen(function* () {
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
  })

const capturedCalls = (
  store: Context.Tag.Service<CaptureStore>,
  captured: CapturedShape,
  id: ProjectId
): Stream.Stream<CapturedCall, StoreUnavailable> =>
  Stream.paginateChunkEffect(Option.none<Place>(), (after) =>
    Effect.map(
      store.conversationsAfter(id, Option.getOrUndefined(after), conversationsPerQuery),
      (places) => [Chunk.fromIterable(places), Option.map(Option.fromNullable(places.at(-1)), Option.some)] as const
    )
  ).pipe(Stream.flatMap((place) => captured.each(id, place)))

const noSuchProject = new NotFound({ message: "Project not found." })
const noSuchSample = new NotFound({ message: "Sample not found." })

/** As requests name it, but not the name of an end user: the log is kept for longer than what is erased. */
const loggedTarget = (erasure: Erasure): object => {
  switch (erasure._tag) {
    case "Sample":
      return { target: "sample", sample_id: erasure.id }
    case "Key":
      return { target: "key", key_id: erasure.keyId }
    case "EndUser":
      return { target: "end_user" }
    case "Conversation":
      return { target: "conversation", conversation: erasure.conversation }
    case "Project":
      return { target: "project" }
  }
}
