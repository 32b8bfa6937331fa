import type { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { deleteInPortions } from "../sql/Portions.ts"
import { decodeCount } from "../sql/Rows.ts"
import { fromSql } from "../sql/StoreErrors.ts"
import type { CaptureStoreShape } from "./CaptureRecords.ts"
import { at, bytes, decodePlaces, insertPacks, sharedIds } from "./CaptureRowStore.ts"

/** Samples have all that was sent and answered, shared rows all that conversations begin with. */
const maxRowsPerStatement = 500

/** Deletes samples: on request, with their project, and when they have expired. */
export const erasures = (
  sql: SqlClient
): Pick<CaptureStoreShape, "refuseBefore" | "touched" | "replace" | "sweep" | "eraseProject" | "deleteExpired"> => ({
  refuseBefore: (project, time) =>
    sql`update capture_window set opened_at = greatest(opened_at, ${time})
      where project_id = ${project} and closed_at is null`.pipe(Effect.asVoid, fromSql),
  touched: (project, erased) =>
    sql`select distinct project_id as "projectId", config_version as "configVersion",
        encode(conversation, 'hex') as conversation
      from capture_sample where project_id = ${project} and ${
        erased._tag === "Sample"
          ? sql`id = ${erased.id}`
          : erased._tag === "Key"
            ? sql`key_id = ${erased.keyId}`
            : erased._tag === "EndUser"
              ? sql`end_user = ${bytes(erased.endUser)}`
              : sql`conversation = ${bytes(erased.conversation)}`
      }`.pipe(Effect.flatMap(decodePlaces), fromSql),
  replace: (place, samples) =>
    Effect.gen(function* () {
      yield* sql`delete from capture_sample where ${at(sql, place)}`
      for (const sample of samples) {
        yield* insertPacks(sql, place.projectId, sample.day, sample.shared)
        yield* sql`insert into capture_sample (id, project_id, config_version, conversation, day, base, key_id, end_user,
            flow_authorized, captured_at, expires_at, shared, sealed)
          values (${sample.id}, ${place.projectId}, ${place.configVersion}, ${bytes(place.conversation)}, ${sample.day},
            ${sample.base}, ${sample.keyId}, ${sample.endUser === null ? null : bytes(sample.endUser)},
            ${sample.flowAuthorized}, ${sample.capturedAt}, ${sample.expiresAt},
            ${sharedIds(sample.shared)}::bytea[], ${sample.sealed})`
      }
      yield* samples.length === 0
        ? sql`delete from capture_conversation where ${at(sql, place)}`
        : sql`update capture_conversation set samples = ${samples.length} where ${at(sql, place)}`
    }).pipe(fromSql),
  sweep: (project) =>
    deleteInPortions(sql`with used as (
        select distinct day, unnest(shared) as id from capture_sample where project_id = ${project}
      ), gone as (
        delete from capture_shared where ctid = any(array(
          select s.ctid from capture_shared s where s.project_id = ${project}
            and not exists (select from used u where u.day = s.day and u.id = s.id) limit ${maxRowsPerStatement}))
        returning 1
      )
      select count(*)::int as count from gone`).pipe(Effect.asVoid, fromSql),
  eraseProject: (project) =>
    Effect.gen(function* () {
      yield* sql`delete from capture_project_key where project_id = ${project}`
      yield* sql`delete from capture_day_key where project_id = ${project}`
      const gone = yield* deleteInPortions(sql`with gone as (
          delete from capture_sample where id = any(array(
            select id from capture_sample where project_id = ${project} limit ${maxRowsPerStatement}))
          returning id
        )
        select count(*)::int as count from gone`)
      yield* deleteInPortions(sql`with gone as (
          delete from capture_shared where ctid = any(array(
            select ctid from capture_shared where project_id = ${project} limit ${maxRowsPerStatement}))
          returning 1
        )
        select count(*)::int as count from gone`)
      yield* sql`delete from capture_conversation where project_id = ${project}`
      yield* sql`delete from capture_threshold where project_id = ${project}`
      return gone
    }).pipe(fromSql),
  deleteExpired: (now, max) =>
    sql
      .withTransaction(
        Effect.gen(function* () {
          yield* sql`delete from capture_day_key k where k.day < ${now}::timestamptz::date - 1
            and not exists (select from capture_sample s
              where s.project_id = k.project_id and s.day = k.day and s.expires_at > ${now})`
          // made while the project was being deleted: no sample is sealed under them
          for (const keys of ["capture_day_key", "capture_project_key"]) {
            yield* sql`delete from ${sql(keys)} k
              where exists (select from project p where p.id = k.project_id and p.deleted_at is not null)`
          }
          const [samples] = yield* decodeCount(
            yield* sql`with gone as (
                delete from capture_sample where id in (
                  select id from capture_sample where expires_at <= ${now} order by expires_at limit ${max}
                  for update skip locked)
                returning project_id, config_version, conversation
              ), per as (
                select project_id, config_version, conversation, count(*)::int as samples from gone group by 1, 2, 3
              ), counted as (
                update capture_conversation c set samples = greatest(0, c.samples - per.samples) from per
                where c.project_id = per.project_id and c.config_version = per.config_version
                  and c.conversation = per.conversation
              )
              select count(*)::int as count from gone`
          )
          const [shared] = yield* decodeCount(
            yield* sql`with gone as (
                delete from capture_shared where ctid = any(array(
                  select s.ctid from capture_shared s
                  where not exists (select from capture_day_key k where k.project_id = s.project_id and k.day = s.day)
                  limit ${max}))
                returning 1
              )
              select count(*)::int as count from gone`
          )
          yield* sql`delete from capture_conversation c where c.samples = 0
            and not exists (select from capture_day_key k where k.project_id = c.project_id and k.day = c.day)`
          return Math.max(samples.count, shared.count)
        })
      )
      .pipe(fromSql)
})
