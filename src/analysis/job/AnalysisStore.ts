import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { ProjectId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { sqlStateOf } from "../../sql/DatabaseError.ts"
import { decodeIds } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"
import { analysisPhases, analysisStatuses } from "../../wire/account/Analyses.ts"
import { actionKinds, ChangedFields } from "../../wire/account/AnalysisActions.ts"
import { RequestedReplay } from "../evidence/RequestedReplay.ts"

const Row = Schema.Struct({
  id: Schema.String,
  projectId: ProjectId,
  status: Schema.Literal(...analysisStatuses),
  phase: Schema.Literal(...analysisPhases),
  done: Schema.Int,
  total: Schema.Int,
  rangeStart: Schema.DateFromSelf,
  rangeEnd: Schema.DateFromSelf,
  requestedCount: Schema.Int,
  sampleCount: Schema.Int,
  seed: Schema.Int,
  createdAt: Schema.DateFromSelf,
  finishedAt: Schema.NullOr(Schema.DateFromSelf),
  error: Schema.NullOr(Schema.String),
  epoch: Schema.Int,
  cancelRequested: Schema.Boolean,
  reportSealed: Schema.NullOr(Schema.Uint8ArrayFromSelf),
  /** `null`: the analysis itself is to be run. */
  replay: Schema.NullOr(RequestedReplay),
  /** The epoch when the replay was asked for. */
  replayEpoch: Schema.Int
})
export type AnalysisRow = typeof Row.Type

/** Without the report, which is large. */
const ListedRow = Row.pick(
  "id",
  "projectId",
  "status",
  "rangeStart",
  "rangeEnd",
  "requestedCount",
  "sampleCount",
  "createdAt",
  "finishedAt",
  "error"
)
export type ListedAnalysis = typeof ListedRow.Type

const TakenAction = Schema.Struct({
  actionId: Schema.String,
  kind: Schema.Literal(...actionKinds),
  slug: Schema.NullOr(Schema.String),
  fieldsBefore: Schema.NullOr(ChangedFields),
  fieldsAfter: Schema.NullOr(ChangedFields),
  appliedAt: Schema.DateFromSelf,
  undoneAt: Schema.NullOr(Schema.DateFromSelf)
})
export type TakenAction = typeof TakenAction.Type

/** What a holder of the lease may write with. */
export type Lease = Pick<AnalysisRow, "epoch" | "id">

export interface AnalysisStoreShape {
  /** False while another analysis of the project waits or runs. */
  readonly create: (
    row: Pick<AnalysisRow, "id" | "projectId" | "rangeEnd" | "rangeStart" | "requestedCount" | "seed">
  ) => Effect.Effect<boolean, StoreUnavailable>
  readonly find: (id: string) => Effect.Effect<AnalysisRow | undefined, StoreUnavailable>
  /** Newest first, those before `before`. */
  readonly list: (
    project: ProjectId,
    max: number,
    before: string | undefined
  ) => Effect.Effect<ReadonlyArray<ListedAnalysis>, StoreUnavailable>
  /** One that waits is cancelled at once; one that runs learns of it. */
  readonly cancel: (id: string) => Effect.Effect<void, StoreUnavailable>
  /** Lets an analysis that has ended run again, for a replay; false where it had one, or another one of the project waits or runs. */
  readonly startReplay: (id: string, replay: RequestedReplay) => Effect.Effect<boolean, StoreUnavailable>
  /** Takes the oldest that waits, or whose lease is over; by the clock of the database. */
  readonly claim: (node: string) => Effect.Effect<AnalysisRow | undefined, StoreUnavailable>
  /** Whether it shall be cancelled; `undefined` when the lease has gone to another. */
  readonly heartbeat: (lease: Lease) => Effect.Effect<boolean | undefined, StoreUnavailable>
  /** False, and nothing is written, when the lease has gone to another. */
  readonly progress: (
    lease: Lease,
    at: Pick<AnalysisRow, "done" | "phase" | "sampleCount" | "total">
  ) => Effect.Effect<boolean, StoreUnavailable>
  /** As `progress`; a report that is `null` leaves the one that is there. */
  readonly finish: (
    lease: Lease,
    end: {
      readonly status: "succeeded" | "failed" | "cancelled" | "insufficient_data"
      readonly error: string | null
      readonly report: Uint8Array | null
    }
  ) => Effect.Effect<boolean, StoreUnavailable>
  /** Sealed reports by id, those after `after`. */
  readonly reports: (
    after: string | undefined,
    max: number
  ) => Effect.Effect<ReadonlyArray<{ readonly id: string; readonly sealed: Uint8Array }>, StoreUnavailable>
  /** Nothing where the report is another one meanwhile. */
  readonly resealReport: (id: string, before: Uint8Array, sealed: Uint8Array) => Effect.Effect<void, StoreUnavailable>
  readonly taken: (id: string) => Effect.Effect<ReadonlyArray<TakenAction>, StoreUnavailable>
  /** Again where it was undone before. */
  readonly take: (
    id: string,
    action: Pick<TakenAction, "actionId" | "fieldsAfter" | "fieldsBefore" | "kind" | "slug">
  ) => Effect.Effect<void, StoreUnavailable>
  readonly undo: (id: string, action: string) => Effect.Effect<void, StoreUnavailable>
}

/** The analyses of projects. */
export class AnalysisStore extends Context.Tag("gateway/analysis/AnalysisStore")<AnalysisStore, AnalysisStoreShape>() {
  static readonly layer: Layer.Layer<AnalysisStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

const leaseSeconds = 30
const uniqueViolation = "23505"
/** Of a project; older ones are removed when another is asked for. */
const maxKept = 100

const decodeRows = Schema.decodeUnknown(Schema.Array(Row))
const decodeListed = Schema.decodeUnknown(Schema.Array(ListedRow))
const decodeTaken = Schema.decodeUnknown(Schema.Array(TakenAction))
const decodeReports = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ id: Schema.String, sealed: Schema.Uint8ArrayFromSelf }))
)
const decodeCancelled = Schema.decodeUnknown(Schema.Array(Schema.Struct({ cancelRequested: Schema.Boolean })))

const make = (sql: SqlClient): AnalysisStoreShape => {
  const listedColumns = sql.literal(`a.id, a.project_id as "projectId", a.status, a.range_start as "rangeStart",
    a.range_end as "rangeEnd", a.requested_count as "requestedCount", a.sample_count as "sampleCount",
    a.created_at as "createdAt", a.finished_at as "finishedAt", a.error`)
  const columns = sql`${listedColumns}, ${sql.literal(`a.phase, a.done, a.total, a.seed, a.epoch,
    a.cancel_requested as "cancelRequested", a.report_sealed as "reportSealed", a.replay,
    a.replay_epoch as "replayEpoch"`)}`
  const first = <A>(rows: ReadonlyArray<A>): A | undefined => rows[0]
  const wrote = (rows: ReadonlyArray<unknown>): boolean => rows.length > 0
  return {
    create: ({ id, projectId, rangeEnd, rangeStart, requestedCount, seed }) =>
      sql`insert into analysis (id, project_id, range_start, range_end, requested_count, seed)
          values (${id}, ${projectId}, ${rangeStart}, ${rangeEnd}, ${requestedCount}, ${seed})
          on conflict (project_id) where status in ('queued', 'running') do nothing returning id`.pipe(
        Effect.flatMap(decodeIds),
        Effect.map(wrote),
        Effect.zipLeft(
          sql`delete from analysis a using (select id from analysis where project_id = ${projectId}
              order by id desc offset ${maxKept} limit 1) oldest
            where a.project_id = ${projectId} and a.id <= oldest.id and a.status not in ('queued', 'running')
            returning a.id`.pipe(
            Effect.flatMap(decodeIds),
            // a statement of its own sees what was started while the first one waited
            Effect.flatMap(
              (gone) => sql`delete from analysis_item where analysis_id = any(${gone.map(({ id }) => id)}::uuid[])`
            )
          )
        ),
        fromSql
      ),
    find: (id) =>
      sql`select ${columns} from analysis a where a.id = ${id}`.pipe(
        Effect.flatMap(decodeRows),
        Effect.map(first),
        fromSql
      ),
    list: (project, max, before) =>
      sql`select ${listedColumns} from analysis a where a.project_id = ${project} and (${before ?? null}::uuid is null or a.id < ${before ?? null}::uuid)
        order by a.id desc limit ${max}`.pipe(Effect.flatMap(decodeListed), fromSql),
    cancel: (id) =>
      sql`update analysis set cancel_requested = true,
          status = case status when 'queued' then 'cancelled' else status end,
          finished_at = case status when 'queued' then now() end
        where id = ${id} and status in ('queued', 'running')`.pipe(Effect.asVoid, fromSql),
    startReplay: (id, replay) =>
      sql`update analysis a set status = 'queued', finished_at = null, error = null, cancel_requested = false, phase = 'select',
          done = 0, total = 0, replay = ${JSON.stringify(replay)}::jsonb, replay_epoch = a.epoch
        where a.id = ${id} and a.replay is null and a.report_sealed is not null and a.status not in ('queued', 'running')
          and not exists (select from analysis o where o.project_id = a.project_id and o.status in ('queued', 'running'))
        returning a.id`.pipe(
        Effect.flatMap(decodeIds),
        Effect.map(wrote),
        // another analysis of the project has begun to wait since this statement looked
        Effect.catchIf(
          (error) => sqlStateOf(error) === uniqueViolation,
          () => Effect.succeed(false)
        ),
        fromSql
      ),
    claim: (node) =>
      sql`with next as (select id from analysis where status in ('queued', 'running') and (lease_until is null or lease_until < now())
          order by created_at, id limit 1 for update skip locked)
        update analysis a set status = 'running', epoch = a.epoch + 1, lease_node = ${node},
          lease_until = now() + make_interval(secs => ${leaseSeconds}), phase = 'select', done = 0, total = 0
        from next where a.id = next.id returning ${columns}`.pipe(
        Effect.flatMap(decodeRows),
        Effect.map(first),
        fromSql
      ),
    heartbeat: ({ epoch, id }) =>
      sql`update analysis set lease_until = now() + make_interval(secs => ${leaseSeconds})
        where id = ${id} and epoch = ${epoch} and status = 'running' returning cancel_requested as "cancelRequested"`.pipe(
        Effect.flatMap(decodeCancelled),
        Effect.map((rows) => rows[0]?.cancelRequested),
        fromSql
      ),
    progress: ({ epoch, id }, { done, phase, sampleCount, total }) =>
      sql`update analysis set phase = ${phase}, done = ${done}, total = ${total}, sample_count = ${sampleCount}
        where id = ${id} and epoch = ${epoch} and status = 'running' returning id`.pipe(
        Effect.flatMap(decodeIds),
        Effect.map(wrote),
        fromSql
      ),
    finish: ({ epoch, id }, { error, report, status }) =>
      sql`update analysis set status = ${status}, error = ${error}, report_sealed = coalesce(${report}, report_sealed), finished_at = now(), lease_until = null
        where id = ${id} and epoch = ${epoch} and status = 'running' returning id`.pipe(
        Effect.flatMap(decodeIds),
        Effect.map(wrote),
        fromSql
      ),
    reports: (after, max) =>
      sql`select id, report_sealed as sealed from analysis
        where report_sealed is not null and ${after === undefined ? sql`true` : sql`id > ${after}`} order by id limit ${max}`.pipe(
        Effect.flatMap(decodeReports),
        fromSql
      ),
    resealReport: (id, before, sealed) =>
      sql`update analysis set report_sealed = ${sealed} where id = ${id} and report_sealed = ${before}`.pipe(
        Effect.asVoid,
        fromSql
      ),
    taken: (id) =>
      sql`select action_id as "actionId", kind, slug, fields_before as "fieldsBefore", fields_after as "fieldsAfter",
          applied_at as "appliedAt", undone_at as "undoneAt"
        from analysis_action where analysis_id = ${id} order by action_id`.pipe(Effect.flatMap(decodeTaken), fromSql),
    take: (id, { actionId, fieldsAfter, fieldsBefore, kind, slug }) =>
      sql`insert into analysis_action as a (analysis_id, action_id, kind, slug, fields_before, fields_after, applied_at)
        values (${id}, ${actionId}, ${kind}, ${slug}, ${jsonOf(fieldsBefore)}::jsonb, ${jsonOf(fieldsAfter)}::jsonb, now())
        on conflict (analysis_id, action_id) do update set kind = excluded.kind, slug = excluded.slug,
          fields_before = excluded.fields_before, fields_after = excluded.fields_after,
          applied_at = excluded.applied_at, undone_at = null
        where a.undone_at is not null`.pipe(Effect.asVoid, fromSql),
    undo: (id, action) =>
      sql`update analysis_action set undone_at = now() where analysis_id = ${id} and action_id = ${action} and undone_at is null`.pipe(
        Effect.asVoid,
        fromSql
      )
  }
}

const jsonOf = (fields: ChangedFields | null): string | null => (fields === null ? null : JSON.stringify(fields))
