import { SqlClient } from "@effect/sql/SqlClient"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CaptureStore } from "../../src/capture/CaptureStore.ts"
import { databases } from "../ledger/databases.ts"
import { collecting } from "./Collecting.ts"

const samples = 1_201
/** In one statement. */
const maxRows = 500

/** From now on, how many rows each statement deletes. */
const noteDeleted = (table: string) =>
  Effect.flatMap(SqlClient, (sql) =>
    sql.unsafe(`drop table if exists deleted_rows;
      create table deleted_rows (origin text, rows int);
      create or replace function note_deleted() returns trigger language plpgsql as $$
        begin insert into deleted_rows select tg_table_name, count(*) from gone; return null; end $$;
      create or replace trigger note_deleted after delete on ${table} referencing old table as gone
        for each statement execute function note_deleted()`)
  )
const deletedFrom = (table: string) =>
  Effect.flatMap(SqlClient, (sql) =>
    Effect.map(
      sql`select max(rows)::int as most, sum(rows)::int as all from deleted_rows where origin = ${table}`,
      ([row]) => row
    )
  )

for (const [name, database] of databases) {
  layer(Layer.provideMerge(CaptureStore.layer, database), { timeout: 60_000 })(
    `what a project has collected, ${name}`,
    (it) => {
      it.effect("is erased with as many statements as it takes, so that none takes longer than a statement may", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const project = yield* collecting({})
          const other = yield* collecting({})
          const fill = (
            to: string,
            rows: number
          ) => sql`insert into capture_sample (id, project_id, config_version, conversation,
            day, key_id, flow_authorized, captured_at, expires_at, sealed)
          select gen_random_uuid(), ${to}, 1, decode(md5((n / 3)::text), 'hex'), current_date, gen_random_uuid(), false, now(),
            now(), '' from generate_series(1, ${rows}::int) n`
          yield* fill(project, samples)
          yield* fill(other, 1)
          yield* noteDeleted("capture_sample")
          expect(yield* (yield* CaptureStore).eraseProject(project)).toBe(samples)
          expect(yield* sql`select project_id from capture_sample`).toEqual([{ project_id: other }])
          expect(yield* deletedFrom("capture_sample")).toEqual({ most: maxRows, all: samples })
        })
      )

      it.effect(
        "has its shared blocks deleted so too: after a part of it was erased, with the project, and expired",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient
            const store = yield* CaptureStore
            const project = yield* collecting({})
            const fill = sql`insert into capture_shared (project_id, day, id, sealed)
            select ${project}, current_date, decode(md5(n::text), 'hex'), '' from generate_series(1, ${samples}::int) n
            on conflict do nothing`
            yield* fill
            yield* sql`insert into capture_day_key (project_id, day, sealed) values (${project}, current_date, '')`
            yield* sql`insert into capture_sample (id, project_id, config_version, conversation, day, key_id, flow_authorized,
              captured_at, expires_at, shared, sealed)
            values (gen_random_uuid(), ${project}, 1, decode(md5('1'), 'hex'), current_date, gen_random_uuid(), false, now(),
              now() + interval '1 day', array[decode(md5('7'), 'hex')], '')`
            const left = Effect.map(
              sql`select 1 from capture_shared where project_id = ${project} and id = decode(md5('7'), 'hex')`,
              (used) => used.length
            )

            yield* noteDeleted("capture_shared")
            yield* store.sweep(project)
            expect([yield* deletedFrom("capture_shared"), yield* left]).toEqual([
              { most: maxRows, all: samples - 1 },
              1
            ])

            yield* fill
            yield* noteDeleted("capture_shared")
            yield* store.eraseProject(project)
            expect([yield* deletedFrom("capture_shared"), yield* left]).toEqual([{ most: maxRows, all: samples }, 0])

            // without the key of their day
            yield* fill
            yield* noteDeleted("capture_shared")
            const expired = store.deleteExpired(new Date(), maxRows)
            yield* Effect.repeat(expired, { while: (rows) => rows > 0 })
            expect([yield* deletedFrom("capture_shared"), yield* left]).toEqual([{ most: maxRows, all: samples }, 0])
          })
      )
    }
  )
}
