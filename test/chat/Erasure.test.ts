import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ContentStore } from "../../src/chat/ContentStore.ts"
import { databases } from "../ledger/databases.ts"

const conversations = 2
/** Of each conversation, and versions of its artifact. */
const messages = 130
/** In one statement. */
const maxRows = 100

for (const [name, database] of databases) {
  layer(Layer.provideMerge(ContentStore.layer, database), { timeout: 60_000 })(
    `deleted conversations, ${name}`,
    (it) => {
      it.effect("are erased with as many statements as it takes, so that none takes longer than a statement may", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const [user, account, project] = [randomUUID(), randomUUID(), randomUUID()]
          yield* sql`insert into app_user (id, name) values (${user}, 'u')`
          yield* sql`insert into account (id, user_id) values (${account}, ${user})`
          yield* sql`insert into project (id, account_id, name) values (${project}, ${account}, 'p')`
          yield* sql`insert into conversation (id, user_id, project_id, title, created_at, updated_at, deleted_at)
          select gen_random_uuid(), ${user}, ${project}, 't', now(), now(),
            case when n <= ${conversations} then now() - interval '5 minutes' end
          from generate_series(1, ${conversations + 1}::int) n`
          yield* sql`insert into chat_message (id, conversation_id, position, role, status, content, created_at)
          select gen_random_uuid(), c.id, n, 'user', 'complete', 'text', now()
          from conversation c, generate_series(1, ${messages}::int) n`
          yield* sql`insert into chat_artifact (id, conversation_id, name, created_at)
          select gen_random_uuid(), id, 'a', now() from conversation`
          yield* sql`insert into chat_artifact_version (artifact_id, version, media_type, content, size_bytes, created_at)
          select id, n, 'text/html', 'text', 4, now() from chat_artifact, generate_series(1, ${messages}::int) n`
          yield* sql.unsafe(`create table deleted_rows (origin text, rows int);
          create function note_deleted() returns trigger language plpgsql as $$
            begin insert into deleted_rows select tg_table_name, count(*) from gone; return null; end $$;
          create trigger note_deleted after delete on chat_message referencing old table as gone
            for each statement execute function note_deleted();
          create trigger note_deleted after delete on chat_artifact_version referencing old table as gone
            for each statement execute function note_deleted()`)
          expect(yield* (yield* ContentStore).erase(new Date(), 50)).toBe(conversations)
          const deleted = yield* sql`select origin, max(rows)::int as most, sum(rows)::int as all from deleted_rows
          group by origin order by origin`
          const all = conversations * messages
          expect(deleted).toEqual([
            { origin: "chat_artifact_version", most: maxRows, all },
            { origin: "chat_message", most: maxRows, all }
          ])
          expect(yield* sql`select 1 from conversation`).toHaveLength(1)
          expect(yield* sql`select 1 from chat_message`).toHaveLength(messages)
        })
      )
    }
  )
}
