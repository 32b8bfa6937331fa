import type { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ProjectId } from "../domain/Ids.ts"
import { decodeCount } from "../sql/Rows.ts"
import { fromSql } from "../sql/StoreErrors.ts"
import type { CaptureStoreShape } from "./CaptureRecords.ts"
import { isLive } from "./CaptureRowStore.ts"

const WindowRow = Schema.Struct({
  projectId: ProjectId,
  configVersion: Schema.Int,
  enabled: Schema.Boolean,
  samplingRate: Schema.Number,
  retentionDays: Schema.Int,
  maxSamples: Schema.Int,
  content: Schema.Literal("full", "fingerprint"),
  replayAllowed: Schema.Boolean,
  contentWarning: Schema.String,
  salt: Schema.Uint8ArrayFromSelf,
  openedAt: Schema.DateFromSelf
})
const Bytes = Schema.Uint8ArrayFromSelf
const decodeWindows = Schema.decodeUnknown(Schema.Array(WindowRow))
const decodeSealed = Schema.decodeUnknown(Schema.Array(Schema.Struct({ sealed: Bytes })))
const decodeProjectKeys = Schema.decodeUnknown(Schema.Array(Schema.Struct({ projectId: ProjectId, sealed: Bytes })))

/** The windows of collections, and the keys that samples are sealed under. */
export const windowsAndKeys = (
  sql: SqlClient
): Pick<
  CaptureStoreShape,
  "window" | "lock" | "open" | "close" | "countSamples" | "projectKey" | "dayKey" | "projectKeys" | "resealProjectKey"
> => ({
  window: (project) =>
    sql`select project_id as "projectId", config_version as "configVersion", enabled, sampling_rate as "samplingRate",
        retention_days as "retentionDays", max_samples as "maxSamples", content, replay_allowed as "replayAllowed",
        content_warning as "contentWarning", salt, opened_at as "openedAt"
      from capture_window where project_id = ${project} and closed_at is null and ${isLive(sql, project)}`.pipe(
      Effect.flatMap(decodeWindows),
      Effect.map(([found]) => found),
      fromSql
    ),
  lock: (project) =>
    sql`select from capture_window where project_id = ${project} order by config_version for update`.pipe(
      Effect.asVoid,
      fromSql
    ),
  open: (window) =>
    Effect.zipRight(
      sql`update capture_window set closed_at = ${window.openedAt}
        where project_id = ${window.projectId} and closed_at is null`,
      sql`insert into capture_window (project_id, config_version, enabled, sampling_rate, retention_days, max_samples, content,
          replay_allowed, content_warning, salt, opened_at)
        values (${window.projectId}, ${window.configVersion}, ${window.enabled}, ${window.samplingRate},
          ${window.retentionDays}, ${window.maxSamples}, ${window.content}, ${window.replayAllowed},
          ${window.contentWarning}, ${window.salt}, ${window.openedAt})`
    ).pipe(Effect.asVoid, fromSql),
  close: (project, time) =>
    sql`update capture_window set closed_at = ${time} where project_id = ${project} and closed_at is null`.pipe(
      Effect.asVoid,
      fromSql
    ),
  countSamples: (project, now) =>
    sql`select count(*)::int as count from capture_sample where project_id = ${project} and expires_at > ${now}`.pipe(
      Effect.flatMap(decodeCount),
      Effect.map(([{ count }]) => count),
      fromSql
    ),
  projectKey: (project, sealed) =>
    Effect.gen(function* () {
      if (sealed !== undefined)
        yield* sql`insert into capture_project_key (project_id, sealed) select ${project}::uuid, ${sealed}::bytea
          where ${isLive(sql, project)} on conflict do nothing`
      const [found] = yield* decodeSealed(
        yield* sql`select sealed from capture_project_key where project_id = ${project}`
      )
      return found?.sealed
    }).pipe(fromSql),
  dayKey: (project, day, sealed) =>
    Effect.gen(function* () {
      if (sealed !== undefined)
        yield* sql`insert into capture_day_key (project_id, day, sealed) select ${project}::uuid, ${day}::date, ${sealed}::bytea
          where ${isLive(sql, project)} on conflict do nothing`
      const [found] = yield* decodeSealed(
        yield* sql`select sealed from capture_day_key where project_id = ${project} and day = ${day}`
      )
      return found?.sealed
    }).pipe(fromSql),
  projectKeys: (after, max) =>
    sql`select project_id as "projectId", sealed from capture_project_key
      where ${after === undefined ? sql`true` : sql`project_id > ${after}`} order by project_id limit ${max}`.pipe(
      Effect.flatMap(decodeProjectKeys),
      fromSql
    ),
  resealProjectKey: (project, before, sealed) =>
    sql`update capture_project_key set sealed = ${sealed} where project_id = ${project} and sealed = ${before}`.pipe(
      Effect.asVoid,
      fromSql
    )
})
