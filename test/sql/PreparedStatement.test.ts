import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import Pg from "pg"
import { prepare } from "../../src/sql/PreparedStatement.ts"
import { postgresServer } from "../ledger/databases.ts"

/** A pool of one connection, whose process tells whether it is still the same one. */
const pool = Effect.acquireRelease(
  Effect.sync(() => new Pg.Pool({ connectionString: postgresServer ?? "", max: 1 })),
  (opened) => Effect.promise(() => opened.end())
)

/** Sees and ends other connections. */
const observer = Effect.acquireRelease(
  Effect.promise(async () => {
    const client = new Pg.Client({ connectionString: postgresServer ?? "" })
    await client.connect()
    return client
  }),
  (client) => Effect.promise(() => client.end())
)

const untilSleeping = (client: Pg.Client, pid: number) =>
  Effect.repeat(
    Effect.promise(async () => {
      const { rowCount } = await client.query(
        "select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'",
        [pid]
      )
      return rowCount
    }),
    { until: (sleeping) => sleeping === 1 }
  )

const processOf = (opened: Pg.Pool): Effect.Effect<number> =>
  Effect.promise(async () => {
    const { rows } = await opened.query<{ pid: number }>("select pg_backend_pid() as pid")
    return rows[0]?.pid ?? 0
  })

describe.skipIf(postgresServer === undefined)("a prepared statement", () => {
  it.scopedLive("answers with its rows, and its connection keeps the plan", () =>
    Effect.gen(function* () {
      const opened = yield* pool
      const sum = prepare(opened, { name: "sum", text: "select $1::int + $2::int as sum", timeoutMillis: 5_000 })
      expect(yield* sum([1, 2])).toEqual([{ sum: 3 }])
      expect(yield* sum([3, 4])).toEqual([{ sum: 7 }])
      const kept = yield* Effect.promise(() => opened.query("select name from pg_prepared_statements"))
      expect(kept.rows).toEqual([{ name: "sum" }])
    })
  )

  it.scopedLive("that the server refuses fails with the server's error and keeps its connection", () =>
    Effect.gen(function* () {
      const opened = yield* pool
      const before = yield* processOf(opened)
      const divide = prepare(opened, { name: "divide", text: "select 1 / $1::int as part", timeoutMillis: 5_000 })
      const refused = yield* Effect.flip(divide([0]))
      expect(refused.cause).toMatchObject({ code: "22012" })
      expect(yield* processOf(opened)).toBe(before)
    })
  )

  it.scopedLive("that is not answered in time fails, and its connection is not used again", () =>
    Effect.gen(function* () {
      const opened = yield* pool
      const before = yield* processOf(opened)
      const sleep = prepare(opened, { name: "sleep", text: "select pg_sleep($1)", timeoutMillis: 50 })
      const outcome = yield* Effect.either(sleep([5]))
      expect(Either.isLeft(outcome) && outcome.left.cause).not.toHaveProperty("code")
      expect(yield* processOf(opened)).not.toBe(before)
    })
  )

  it.scopedLive("that is given up while it runs gives its connection up", () =>
    Effect.gen(function* () {
      const opened = yield* pool
      const before = yield* processOf(opened)
      const sleep = prepare(opened, { name: "sleep", text: "select pg_sleep($1)", timeoutMillis: 5_000 })
      const fiber = yield* Effect.fork(sleep([5]))
      yield* untilSleeping(yield* observer, before)
      yield* Fiber.interrupt(fiber)
      expect(yield* processOf(opened)).not.toBe(before)
    })
  )

  it.scopedLive("that is given up while it waits for a connection takes none", () =>
    Effect.gen(function* () {
      const opened = yield* pool
      const taken = yield* Effect.promise(() => opened.connect())
      const one = prepare(opened, { name: "one", text: "select 1 as one", timeoutMillis: 5_000 })
      const fiber = yield* Effect.fork(one([]))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => opened.waitingCount === 1 })
      yield* Fiber.interrupt(fiber)
      taken.release()
      expect(yield* one([])).toEqual([{ one: 1 }])
      expect(opened.totalCount).toBe(1)
    })
  )

  it.scopedLive("fails when its connection is cut under it, and the next one gets another", () =>
    Effect.gen(function* () {
      const opened = yield* pool
      const other = yield* observer
      const victim = yield* processOf(opened)
      const sleep = prepare(opened, { name: "sleep", text: "select pg_sleep($1)", timeoutMillis: 5_000 })
      const fiber = yield* Effect.fork(Effect.either(sleep([5])))
      yield* untilSleeping(other, victim)
      yield* Effect.promise(() => other.query("select pg_terminate_backend($1)", [victim]))
      expect(Either.isLeft(yield* Fiber.join(fiber))).toBe(true)
      expect(yield* processOf(opened)).not.toBe(victim)
    })
  )
})
