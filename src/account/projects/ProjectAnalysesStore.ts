import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

export interface ProjectAnalysesStoreShape {
  /** With their reports and what was measured after them; one that runs ends, since its lease is gone. */
  readonly removeAll: (project: ProjectId) => Effect.Effect<void, StoreUnavailable>
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

const make = (sql: SqlClient): ProjectAnalysesStoreShape => ({
  removeAll: (project) =>
    sql`with gone as (delete from analysis where project_id = ${project} returning id)
      delete from analysis_item i using gone where i.analysis_id = gone.id`.pipe(
      Effect.zipRight(sql`delete from experiment where project_id = ${project}`),
      Effect.asVoid,
      fromSql
    )
})
