import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { ProjectId } from "../domain/Ids.ts"
import { decodeIds } from "../sql/Rows.ts"
import { fromSql } from "../sql/StoreErrors.ts"
import type { CaptureStoreShape, NewSample, Place } from "./CaptureRecords.ts"
import { at, bytes, insertPacks, isLive, sharedIds } from "./CaptureRowStore.ts"
import { type ClassLoad, cutOf, maxOfConversation, roomOfEarlier, samplesOf, sharesOf } from "./Reservoir.ts"

const decodeDays = Schema.decodeUnknown(Schema.Array(Schema.Struct({ day: Schema.String })))
const decodeOpen = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ maxSamples: Schema.Int, openedAt: Schema.DateFromSelf }))
)
const decodeLoads = Schema.decodeUnknown(
  Schema.Array(
    Schema.Struct({ configVersion: Schema.Int, class: Schema.String, samples: Schema.Int, isFull: Schema.Boolean })
  )
)
const decodeLast = Schema.decodeUnknown(Schema.Array(Schema.Struct({ position: Schema.Number, samples: Schema.Int })))
const decodeGiven = Schema.decodeUnknown(Schema.Array(Schema.Struct({ samples: Schema.Int })))

/** Conversations that are looked at by one statement. */
const perStatement = 200

/** Writes samples, and makes room for them. */
export const sampleWrites = (sql: SqlClient): Pick<CaptureStoreShape, "place" | "write"> => {
  /** Only in a conversation that is still among those that are kept: its place was given before other nodes have made room. */
  const insert = (sample: NewSample, maxInConversation: number) =>
    Effect.zipRight(
      insertPacks(sql, sample.projectId, sample.day, sample.shared),
      sql`with counted as (
          update capture_conversation set samples = samples + 1
          where ${at(sql, sample)} and day = ${sample.day}
            and (samples < ${maxInConversation}
              or exists (select from capture_sample l where ${at(sql, sample)} and l.id > ${sample.id}))
            and not exists (select from capture_threshold t where t.project_id = capture_conversation.project_id
              and t.config_version = capture_conversation.config_version and t.class = capture_conversation.class
              and t.below <= capture_conversation.u)
            and (${sample.base}::uuid is null or exists (select from capture_sample b where b.id = ${sample.base}))
            and not exists (select from capture_sample k where k.id = ${sample.id})
            and exists (select from capture_day_key d
              where d.project_id = ${sample.projectId} and d.day = ${sample.day} and d.sealed = ${sample.dayKey})
          returning project_id
        )
        insert into capture_sample (id, project_id, config_version, conversation, day, base, key_id, end_user, flow_authorized,
          captured_at, expires_at, shared, sealed)
        select ${sample.id}::uuid, project_id, ${sample.configVersion}::int, ${bytes(sample.conversation)}::bytea,
          ${sample.day}::date, ${sample.base}::uuid, ${sample.keyId}::uuid,
          ${sample.endUser === null ? null : bytes(sample.endUser)}::bytea, ${sample.flowAuthorized}::boolean,
          ${sample.capturedAt}::timestamptz, ${sample.expiresAt}::timestamptz,
          ${sharedIds(sample.shared)}::bytea[], ${sample.sealed}::bytea
        from counted returning id`
    ).pipe(Effect.flatMap(decodeIds))

  /** All but the first `max` samples of the conversation; their ids. */
  const shorten = (place: Place, max: number) =>
    sql`with later as (
          select id from capture_sample where ${at(sql, place)} order by id offset ${max}
        ), gone as (
          delete from capture_sample where id in (select id from later) returning id
        ), counted as (
          update capture_conversation set samples = samples - (select count(*)::int from gone)
          where ${at(sql, place)} and exists (select from gone)
        )
        select id from gone`.pipe(Effect.flatMap(decodeIds))

  /** From the end of the hash order on, until at most `room` samples are left. */
  const giveUp = (
    window: Pick<Place, "configVersion" | "projectId">,
    classes: ReadonlyArray<string>,
    samples: number,
    room: number
  ): Effect.Effect<void, ParseError | SqlError> =>
    Effect.gen(function* () {
      if (samples <= room) return
      const { configVersion, projectId } = window
      const within = sql`project_id = ${projectId} and config_version = ${configVersion} and ${sql.in("class", classes)}`
      const last = yield* decodeLast(
        yield* sql`select u as position, samples from capture_conversation
          where ${within} order by u desc limit ${perStatement}`
      )
      if (last.length === 0) return
      const below = cutOf(last, samples, room)
      yield* sql`delete from capture_sample where project_id = ${projectId} and config_version = ${configVersion}
        and conversation in (select conversation from capture_conversation where ${within} and u >= ${below})`
      const given = yield* decodeGiven(
        yield* sql`delete from capture_conversation where ${within} and u >= ${below} returning samples`
      )
      yield* Effect.forEach(
        classes,
        (name) =>
          sql`insert into capture_threshold (project_id, config_version, class, below)
            values (${projectId}, ${configVersion}, ${name}, ${below})
            on conflict (project_id, config_version, class) do update set below = least(capture_threshold.below, excluded.below)`,
        { discard: true }
      )
      yield* giveUp(window, classes, samples - given.reduce((sum, one) => sum + one.samples, 0), room)
    })

  /** Samples of earlier windows go first, those of the earliest before all others. */
  const makeRoom = (projectId: ProjectId, current: number, maxSamples: number) =>
    Effect.gen(function* () {
      // a class that is full counts even where none of its conversations fits into its share
      const loads = yield* decodeLoads(
        yield* sql`select config_version as "configVersion", class, sum(samples)::int as samples, bool_or(is_full) as "isFull"
          from (
            select config_version, class, samples, false as is_full from capture_conversation where project_id = ${projectId}
            union all
            select config_version, class, 0, true from capture_threshold where project_id = ${projectId}
          ) load
          group by config_version, class order by config_version desc`
      )
      const ofVersion = (version: number): ReadonlyArray<ClassLoad> =>
        loads.filter(({ configVersion }) => configVersion === version)
      const own = ofVersion(current)
      let room = roomOfEarlier(maxSamples, own)
      for (const version of new Set(loads.map(({ configVersion }) => configVersion))) {
        if (version === current) continue
        const all = ofVersion(version)
        const classes = all.map(({ class: name }) => name)
        yield* giveUp({ projectId, configVersion: version }, classes, samplesOf(all), room)
        room = Math.max(0, room - samplesOf(all))
      }
      const shares = sharesOf(maxSamples, own)
      for (const { class: name, samples } of own) {
        yield* giveUp({ projectId, configVersion: current }, [name], samples, shares.get(name) ?? 0)
      }
    })
  return {
    place: (place, position, promptClass, day, oldestDay) =>
      // waits for an erasure and for the deletion of the project, which closes the window
      sql`with open as (
          select from capture_window where project_id = ${place.projectId} and config_version = ${place.configVersion}
            and closed_at is null and ${isLive(sql, place.projectId)} for key share
        )
        insert into capture_conversation (project_id, config_version, conversation, day, class, u)
        select ${place.projectId}::uuid, ${place.configVersion}::int, ${bytes(place.conversation)}::bytea, ${day}::date,
          ${promptClass}::text, ${position}::double precision
        from open where (exists (select from capture_conversation where ${at(sql, place)})
          or not exists (select from capture_threshold where project_id = ${place.projectId}
            and config_version = ${place.configVersion} and class = ${promptClass} and below <= ${position}))
        on conflict (project_id, config_version, conversation) do update
          set day = case when capture_conversation.day < ${oldestDay}::date then excluded.day else capture_conversation.day end
        returning day::text as day`.pipe(
        Effect.flatMap(decodeDays),
        Effect.map(([found]) => found?.day),
        fromSql
      ),
    write: ({ configVersion, projectId }, samples) =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            const [open] = yield* decodeOpen(
              yield* sql`select max_samples as "maxSamples", opened_at as "openedAt" from capture_window where project_id = ${projectId}
                and config_version = ${configVersion} and enabled and closed_at is null and ${isLive(sql, projectId)} for update`
            )
            const written = new Set<string>()
            if (open === undefined) return { isOpen: false, erased: 0, written }
            const { maxSamples, openedAt } = open
            const current = samples.filter(({ capturedAt }) => capturedAt >= openedAt)
            const maxInConversation = maxOfConversation(maxSamples)
            for (const sample of current) {
              for (const { id } of yield* insert(sample, maxInConversation)) written.add(id)
            }
            for (const place of new Map(current.map((sample) => [sample.conversation, sample])).values()) {
              for (const { id } of yield* shorten(place, maxInConversation)) written.delete(id)
            }
            yield* makeRoom(projectId, configVersion, maxSamples)
            return { isOpen: true, erased: samples.length - current.length, written }
          })
        )
        .pipe(fromSql)
  }
}
