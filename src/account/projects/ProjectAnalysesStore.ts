import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

export interface ProjectAnalysesStoreShape {
  /** With their reports and what was measured after them. Returns those that run, which are to end: their lease is gone. */
  readonly removeAll: (project: ProjectId) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
}

/** The analyses of a project, for its deletion. */
export class ProjectAnalysesStore extends Context.Tag("gateway/account/ProjectAnalysesStore")<
  ProjectAnalysesStore,
  ProjectAnalysesStoreShape
>() {
  static readonly layer: Layer.Layer<ProjectAnalysesStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

const decodeRemoved = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ id: Schema.String, isRunning: Schema.Boolean }))
)

const make = (sql: SqlClient): ProjectAnalysesStoreShape => ({
  removeAll: (project) =>
    Effect.gen(function* () {
      const removed = yield* decodeRemoved(
        yield* sql`delete from analysis where project_id = ${project} returning id, status = 'running' as "isRunning"`
      )
      // a statement of its own sees what was started while the first one waited
      yield* sql`delete from analysis_item where analysis_id = any(${removed.map(({ id }) => id)}::uuid[])`
      yield* sql`delete from experiment where project_id = ${project}`
      return removed.filter(({ isRunning }) => isRunning).map(({ id }) => id)
    }).pipe(fromSql)
})
