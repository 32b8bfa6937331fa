import { SqlClient } from "@effect/sql/SqlClient"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Database from "../../src/sql/Database.ts"
import { erasedArtifacts } from "../../src/sql/migrations/0048_erased_artifacts.ts"

const uuid = (id: number) => `00000000-0000-7000-8000-${String(id).padStart(12, "0")}`

it.scopedLive(
  "artifacts that an older version deleted have no text any more, and no other loses its own",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient
      yield* sql`insert into app_user (id, name) values (${uuid(1)}, 'x')`
      yield* sql`insert into account (id, user_id) values (${uuid(1)}, ${uuid(1)})`
      yield* sql`insert into project (id, account_id, name) values (${uuid(1)}, ${uuid(1)}, 'default')`
      yield* sql`insert into conversation (id, user_id, project_id, title, created_at, updated_at)
        values (${uuid(1)}, ${uuid(1)}, ${uuid(1)}, 't', now(), now())`
      for (const [id, deletedAt] of [
        [1, null],
        [2, new Date(0)]
      ] as const) {
        yield* sql`insert into chat_artifact (id, conversation_id, name, created_at, deleted_at)
          values (${uuid(id)}, ${uuid(1)}, 'a.html', now(), ${deletedAt})`
        for (const version of [1, 2]) {
          yield* sql`insert into chat_artifact_version (artifact_id, version, media_type, content, size_bytes, created_at)
            values (${uuid(id)}, ${version}, 'text/html', 'text', 4, now())`
        }
      }
      yield* erasedArtifacts
      const rows = yield* sql<{ readonly content: string }>`select content from chat_artifact_version
        order by artifact_id, version`
      expect(rows.map(({ content }) => content)).toEqual(["text", "text", "", ""])
    }).pipe(Effect.provide(Database.layer({ url: Option.none(), dataDir: ":memory:" }))),
  60_000
)
