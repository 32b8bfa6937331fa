import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { AccountSql, AccountTransactions } from "../../src/sql/AccountDatabase.ts"
import { type Change, ChangeNotifications } from "../../src/sql/ChangeNotifications.ts"
import * as Database from "../../src/sql/Database.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { databases, Heard, node, sharedDatabases, told } from "../identity/keys/Nodes.ts"
import { freshDatabase } from "../ledger/databases.ts"
import { logTo } from "../support/LogLines.ts"
import { startProxy } from "../support/TcpProxy.ts"

const change: Change = { kind: "project", id: "00000000-0000-4000-8000-000000000001" }
const other: Change = { kind: "configurations", id: "00000000-0000-4000-8000-000000000002" }

/** A fresh database behind a proxy. */
const proxied = Effect.gen(function* () {
  const target = new URL(yield* freshDatabase(process.env["TEST_DATABASE_URL"] ?? ""))
  const proxy = yield* Effect.acquireRelease(
    Effect.promise(() => startProxy({ host: target.hostname, port: Number(target.port || "5432") })),
    (started) => Effect.promise(started.stop)
  )
  target.hostname = "127.0.0.1"
  target.port = String(proxy.port)
  return { address: target.href, proxy }
})

/** Real time: a database answers. */
const until = (isSo: () => boolean) => Effect.repeat(Effect.sleep(5), { until: () => isSo(), times: 2_000 })

const commit = <A, E>(write: Effect.Effect<A, E>, announced: Change = change) =>
  Effect.flatMap(ChangeNotifications, (changes) =>
    changes.commit((announce) => Effect.zipRight(announce(announced), write))
  )

describe.each(databases)("changes on %s", (_, database) => {
  it.scopedLive("are known to this node before the write returns, and only after it is done", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      yield* Effect.gen(function* () {
        const heard = yield* Heard
        yield* told(undefined)
        const during = yield* commit(Queue.takeAll(heard))
        expect([...during]).toEqual([])
        expect([...(yield* Queue.takeAll(heard))]).toContainEqual(change)
      }).pipe(Effect.provide(context))
    })
  )

  it.scopedLive("are known to have been heard up to a time that goes on", () =>
    Effect.gen(function* () {
      const timers = VirtualTimers.make()
      const context = yield* Layer.build(node(yield* database, timers))
      const { heardAtMillis } = Context.get(context, ChangeNotifications)
      yield* Effect.provide(told(undefined), context)
      yield* until(() => heardAtMillis() === timers.now())
      timers.advance(3_000)
      yield* until(() => heardAtMillis() === timers.now())
    })
  )

  it.scopedLive("are written together or not at all", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient
        yield* sql`create table if not exists written (id int primary key)`
        yield* sql`truncate written`
        const failed = yield* Effect.flip(
          commit(Effect.zipRight(sql`insert into written values (1)`, Effect.fail("no")))
        )
        expect(failed).toBe("no")
        expect(yield* sql`select id from written`).toEqual([])
        const refused = yield* Effect.flip(
          commit(Effect.zipRight(sql`insert into written values (2)`, sql`insert into written values (2)`))
        )
        expect(refused).toMatchObject({ _tag: "StoreUnavailable" })
        expect(yield* sql`select id from written`).toEqual([])
      }).pipe(Effect.provide(context))
    })
  )

  it.scopedLive("that fail only at the very end are an unavailable store, and may have happened", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient
        const heard = yield* Heard
        yield* sql`create table if not exists late (id int, constraint late_once unique (id) deferrable initially deferred)`
        yield* sql`truncate late`
        yield* sql`insert into late values (1)`
        yield* told(undefined)
        const failed = yield* Effect.flip(commit(sql`insert into late values (1)`))
        expect(failed).toMatchObject({ _tag: "StoreUnavailable" })
        expect([...(yield* Queue.takeAll(heard))]).toContainEqual(change)
      }).pipe(Effect.provide(context))
    })
  )

  it.scopedLive("of a commit inside another one, of either client, are written and heard with the outer one", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(AccountTransactions.layer.pipe(Layer.provideMerge(node(yield* database))))
      yield* Effect.gen(function* () {
        const heard = yield* Heard
        const accountSql = yield* AccountSql
        const sql = yield* SqlClient
        const transactions = yield* AccountTransactions
        yield* sql`create table if not exists nested (id int primary key)`
        yield* sql`truncate nested`
        yield* told(undefined)
        const inner = transactions.commit((announce) =>
          Effect.zipRight(announce(other), accountSql`insert into nested values (1)`)
        )
        const nested = Effect.gen(function* () {
          yield* sql`insert into nested values (2)`
          yield* inner
          return [yield* sql`select id from nested order by id`, [...(yield* Queue.takeAll(heard))]] as const
        })

        expect(yield* Effect.flip(commit(Effect.zipRight(nested, Effect.fail("no"))))).toBe("no")
        expect(yield* sql`select id from nested`).toEqual([])
        yield* Queue.takeAll(heard)

        const [seen, during] = yield* commit(nested)
        expect(seen).toEqual([{ id: 1 }, { id: 2 }])
        expect(during).toEqual([])
        const after = [...(yield* Queue.takeAll(heard))]
        expect(after).toContainEqual(change)
        expect(after).toContainEqual(other)
        expect(yield* sql`select id from nested order by id`).toEqual([{ id: 1 }, { id: 2 }])
      }).pipe(Effect.provide(context))
    })
  )
})

describe.each(sharedDatabases)("changes of several nodes on %s", (_, database) => {
  it.scopedLive("are heard by the others with the commit, and not when it is rolled back", () =>
    Effect.gen(function* () {
      const layer = yield* database
      const here = yield* Layer.build(node(layer))
      const there = yield* Layer.build(node(layer))
      yield* Effect.provide(told(undefined), there)
      yield* Effect.exit(Effect.provide(commit(Effect.fail("no")), here))
      yield* Effect.provide(commit(Effect.void, other), here)
      // Notifications keep their order: nothing came before this one.
      expect(yield* Effect.provide(Effect.flatMap(Heard, Queue.take), there)).toEqual(other)
    })
  )

  it.scopedLive("are heard again after the listening connection has been lost, which is said in between", () =>
    Effect.gen(function* () {
      const layer = yield* database
      const here = yield* Layer.build(node(layer))
      const there = yield* Layer.build(node(layer))
      yield* Effect.provide(Effect.zipRight(told(undefined), Effect.flatMap(Heard, Queue.takeAll)), there)
      const lost = yield* Effect.flatMap(
        SqlClient,
        (sql) => sql`
          select pg_terminate_backend(pid) as ended from pg_stat_activity
          where datname = current_database() and query ilike 'listen%'`
      ).pipe(Effect.provide(here))
      expect(lost).toEqual([{ ended: true }, { ended: true }])
      yield* Effect.provide(commit(Effect.void, other), here)
      // Whatever was missed meanwhile: the first thing to be heard is that something may have been.
      expect(yield* Effect.provide(Effect.flatMap(Heard, Queue.take), there)).toBeUndefined()
      yield* Effect.provide(commit(Effect.void), here)
      yield* Effect.provide(told(change), there)
    })
  )

  it.scopedLive("are not known to have been heard while the listening connection is dead", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const timers = VirtualTimers.make()
      const { address, proxy } = yield* proxied
      const layer = Database.layerUnmigrated({ url: Option.some(Redacted.make(address)), dataDir: "" })
      const context = yield* Layer.build(Layer.provide(node(layer, timers), logTo(lines)))
      const { heardAtMillis } = Context.get(context, ChangeNotifications)
      yield* until(() => heardAtMillis() === timers.now())
      const before = timers.now()
      proxy.set("stall")
      timers.advance(3_000)
      yield* until(() => lines.some((line) => line.includes("no change notifications from other nodes")))
      expect(heardAtMillis()).toBe(before)
      proxy.set("cut")
      proxy.set("pass")
      yield* until(() => heardAtMillis() === timers.now())
    })
  )

  it.scopedLive("of a kind that this version does not know may concern anything", () =>
    Effect.gen(function* () {
      const layer = yield* database
      const here = yield* Layer.build(node(layer))
      yield* Effect.gen(function* () {
        const heard = yield* Heard
        yield* told(undefined)
        yield* Queue.takeAll(heard)
        const sql = yield* SqlClient
        yield* sql`select pg_notify('gateway_changes', 'colour:7')`
        expect(yield* Queue.take(heard)).toBeUndefined()
      }).pipe(Effect.provide(here))
    })
  )

  it.scopedLive("end with the node: its connections are closed", () =>
    Effect.gen(function* () {
      const layer = yield* database
      const watcher = yield* Layer.build(layer)
      yield* Effect.scoped(
        Effect.flatMap(Layer.build(node(layer)), (context) => Effect.provide(told(undefined), context))
      )
      const listening = yield* Effect.flatMap(
        SqlClient,
        (sql) => sql`select pid from pg_stat_activity where datname = current_database() and query ilike '%listen%'
          and pid <> pg_backend_pid()`
      ).pipe(Effect.provide(watcher))
      expect(listening).toEqual([])
    })
  )

  it.scopedLive(
    "end with a node whose life is shorter than the making of its connection",
    () =>
      Effect.gen(function* () {
        const layer = yield* database
        const watcher = yield* Layer.build(layer)
        const connections = Effect.flatMap(
          SqlClient,
          (sql) => sql<{ readonly open: number }>`select count(*)::int as open from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`
        ).pipe(
          Effect.map(([row]) => row?.open ?? 0),
          Effect.provide(watcher)
        )
        // the watcher's own, of which an idle one may end meanwhile
        const before = yield* connections
        for (const millis of Array.from({ length: 40 }, (_, at) => at % 8)) {
          yield* Effect.scoped(Effect.zipRight(Layer.build(node(layer)), Effect.sleep(millis)))
        }
        yield* Effect.repeat(connections, {
          until: (open) => open <= before,
          times: 500,
          schedule: Schedule.spaced(10)
        })
        expect(yield* connections).toBeLessThanOrEqual(before)
      }),
    60_000
  )
})
