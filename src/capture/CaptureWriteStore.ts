import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { ProjectId } from "../domain/Ids.ts"
import { fromSql } from "../sql/StoreErrors.ts"
import type { CaptureStoreShape, NewSample, Place } from "./CaptureRecords.ts"
import { at, bytes, decodeIds, insertPacks, sharedIds } from "./CaptureRowStore.ts"
import { maxOfConversation, sharesOf } from "./Reservoir.ts"

const decodeDays = Schema.decodeUnknown(Schema.Array(Schema.Struct({ day: Schema.String })))
const decodeOpen = Schema.decodeUnknown(Schema.Array(Schema.Struct({ maxSamples: Schema.Int })))
const decodeLoads = Schema.decodeUnknown(
  Schema.Array(
    Schema.Struct({ configVersion: Schema.Int, class: Schema.String, samples: Schema.Int, isFull: Schema.Boolean })
  )
)
const decodeLast = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ conversation: Schema.String, position: Schema.Number, samples: Schema.Int }))
)

/** Conversations that are given up by one statement. */
const perStatement = 200

/** Writes samples, and makes room for them. */
export const sampleWrites = (sql: SqlClient): Pick<CaptureStoreShape, "place" | "write"> => {
  const insert = (sample: NewSample, maxInConversation: number) =>
    Effect.zipRight(
      insertPacks(sql, sample.projectId, sample.day, sample.shared),
      sql`with counted as (
          update capture_conversation set samples = samples + 1
          where ${at(sql, sample)} and samples < ${maxInConversation} and day = ${sample.day}
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

  /** From the end of the hash order on, until at most `kept` samples are left. */
  const giveUp = (
    { configVersion, projectId }: Pick<Place, "configVersion" | "projectId">,
    classes: ReadonlyArray<string>,
    samples: number,
    kept: number
  ): Effect.Effect<void, ParseError | SqlError> =>
    Effect.gen(function* () {
      if (samples <= kept) return
      const within = sql`project_id = ${projectId} and config_version = ${configVersion} and ${sql.in("class", classes)}`
      const last = yield* decodeLast(
        yield* sql`select encode(conversation, 'hex') as conversation, u as position, samples from capture_conversation
          where ${within} order by u desc limit ${perStatement}`
      )
      let left = samples
      const given: Array<string> = []
      let below = 1
      for (const { conversation, position, samples: some } of last) {
        if (left <= kept) break
        left -= some
        below = position
        given.push(conversation)
      }
      if (given.length === 0) return
      const conversations = sql.in("conversation", given.map(bytes))
      yield* sql`delete from capture_sample where project_id = ${projectId} and config_version = ${configVersion} and ${conversations}`
      yield* sql`delete from capture_conversation where ${within} and ${conversations}`
      yield* Effect.forEach(
        classes,
        (name) =>
          sql`insert into capture_threshold (project_id, config_version, class, below)
            values (${projectId}, ${configVersion}, ${name}, ${below})
            on conflict (project_id, config_version, class) do update set below = least(capture_threshold.below, excluded.below)`,
        { discard: true }
      )
      yield* giveUp({ configVersion, projectId }, classes, left, kept)
    })

  /** Samples of earlier windows go first, so that the latest fills up as if it were alone. */
  const makeRoom = (projectId: ProjectId, current: number, maxSamples: number) =>
    Effect.gen(function* () {
      const loads = yield* decodeLoads(
        yield* sql`select c.config_version as "configVersion", c.class, sum(c.samples)::int as samples,
            exists (select from capture_threshold t where t.project_id = c.project_id
              and t.config_version = c.config_version and t.class = c.class) as "isFull"
          from capture_conversation c where c.project_id = ${projectId}
          group by c.project_id, c.config_version, c.class order by c.config_version`
      )
      let excess = sumOf(loads) - maxSamples
      for (const version of new Set(loads.map(({ configVersion }) => configVersion))) {
        if (excess <= 0 || version === current) continue
        const own = loads.filter(({ configVersion }) => configVersion === version)
        const samples = sumOf(own)
        yield* giveUp(
          { projectId, configVersion: version },
          own.map(({ class: name }) => name),
          samples,
          Math.max(0, samples - excess)
        )
        excess -= samples
      }
      const own = loads.filter(({ configVersion }) => configVersion === current)
      if (sumOf(own) <= maxSamples) return
      for (const [name, share] of sharesOf(maxSamples, own)) {
        const samples = sumOf(own.filter((load) => load.class === name))
        yield* giveUp({ projectId, configVersion: current }, [name], samples, share)
      }
    })
  return {
    place: (place, position, promptClass, day, oldestDay) =>
      sql`insert into capture_conversation (project_id, config_version, conversation, day, class, u)
        select ${place.projectId}::uuid, ${place.configVersion}::int, ${bytes(place.conversation)}::bytea, ${day}::date,
          ${promptClass}::text, ${position}::double precision
        where exists (select from capture_conversation where ${at(sql, place)})
          or not exists (select from capture_threshold where project_id = ${place.projectId}
            and config_version = ${place.configVersion} and class = ${promptClass} and below <= ${position})
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
              yield* sql`select max_samples as "maxSamples" from capture_window where project_id = ${projectId}
                and config_version = ${configVersion} and enabled and closed_at is null for update`
            )
            const written = new Set<string>()
            if (open === undefined) return { isOpen: false, written }
            const { maxSamples } = open
            for (const sample of samples) {
              for (const { id } of yield* insert(sample, maxOfConversation(maxSamples))) written.add(id)
            }
            yield* makeRoom(projectId, configVersion, maxSamples)
            return { isOpen: true, written }
          })
        )
        .pipe(fromSql)
  }
}

type Load = {
  readonly configVersion: number
  readonly class: string
  readonly samples: number
  readonly isFull: boolean
}

const sumOf = (loads: ReadonlyArray<Load>): number => loads.reduce((sum, { samples }) => sum + samples, 0)
