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
          yield* sql.unsafe(`create table deleted_rows (rows int);
          create function note_deleted() returns trigger language plpgsql as $$
            begin insert into deleted_rows select count(*) from gone; return null; end $$;
          create trigger note_deleted after delete on capture_sample referencing old table as gone
            for each statement execute function note_deleted()`)
          expect(yield* (yield* CaptureStore).eraseProject(project)).toBe(samples)
          expect(yield* sql`select project_id from capture_sample`).toEqual([{ project_id: other }])
          const [deleted] = yield* sql`select max(rows)::int as most, sum(rows)::int as all from deleted_rows`
          expect(deleted).toEqual({ most: maxRows, all: samples })
        })
      )
    }
  )
}
