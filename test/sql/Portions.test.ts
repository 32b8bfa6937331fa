import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AccountRequestStore } from "../../src/account/idempotency/AccountRequestStore.ts"
import { IdempotencyStore } from "../../src/calls/IdempotencyStore.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { SessionStore } from "../../src/identity/sessions/SessionStore.ts"
import { SignInCodeStore } from "../../src/identity/sessions/SignInCodeStore.ts"
import { LedgerNode } from "../../src/ledger/LedgerNodeStore.ts"
import { AccountTransactions } from "../../src/sql/AccountDatabase.ts"
import { ChangeNotifications } from "../../src/sql/ChangeNotifications.ts"
import { databases } from "../ledger/databases.ts"

const maxRowsPerStatement = 500
const expired = 1_100

/** A person with a key, and what expired of each kind, with one of each that did not. */
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient
  const [user, account, project, key] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  yield* sql`insert into app_user (id, name) values (${user}, 'someone')`
  yield* sql`insert into account (id, user_id) values (${account}, ${user})`
  yield* sql`insert into project (id, account_id, name) values (${project}, ${account}, 'p')`
  yield* sql`insert into api_key (id, hash, key_prefix, name, project_id)
    values (${key}, ${Buffer.alloc(32)}, 'mrg_sk_prefi', 'k', ${project})`
  const numbered = sql`(select n, sha256(n::text::bytea) as hash,
    case n when 0 then now() + interval '1 day' else now() - interval '2 days' end as at
    from generate_series(0, ${expired}::int) n) numbered`
  yield* sql`insert into idempotent_request (key_id, idempotency_key, run_id, request_hash, state, content_type, answer, expires_at)
    select ${key}, n::text, gen_random_uuid(), hash, 'finished', 'text/plain', hash, at from ${numbered}`
  yield* sql`insert into idempotent_request (key_id, idempotency_key, run_id, request_hash, state, node, claimed_at, expires_at)
    select ${key}, 'abandoned ' || n, gen_random_uuid(), hash, 'running', gen_random_uuid(), at, 'infinity' from ${numbered}`
  yield* sql`insert into account_request (user_id, key_hash, request_hash, answer, created_at)
    select ${user}, hash, hash, hash, at from ${numbered}`
  yield* sql`insert into session (id, user_id, token_hash, transport, address, created_at, seen_at, expires_at)
    select gen_random_uuid(), ${user}, hash, 'bearer', '', at, at, at from ${numbered}`
  yield* sql`insert into sign_in_code (hash, user_id, created_at, expires_at) select hash, ${user}, at, at from ${numbered}`
})

const tables = ["idempotent_request", "account_request", "session", "sign_in_code"]

/** Notes how many rows each statement deletes. */
const observe = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* sql`create table portion (of_table text, size int)`
  yield* sql`create function note_portion() returns trigger language plpgsql as $$
    begin insert into portion select tg_table_name, count(*) from gone; return null; end $$`
  for (const table of tables) {
    yield* sql`create trigger noted after delete on ${sql(table)} referencing old table as gone
      for each statement execute function note_portion()`
  }
})

for (const [name, database] of databases) {
  it.scopedLive(
    `no statement deletes more than a portion of what has expired on ${name}`,
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        yield* fill
        yield* observe
        const now = new Date()
        yield* Effect.all([
          (yield* IdempotencyStore).sweep,
          (yield* AccountRequestStore).sweep(now),
          (yield* SessionStore).sweep(now),
          (yield* SignInCodeStore).sweep(now)
        ])
        const found = yield* sql`select of_table as "table", sum(size)::int as rows, max(size)::int as largest
          from portion group by 1 order by 1`
        expect(found).toEqual([
          { table: "account_request", rows: expired, largest: maxRowsPerStatement },
          { table: "idempotent_request", rows: 2 * expired, largest: maxRowsPerStatement },
          { table: "session", rows: expired, largest: maxRowsPerStatement },
          { table: "sign_in_code", rows: expired, largest: maxRowsPerStatement }
        ])
      }).pipe(
        Effect.provide(
          Layer.mergeAll(
            IdempotencyStore.layer,
            AccountRequestStore.layer,
            SessionStore.layer(null),
            SignInCodeStore.layer
          ).pipe(
            Layer.provide(Layer.merge(LedgerNode.layer, AccountTransactions.layer)),
            Layer.provide(ChangeNotifications.layer),
            Layer.provideMerge(database),
            Layer.provide(IdGenerator.layer),
            Layer.provide(Timers.layer)
          )
        )
      ),
    120_000
  )
}
