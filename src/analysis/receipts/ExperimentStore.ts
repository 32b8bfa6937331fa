import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { ProjectId, UserId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { decodeIds } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"
import { ChangedFields } from "../../wire/account/AnalysisActions.ts"
import { experimentStates } from "../../wire/account/Receipt.ts"
import { Measurement } from "./Measurement.ts"

const Row = Schema.Struct({
  id: Schema.UUID,
  projectId: ProjectId,
  /** `null`: the analysis is no longer kept. */
  analysisId: Schema.NullOr(Schema.UUID),
  actionId: Schema.String,
  /** Of the routing configuration that was changed; `null`: the policy. */
  slug: Schema.NullOr(Schema.String),
  before: ChangedFields,
  after: ChangedFields,
  /** Only calls at one of these are measured, first the one without the change; `null`: all that named no model. */
  alphas: Schema.NullOr(Schema.Array(Schema.Number)),
  /** Of the conversations that get the change. */
  share: Schema.Number,
  /** In micro-USD. */
  estimatedPerCall: Schema.NullOr(Schema.Number),
  startedBy: UserId,
  startedAt: Schema.DateFromSelf,
  endsAt: Schema.DateFromSelf,
  /** Of the policy, from which on calls belong to an arm. */
  startVersion: Schema.Int,
  state: Schema.Literal(...experimentStates),
  reason: Schema.NullOr(Schema.String),
  endedAt: Schema.NullOr(Schema.DateFromSelf),
  looks: Schema.Int,
  measurement: Schema.NullOr(Measurement),
  measuredAt: Schema.NullOr(Schema.DateFromSelf),
  /** By the clock of the database. */
  isOver: Schema.Boolean
})
export type ExperimentRow = typeof Row.Type

export type NewExperiment = Pick<
  ExperimentRow,
  | "actionId"
  | "after"
  | "alphas"
  | "before"
  | "estimatedPerCall"
  | "id"
  | "projectId"
  | "share"
  | "slug"
  | "startedBy"
  | "startVersion"
> & { readonly analysisId: string; readonly days: number }

/** How an experiment has ended. */
export interface Ending {
  readonly state: Exclude<ExperimentRow["state"], "running">
  /** For people. */
  readonly reason: string
}

export interface ExperimentStoreShape {
  /** False while another one of the project runs. */
  readonly start: (experiment: NewExperiment) => Effect.Effect<boolean, StoreUnavailable>
  readonly find: (id: string) => Effect.Effect<ExperimentRow | undefined, StoreUnavailable>
  /** The latest of each action of the analysis. */
  readonly ofAnalysis: (analysis: string) => Effect.Effect<ReadonlyArray<ExperimentRow>, StoreUnavailable>
  /** Those that have ended after their days, oldest first. */
  readonly final: (project: ProjectId) => Effect.Effect<ReadonlyArray<ExperimentRow>, StoreUnavailable>
  /** The one that is due for longest; it is due again later, also for other processes. */
  readonly claim: Effect.Effect<ExperimentRow | undefined, StoreUnavailable>
  /** False, and nothing is written, where it has ended or another process has measured it since. */
  readonly measured: (
    experiment: Pick<ExperimentRow, "id" | "looks">,
    measurement: Measurement
  ) => Effect.Effect<boolean, StoreUnavailable>
  /** False where it has ended before. */
  readonly end: (id: string, ending: Ending) => Effect.Effect<boolean, StoreUnavailable>
  /** Ends those whose change a user has changed since; the projects. */
  readonly endSuperseded: (reason: string) => Effect.Effect<ReadonlyArray<ProjectId>, StoreUnavailable>
}

/** Changes that conversations are held out of, and what they have shown. */
export class ExperimentStore extends Context.Tag("gateway/analysis/ExperimentStore")<
  ExperimentStore,
  ExperimentStoreShape
>() {
  static readonly layer: Layer.Layer<ExperimentStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

/** Time between two looks. It grows with the experiment, as what it reads does: a look is late by 1 part in 200 of it. */
const minLookSeconds = 15
const looksOfAge = 200

const decodeRows = Schema.decodeUnknown(Schema.Array(Row))
const decodeProjects = Schema.decodeUnknown(Schema.Array(Schema.Struct({ projectId: ProjectId })))

const make = (sql: SqlClient): ExperimentStoreShape => {
  const columns =
    sql.literal(`e.id, e.project_id as "projectId", e.analysis_id as "analysisId", e.action_id as "actionId",
    e.slug, e.fields_before as before, e.fields_after as after, e.alphas, e.share, e.estimated_per_call as "estimatedPerCall",
    e.started_by as "startedBy", e.started_at as "startedAt", e.ends_at as "endsAt", e.start_version as "startVersion",
    e.state, e.reason, e.ended_at as "endedAt", e.looks, e.measurement, e.measured_at as "measuredAt",
    e.ends_at <= now() as "isOver"`)
  const rowsOf = <E>(rows: Effect.Effect<unknown, E>) => Effect.flatMap(rows, decodeRows)
  const wrote = <E>(rows: Effect.Effect<unknown, E>) =>
    rows.pipe(
      Effect.flatMap(decodeIds),
      Effect.map(({ length }) => length > 0)
    )
  return {
    start: (one) =>
      fromSql(
        wrote(sql`insert into experiment (id, project_id, analysis_id, action_id, slug, fields_before, fields_after, alphas,
            share, estimated_per_call, started_by, ends_at, start_version)
          values (${one.id}, ${one.projectId}, ${one.analysisId}, ${one.actionId}, ${one.slug},
            ${JSON.stringify(one.before)}::jsonb, ${JSON.stringify(one.after)}::jsonb, ${one.alphas}::double precision[],
            ${one.share}, ${one.estimatedPerCall}, ${one.startedBy}, now() + make_interval(days => ${one.days}::int),
            ${one.startVersion})
          on conflict (project_id) where state = 'running' do nothing returning id`)
      ),
    find: (id) =>
      fromSql(Effect.map(rowsOf(sql`select ${columns} from experiment e where e.id = ${id}`), (rows) => rows[0])),
    ofAnalysis: (analysis) =>
      fromSql(
        rowsOf(sql`select distinct on (e.action_id) ${columns} from experiment e where e.analysis_id = ${analysis}
          order by e.action_id, e.started_at desc`)
      ),
    final: (project) =>
      fromSql(
        rowsOf(sql`select ${columns} from experiment e where e.project_id = ${project} and e.state = 'final'
          order by e.started_at, e.id`)
      ),
    claim: fromSql(
      Effect.map(
        rowsOf(sql`with due as (select id from experiment where state = 'running' and look_at <= now()
            order by look_at, id limit 1 for update skip locked)
          update experiment e set looks = e.looks + 1, look_at = now() + greatest(make_interval(secs => ${minLookSeconds}),
            (now() - e.started_at) / ${looksOfAge})
          from due where e.id = due.id returning ${columns}`),
        (rows) => rows[0]
      )
    ),
    measured: ({ id, looks }, measurement) =>
      fromSql(
        wrote(sql`update experiment set measurement = ${JSON.stringify(measurement)}::jsonb, measured_at = now()
          where id = ${id} and looks = ${looks} and state = 'running' returning id`)
      ),
    end: (id, { reason, state }) =>
      fromSql(
        wrote(sql`update experiment set state = ${state}, reason = ${reason}, ended_at = now()
          where id = ${id} and state = 'running' returning id`)
      ),
    endSuperseded: (reason) =>
      fromSql(
        sql`update experiment e set state = 'superseded', reason = ${reason}, ended_at = now()
          from project p where e.state = 'running' and p.id = e.project_id and case when e.slug is null then
            coalesce(coalesce(to_jsonb(p.default_alpha), 'null') <> e.fields_after -> 'default_alpha', false)
              or coalesce(coalesce(to_jsonb(p.excluded_models), 'null') <> e.fields_after -> 'excluded_models', false)
              or p.managed_by_configuration
            else not exists (select from routing_configuration r where r.project_id = e.project_id and r.slug = e.slug
              and coalesce(to_jsonb(r.alpha), 'null') = e.fields_after -> 'alpha' and not r.managed_by_configuration) end
          returning e.project_id as "projectId"`.pipe(
          Effect.flatMap(decodeProjects),
          Effect.map((rows) => rows.map(({ projectId }) => projectId))
        )
      )
  }
}
