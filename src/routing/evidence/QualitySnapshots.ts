import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { ProjectId } from "../../domain/Ids.ts"
import { promptClasses } from "../../domain/PromptClass.ts"
import { gradedQuality, type QualityRow, type QualitySnapshot } from "../../domain/QualitySnapshot.ts"
import type { Timers } from "../../domain/Timers.ts"
import type { ChangeNotifications } from "../../sql/ChangeNotifications.ts"
import * as RowCache from "../../sql/RowCache.ts"
import type { GradedQuality } from "../quality/QualityTable.ts"
import { QualitySnapshotStore } from "./QualitySnapshotStore.ts"

/** The grades that the models of a project are ranked by. */
export interface ProjectQuality {
  /** Of the snapshot; `null` where none was published, and every quality is the assumed one. */
  readonly version: number | null
  readonly graded: GradedQuality | undefined
}

export interface QualitySnapshotsShape {
  /** Cached like the policy of the project. */
  readonly ofProject: (project: ProjectId) => Effect.Effect<ProjectQuality, StoreUnavailable>
  /** What `ofProject` would give now, if that is in memory; `undefined`, or no such member: it has to be read. */
  readonly peek?: (project: ProjectId) => ProjectQuality | undefined
}

/** The active snapshots of projects; in an embedded gateway without a database there is none. */
export class QualitySnapshots extends Context.Reference<QualitySnapshots>()("gateway/routing/QualitySnapshots", {
  defaultValue: (): QualitySnapshotsShape => ({ ofProject: () => nothing, peek: () => ungraded })
}) {
  static readonly layer: Layer.Layer<QualitySnapshots, never, ChangeNotifications | QualitySnapshotStore | Timers> =
    Layer.scoped(
      this,
      Effect.suspend(() => make)
    )
}

const ungraded: ProjectQuality = { version: null, graded: undefined }
const nothing = Effect.succeed(ungraded)

const make = Effect.gen(function* () {
  const store = yield* QualitySnapshotStore
  const cache = yield* RowCache.make<ProjectQuality, ProjectQuality>({
    load: (id) =>
      Effect.map(store.newest(ProjectId.make(id)), (snapshot) =>
        snapshot === undefined ? ungraded : qualityOf(snapshot)
      ),
    absent: ungraded,
    kinds: ["quality"]
  })
  return { ofProject: cache.get, peek: cache.peek }
})

/** By model first: a ranking asks for each model once for each class of the prompt. */
const qualityOf = ({ rows, version }: QualitySnapshot): ProjectQuality => {
  const byModel = new Map<string, Array<QualityRow | undefined>>()
  promptClasses.forEach((name, at) => {
    for (const [model, row] of Object.entries(rows[name] ?? {})) {
      const classes = byModel.get(model) ?? []
      classes[at] = row
      byModel.set(model, classes)
    }
  })
  return {
    version,
    graded: {
      of: (modelId, classAt, assumed) => {
        const row = byModel.get(modelId)?.[classAt]
        return row === undefined ? undefined : gradedQuality(assumed, row)
      }
    }
  }
}
