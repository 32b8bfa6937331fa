import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { ProjectId } from "../../domain/Ids.ts"
import type { QualitySnapshot } from "../../domain/QualitySnapshot.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

export interface QualitySnapshotStoreShape {
  /** The active version; `undefined` where nothing was published. */
  readonly newest: (project: ProjectId) => Effect.Effect<QualitySnapshot | undefined, StoreUnavailable>
}

/** The snapshots for calls, on the connections of calls; `QualityEvidence` publishes them. */
export class QualitySnapshotStore extends Context.Tag("gateway/routing/QualitySnapshotStore")<
  QualitySnapshotStore,
  QualitySnapshotStoreShape
>() {
  static readonly layer: Layer.Layer<QualitySnapshotStore, never, SqlClient> = Layer.effect(
    this,
    Effect.map(SqlClient, (sql) => ({ newest: (project) => fromSql(newestOf(sql, project)) }))
  )
}

const SnapshotRow = Schema.Struct({
  projectId: ProjectId,
  version: Schema.Int,
  createdAtMillis: Schema.Number,
  rows: Schema.Record({
    key: Schema.String,
    value: Schema.Record({ key: Schema.String, value: Schema.Struct({ mean: Schema.Number, n: Schema.Number }) })
  })
})
const decodeSnapshots = Schema.decodeUnknown(Schema.Array(SnapshotRow))

const columns = `project_id as "projectId", version, extract(epoch from created_at)::float8 * 1000 as "createdAtMillis", rows`

export const newestOf = (
  sql: SqlClient,
  project: ProjectId
): Effect.Effect<QualitySnapshot | undefined, SqlError | ParseError> =>
  sql`select ${sql.literal(columns)} from quality_snapshot where project_id = ${project}
    order by version desc limit 1`.pipe(
    Effect.flatMap(decodeSnapshots),
    Effect.map(([row]) => row)
  )

export const versionOf = (
  sql: SqlClient,
  project: ProjectId,
  version: number
): Effect.Effect<QualitySnapshot | undefined, SqlError | ParseError> =>
  sql`select ${sql.literal(columns)} from quality_snapshot where project_id = ${project} and version = ${version}`.pipe(
    Effect.flatMap(decodeSnapshots),
    Effect.map(([row]) => row)
  )
