import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import Pg from "pg"
import * as Database from "../../src/sql/Database.ts"
import { reasonOf } from "../../src/sql/DatabaseError.ts"
import { migrations, run } from "../../src/sql/Migrations.ts"
import { emptyDatabase, freshDatabase, postgresServer } from "../ledger/databases.ts"
import { logTo } from "../support/LogLines.ts"
import { withOpenTransaction } from "../support/OpenTransaction.ts"

const names = Object.keys(migrations)
const applied = Effect.flatMap(
  SqlClient,
  (sql) =>
    sql<{
      readonly name: string
    }>`select lpad(migration_id::text, 4, '0') || '_' || name as name from migration order by 1`
).pipe(Effect.map((rows) => rows.map((row) => row.name)))

it.scopedLive(
  "the embedded database is migrated when it is opened, and again changes nothing",
  () =>
    Effect.gen(function* () {
      expect(yield* applied).toEqual(names)
      expect(yield* run).toEqual([])
      expect(yield* applied).toEqual(names)
    }).pipe(Effect.provide(Database.layer({ url: Option.none(), dataDir: ":memory:" }))),
  60_000
)

it.scopedLive(
  "a schema of a later version is opened, as beside newer nodes, with a warning",
  () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const log = logTo(lines)
      const dataDir = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "migrations-"))),
        (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
      )
      const open = <A, E>(use: Effect.Effect<A, E, SqlClient>) =>
        Effect.provide(use, Database.layer({ url: Option.none(), dataDir, logsMigrations: true })).pipe(
          Effect.provide(log)
        )
      yield* open(
        Effect.flatMap(SqlClient, (sql) => sql`insert into migration (migration_id, name) values (9999, 'later')`)
      )
      expect(lines.filter((line) => line.includes("level=WARN"))).toEqual([])
      yield* open(applied)
      const warnings = lines.filter((line) => line.includes("level=WARN"))
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toContain("the database has the schema of a later version")
      expect(warnings[0]).toContain("9999_later")
    }),
  60_000
)

// a number that nobody needed stays unused: a database that has a later one would never run it
it("migrations are numbered in order, each number once", () => {
  const numbers = names.map((name) => Number(name.slice(0, 4)))
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
})

describe.skipIf(postgresServer === undefined)("on PostgreSQL", () => {
  const opened = (url: string, statementTimeoutMillis = 5_000) =>
    Database.layer({
      url: Option.some(Redacted.make(url)),
      dataDir: ":memory:",
      maxConnections: 2,
      statementTimeoutMillis
    })

  it.scopedLive(
    "processes that start at once on an empty database all succeed, and each migration is applied once",
    () =>
      Effect.gen(function* () {
        const url = yield* emptyDatabase(postgresServer ?? "")
        yield* Effect.forEach(Array.from({ length: 5 }), () => Layer.build(opened(url)), { concurrency: "unbounded" })
        expect(yield* Effect.provide(applied, opened(url))).toEqual(names)
      }),
    60_000
  )

  it.scopedLive(
    "a statement that takes too long is ended by the server",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase(postgresServer ?? "")
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient
          const slow = yield* Effect.either(sql`select pg_sleep(10)`)
          expect(Either.isLeft(slow) && slow.left.cause).toMatchObject({ code: "57014" })
        }).pipe(Effect.provide(opened(url, 100)))
      }),
    60_000
  )

  it.scopedLive(
    "a migration does not wait for a locked table without a bound, and says what to do",
    () =>
      Effect.gen(function* () {
        const url = yield* emptyDatabase(postgresServer ?? "")
        const client = new Pg.Client({ connectionString: url })
        yield* Effect.acquireRelease(
          Effect.promise(async () => {
            await client.connect()
            await client.query("create table migration (migration_id int)")
            await client.query("begin; lock table migration")
          }),
          () => Effect.promise(() => client.end())
        )
        const outcome = yield* Effect.either(Layer.build(opened(url)))
        expect(Either.isLeft(outcome) && reasonOf(outcome.left)).toContain("another transaction has it locked")
      }),
    60_000
  )

  it.scopedLive(
    "a connection that is lost during the migration is an error that says so",
    () =>
      Effect.gen(function* () {
        const url = yield* emptyDatabase(postgresServer ?? "")
        const outcome = yield* Effect.promise(() =>
          withOpenTransaction(url, async ({ holdsBack, query }) => {
            await query("create table migration (migration_id int)")
            const opening = Effect.runPromise(Effect.scoped(Effect.either(Layer.build(opened(url)))))
            await holdsBack(opening)
            await query(
              "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
            )
            return opening
          })
        )
        expect(Either.isLeft(outcome) && reasonOf(outcome.left)).toMatch(/terminat/)
      }),
    60_000
  )

  it.scopedLive("a server that is not there is an error that does not show the password", () =>
    Effect.gen(function* () {
      const outcome = yield* Effect.either(Layer.build(opened("postgres://user:hunter2@127.0.0.1:1/none")))
      expect(Either.isLeft(outcome) && outcome.left._tag).toBe("DatabaseFailed")
      expect(Either.isLeft(outcome) && JSON.stringify(outcome.left) + String(outcome.left)).not.toContain("hunter2")
    })
  )
})
