import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { SqlClient } from "@effect/sql/SqlClient"
import { PgClient } from "@effect/sql-pg/PgClient"
import { afterEach, beforeAll, describe, expect, it, layer, vi } from "@effect/vitest"
import { PGlite } from "@electric-sql/pglite"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import type Pg from "pg"
import { type Database, layerUnmigrated } from "../../src/sql/Database.ts"
import * as Embedded from "../../src/sql/embedded/Embedded.ts"
import { prepare } from "../../src/sql/embedded/files.js"
import { writeTemplate } from "../../src/sql/embedded/Template.ts"
import { Wire } from "../../src/sql/embedded/Wire.ts"
import * as Migrations from "../../src/sql/Migrations.ts"

const inMemory = layerUnmigrated({ url: Option.none(), dataDir: ":memory:" })

const temporaryDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "embedded-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

/** Runs with the database of this directory open. */
const within = <A, E>(directory: string, use: Effect.Effect<A, E, SqlClient | Database>) =>
  Effect.scoped(
    Effect.flatMap(Layer.build(layerUnmigrated({ url: Option.none(), dataDir: directory })), (context) =>
      Effect.provide(use, context)
    )
  )

describe("one session behind many connections", () => {
  layer(inMemory, { timeout: 60_000, excludeTestServices: true })((it) => {
    it.effect("transactions of several connections do not mix, and a failed one leaves nothing", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        yield* sql`create table tally (n int)`
        yield* sql`insert into tally values (0)`
        yield* Effect.forEach(
          Array.from({ length: 40 }, (_, index) => index),
          (index) =>
            sql
              .withTransaction(
                Effect.gen(function* () {
                  const [row] = yield* sql<{ n: number }>`select n from tally`
                  yield* Effect.yieldNow()
                  yield* sql`update tally set n = ${(row?.n ?? 0) + 1}`
                  if (index % 4 === 0) return yield* Effect.fail("rolled back")
                })
              )
              .pipe(Effect.ignore),
          { concurrency: "unbounded" }
        )
        expect(yield* sql`select n from tally`).toEqual([{ n: 30 }])
      })
    )

    it.effect("an interrupted transaction is rolled back and others go on", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        yield* sql`create table half (n int)`
        const inside = yield* Deferred.make<void>()
        const fiber = yield* Effect.fork(
          sql.withTransaction(
            sql`insert into half values (1)`.pipe(
              Effect.zipRight(Deferred.succeed(inside, undefined)),
              Effect.zipRight(Effect.never)
            )
          )
        )
        yield* Deferred.await(inside)
        yield* Fiber.interrupt(fiber)
        expect(yield* sql`select n from half`).toEqual([])
      })
    )

    it.effect("two cursors run at once with queries between them", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const count = (to: number) => Stream.runCount(sql`select generate_series(1, ${to}::int)`.stream)
        const counts = yield* Effect.all([count(1_000), sql`select 1 as one`, count(700)], { concurrency: "unbounded" })
        expect([counts[0], counts[2]]).toEqual([1_000, 700])
      })
    )

    it.effect("large parameters and answers come through whole", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const large = "漢".repeat(700_000)
        const rows = yield* sql`select ${large}::text as text, n from generate_series(1, 2) n`
        expect(rows).toEqual([
          { text: large, n: 1 },
          { text: large, n: 2 }
        ])
      })
    )

    it.effect("a notification reaches the connection that listens, between other answers", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient
        const listening = yield* Deferred.make<void>()
        const heard = yield* sql.listen("news").pipe(
          Stream.tap(() => Deferred.succeed(listening, undefined)),
          Stream.filter((news) => news !== "ready?"),
          Stream.take(2),
          Stream.runCollect,
          Effect.fork
        )
        yield* sql`select pg_notify('news', 'ready?')`.pipe(Effect.repeat({ until: () => Deferred.isDone(listening) }))
        yield* sql`select pg_notify('news', 'one'), repeat('x', 100000)`
        yield* sql`select pg_notify('news', 'two')`
        expect(Chunk.toReadonlyArray(yield* Fiber.join(heard))).toEqual(["one", "two"])
      })
    )

    it.effect("an error is the statement's own and the connection stays good", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const outcome = yield* Effect.either(sql`select 1 / 0`)
        expect(Either.isLeft(outcome) && outcome.left.cause).toMatchObject({ code: "22012" })
        expect(yield* sql`select 1 as one`).toEqual([{ one: 1 }])
      })
    )
  })
})

describe("prepared statements", () => {
  const opened = Effect.map(Embedded.open(null), ({ pool }) => pool)
  const connection = (pool: Pg.Pool) => Effect.promise(() => pool.connect())
  const query = (client: Pg.PoolClient, text: string, values: ReadonlyArray<unknown> = [], name?: string) =>
    Effect.map(
      Effect.promise(() => client.query({ name, text, values: [...values] })),
      ({ rows }) => rows
    )

  it.scopedLive("belong to their connection, each under the name that the client has given it", () =>
    Effect.gen(function* () {
      const pool = yield* opened
      const [one, other] = [yield* connection(pool), yield* connection(pool)]
      expect(yield* query(one, "select $1::int + 1 as n", [1], "next")).toEqual([{ n: 2 }])
      expect(yield* query(other, "select $1::int + 10 as n", [1], "next")).toEqual([{ n: 11 }])
      expect(yield* query(one, "select $1::int + 1 as n", [2], "next")).toEqual([{ n: 3 }])
      expect(yield* query(other, "select $1::int + 10 as n", [2], "next")).toEqual([{ n: 12 }])
      expect(yield* query(one, "select count(*)::int as n from pg_prepared_statements")).toEqual([{ n: 2 }])
      for (const client of [one, other]) client.release()
    })
  )

  it.scopedLive("end with their connection, also one that leaves in a failed transaction", () =>
    Effect.gen(function* () {
      const pool = yield* opened
      const [idle, failed, left] = [yield* connection(pool), yield* connection(pool), yield* connection(pool)]
      yield* query(idle, "select 1", [], "one")
      yield* query(failed, "begin")
      yield* query(failed, "select 1", [], "one")
      yield* Effect.flip(Effect.tryPromise(() => failed.query({ name: "two", text: "select 1 / 0" })))
      yield* Effect.flip(Effect.tryPromise(() => failed.query({ name: "three", text: "select nothing" })))
      idle.release(true)
      failed.release(true)
      yield* query(left, "select 1", [], "one")
      expect(yield* query(left, "select count(*)::int as n from pg_prepared_statements")).toEqual([{ n: 1 }])
      expect(yield* query(left, "select 1 as n", [], "again")).toEqual([{ n: 1 }])
      left.release()
    })
  )
})

describe("the environment of the process", () => {
  afterEach(() => vi.unstubAllEnvs())

  it.scopedLive.each([
    ["PGSSLMODE", "require"],
    ["PGSSLNEGOTIATION", "direct"]
  ] as const)("what it says of other databases does not concern this one: %s=%s", ([name, value]) =>
    Effect.gen(function* () {
      vi.stubEnv(name, value)
      const sql = yield* SqlClient
      expect(yield* sql`select 1 as one`).toEqual([{ one: 1 }])
    }).pipe(Effect.provide(inMemory))
  )
})

describe("closing", () => {
  for (const [name, hinder] of [
    ["a connection is never given back", (pool: Pg.Pool) => pool.connect()],
    ["another owner has ended the pool", (pool: Pg.Pool) => pool.end()]
  ] as const) {
    it.live(
      `ends the thread within ten seconds where ${name}`,
      () =>
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          const { died, pool } = yield* Scope.extend(Embedded.open(null), scope)
          yield* Effect.promise<unknown>(() => hinder(pool))
          yield* Effect.forkDaemon(Scope.close(scope, Exit.void))
          yield* TestClock.adjust("10 seconds")
          expect((yield* Effect.flip(died))._tag).toBe("DatabaseFailed")
        }).pipe(Effect.provide(TestContext.TestContext)),
      20_000
    )
  }
})

describe("the data directory", () => {
  let template: Uint8Array = new Uint8Array(0)
  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), "template-"))
    await writeTemplate(await PGlite.create(), join(directory, "template.tar.gz"))
    template = gunzipSync(await readFile(join(directory, "template.tar.gz")))
    await rm(directory, { recursive: true })
  }, 60_000)

  it.scopedLive(
    "reports when its thread ends on its own, and every query fails",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        yield* Effect.promise(() => prepare(directory, () => Promise.resolve(template)))
        const { died, pool } = yield* Embedded.open(directory)
        yield* Effect.promise(() => pool.query("select 1"))
        const wire = pool.options.stream?.()
        if (!(wire instanceof Wire)) return expect.unreachable("the pool has wires of its own")
        wire.on("error", () => {})
        wire.connect()
        // A start-up message, then one whose length is nonsense: the thread cannot go on.
        wire.write(Buffer.from([0, 0, 0, 8, 0, 3, 0, 0, 0x51, 0x80, 0, 0, 0]))
        expect((yield* Effect.flip(died))._tag).toBe("DatabaseFailed")
        const query = yield* Effect.either(Effect.tryPromise(() => pool.query("select 1")))
        expect(Either.isLeft(query)).toBe(true)
      }),
    60_000
  )

  it.scopedLive(
    "keeps what was written, and is refused to a second opener for as long as the first lives",
    () =>
      Effect.gen(function* () {
        const directory = join(yield* temporaryDirectory, "data")
        yield* within(
          directory,
          Effect.gen(function* () {
            const sql = yield* SqlClient
            yield* sql`create table kept (n int)`
            yield* sql`insert into kept values (7)`
            const second = yield* Effect.either(within(directory, SqlClient))
            expect(Either.isLeft(second) && second.left).toMatchObject({ _tag: "DirectoryInUse", directory })
            expect(Either.isLeft(second) && String(second.left)).toContain(directory)
          })
        )
        const rows = yield* within(
          directory,
          Effect.flatMap(SqlClient, (sql) => sql`select n from kept`)
        )
        expect(rows).toEqual([{ n: 7 }])
      }),
    60_000
  )

  it.scopedLive("is not opened when another version wrote it", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      yield* Effect.promise(() => mkdir(join(directory, "database")))
      const outcome = yield* Effect.either(within(directory, SqlClient))
      expect(Either.isLeft(outcome) && outcome.left._tag).toBe("DatabaseFailed")
      expect(Either.isLeft(outcome) && String(outcome.left)).toContain("no format marker")
    })
  )

  it.scopedLive(
    "of a first start that was killed on the way is built anew, from the template",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        yield* Effect.promise(async () => {
          await mkdir(join(directory, "database.new", "base"), { recursive: true })
          await writeFile(join(directory, "database.new", "PG_VERSION"), "1")
          await prepare(directory, () => Promise.resolve(template))
        })
        expect(yield* Effect.promise(() => readdir(directory))).toEqual(["database"])
        const rows = yield* within(
          directory,
          Effect.flatMap(SqlClient, (sql) => sql`select current_setting('server_version_num')::int / 10000 as version`)
        )
        expect(rows).toEqual([{ version: 18 }])
      }),
    60_000
  )

  it.scopedLive(
    "has the schema of this version at once where it is made from the template, and nothing that is not used",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        const database = yield* Effect.promise(() => prepare(directory, () => Promise.resolve(template)))
        expect(yield* within(directory, Migrations.run)).toEqual([])
        expect(yield* Effect.promise(() => readdir(join(database, "base")))).toHaveLength(1)
      }),
    60_000
  )

  it.scopedLive("begins with little more than the tables of the database, in the template of the build", () =>
    Effect.gen(function* () {
      const database = join(yield* temporaryDirectory, "data")
      const size = yield* Effect.promise(async () => {
        const files = await readdir(await prepare(database), { recursive: true, withFileTypes: true })
        const sizes = files.map(async (file) => (await stat(join(file.parentPath, file.name))).size)
        return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0)
      })
      // a segment of the write-ahead log alone has 16 MB where PostgreSQL chooses
      expect(size).toBeLessThan(16 * 1024 ** 2)
    })
  )

  it.scopedLive(
    "that is damaged is not opened, for the reason that the server gives",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory
        const database = yield* Effect.promise(() => prepare(directory, () => Promise.resolve(template)))
        const log = join(database, "pg_wal")
        yield* Effect.promise(async () => {
          const segments = (await readdir(log)).filter((name) => /^[0-9A-F]{24}$/.test(name))
          await Promise.all(segments.map((name) => rm(join(log, name))))
        })
        const damaged = yield* Effect.either(within(directory, SqlClient))
        expect(Either.isLeft(damaged) && String(damaged.left)).toContain("could not locate a valid checkpoint record")
        yield* Effect.promise(() => writeFile(join(database, "global", "pg_control"), "x".repeat(8_192)))
        const unreadable = yield* Effect.either(within(directory, SqlClient))
        expect(Either.isLeft(unreadable) && String(unreadable.left)).toContain("incompatible with server")
      }),
    60_000
  )

  it.scopedLive("that cannot be made is an error that names it", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryDirectory, "file")
      yield* Effect.promise(() => writeFile(file, ""))
      const outcome = yield* Effect.either(within(join(file, "data"), SqlClient))
      expect(Either.isLeft(outcome) && outcome.left._tag).toBe("DatabaseFailed")
      expect(Either.isLeft(outcome) && String(outcome.left)).toContain(file)
    })
  )
})
