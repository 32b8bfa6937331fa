import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { ProjectId } from "../../domain/Ids.ts"
import { promptClasses } from "../../domain/PromptClass.ts"
import {
  evidenceSources,
  type GradedEvidence,
  maxEvidenceAgeMillis,
  type QualityRows,
  type QualitySnapshot,
  qualityRows
} from "../../domain/QualitySnapshot.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"
import { newestOf, versionOf } from "./QualitySnapshotStore.ts"

export interface QualityEvidenceShape {
  /** Evidence of a source, class and model that is recorded already is not recorded again. Whether all of it was new. */
  readonly record: (evidence: ReadonlyArray<GradedEvidence>) => Effect.Effect<boolean, StoreUnavailable>
  /**
   * Makes the next version from the evidence of the project, and drops what is too old to count. The active version is returned
   * where its rows would be the same.
   */
  readonly publish: (project: ProjectId, atMillis: number) => Effect.Effect<QualitySnapshot, StoreUnavailable>
  /** Projects with evidence that no snapshot has yet; some of them where there are many. */
  readonly pending: Effect.Effect<ReadonlyArray<ProjectId>, StoreUnavailable>
  /** The newest version; none where nothing was published. */
  readonly active: (project: ProjectId) => Effect.Effect<Option.Option<QualitySnapshot>, StoreUnavailable>
  /** A version as it was published. */
  readonly read: (
    project: ProjectId,
    version: number
  ) => Effect.Effect<Option.Option<QualitySnapshot>, StoreUnavailable>
}

/** What answers were graded with, and the versioned snapshots that models are ranked by. */
export class QualityEvidence extends Context.Tag("gateway/routing/QualityEvidence")<
  QualityEvidence,
  QualityEvidenceShape
>() {
  static readonly layer: Layer.Layer<QualityEvidence, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

const Comparison = Schema.Struct({
  incumbent: Schema.String,
  wins: Schema.Int,
  losses: Schema.Int,
  ties: Schema.Int,
  placeboMean: Schema.NullOr(Schema.Number),
  sensitivityLow: Schema.NullOr(Schema.Number)
})
const PromptClassName = Schema.Literal(...promptClasses)

const EvidenceRow = Schema.Struct({
  projectId: ProjectId,
  promptClass: PromptClassName,
  model: Schema.String,
  source: Schema.Literal(...evidenceSources),
  sourceId: Schema.String,
  mean: Schema.Number,
  grades: Schema.Int,
  comparison: Schema.NullOr(Comparison),
  gradedAtMillis: Schema.Number
})
const decodeEvidence = Schema.decodeUnknown(Schema.Array(EvidenceRow))

const decodeRecorded = Schema.decodeUnknown(Schema.Array(Schema.Struct({ model: Schema.String })))

const decodeProjects = Schema.decodeUnknown(Schema.Array(Schema.Struct({ id: ProjectId })))

/** As long as calls are kept by default, which name the version that they were ranked by. */
const maxSnapshotAgeMillis = 90 * 86_400_000
/** Published one after the other before more are read. */
const maxPending = 100

const make = (sql: SqlClient): QualityEvidenceShape => {
  const publish = (project: ProjectId, atMillis: number) =>
    Effect.gen(function* () {
      // two publishers would otherwise make the same version
      yield* sql`select id from project where id = ${project} for no key update`
      yield* sql`delete from quality_evidence
        where project_id = ${project} and graded_at < to_timestamp(${atMillis - maxEvidenceAgeMillis}::float8 / 1000)`
      yield* sql`delete from quality_snapshot where project_id = ${project}
        and created_at < to_timestamp(${atMillis - maxSnapshotAgeMillis}::float8 / 1000)
        and version < (select max(version) from quality_snapshot where project_id = ${project})`
      yield* sql`update quality_evidence set is_published = true where project_id = ${project} and not is_published`
      const evidence = yield* sql`select project_id as "projectId", class as "promptClass", model, source,
          source_id as "sourceId", mean, grades, comparison,
          extract(epoch from graded_at)::float8 * 1000 as "gradedAtMillis"
        from quality_evidence where project_id = ${project}
        order by class collate "C", model collate "C", source, source_id collate "C"`.pipe(
        Effect.flatMap(decodeEvidence)
      )
      const rows: QualityRows = qualityRows(evidence, atMillis)
      const before = yield* newestOf(sql, project)
      if (before !== undefined && JSON.stringify(sorted(before.rows)) === JSON.stringify(sorted(rows))) return before
      const version = (before?.version ?? 0) + 1
      yield* sql`insert into quality_snapshot (project_id, version, created_at, rows)
        values (${project}, ${version}, to_timestamp(${atMillis}::float8 / 1000), ${JSON.stringify(rows)}::jsonb)`
      return { projectId: project, version, createdAtMillis: atMillis, rows }
    })

  return {
    record: (evidence) =>
      evidence.length === 0
        ? Effect.succeed(true)
        : sql`insert into quality_evidence (project_id, class, model, source, source_id, mean, grades, comparison, graded_at)
          select e.project_id, e.class, e.model, e.source, e.source_id, e.mean, e.grades, e.comparison,
            to_timestamp(e.graded_at / 1000.0)
          from jsonb_to_recordset(${JSON.stringify(evidence.map(columnsOf))}::jsonb) as e (project_id uuid, class text,
            model text, source text, source_id text, mean float8, grades int, comparison jsonb, graded_at float8)
          on conflict do nothing returning model`.pipe(
            Effect.flatMap(decodeRecorded),
            Effect.map((rows) => rows.length === evidence.length),
            fromSql
          ),
    publish: (project, atMillis) => fromSql(sql.withTransaction(publish(project, atMillis))),
    active: (project) => fromSql(Effect.map(newestOf(sql, project), Option.fromNullable)),
    pending:
      sql`select distinct project_id as id from quality_evidence where not is_published limit ${maxPending}`.pipe(
        Effect.flatMap(decodeProjects),
        Effect.map((rows) => rows.map(({ id }) => id)),
        fromSql
      ),
    read: (project, version) => fromSql(Effect.map(versionOf(sql, project, version), Option.fromNullable))
  }
}

const columnsOf = (evidence: GradedEvidence) => ({
  project_id: evidence.projectId,
  class: evidence.promptClass,
  model: evidence.model,
  source: evidence.source,
  source_id: evidence.sourceId,
  mean: evidence.mean,
  grades: evidence.grades,
  comparison: evidence.comparison,
  graded_at: evidence.gradedAtMillis
})

/** jsonb has an order of keys of its own. */
const sorted = (rows: QualityRows) =>
  promptClasses.map((name) => Object.entries(rows[name] ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))
