import { randomInt } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import Pg from "pg"
import { describe, expect, it } from "vitest"
import { AccountSql } from "../../src/sql/AccountDatabase.ts"
import * as Database from "../../src/sql/Database.ts"
import { PooledClient, type PooledClientConfig } from "../../src/sql/PooledClient.ts"
import { startProxy } from "../support/TcpProxy.ts"

const server = process.env["TEST_DATABASE_URL"]

const kinds = [
  ["embedded", Option.none<Redacted.Redacted<string>>()],
  ...(server === undefined ? [] : [["postgres", Option.some(Redacted.make(server))] as const])
] as const

/** Statements that are interrupted while they run, alone and in a transaction, and others that come at once. */
const interrupted = Effect.gen(function* () {
  const sql = yield* SqlClient
  const slow = Effect.timeoutOption(sql`select pg_sleep(0.2)`, 20)
  const quick = sql<{ one: number }>`select 1 as one`
  for (let n = 0; n < 2; n++) {
    yield* Effect.all([slow, sql.withTransaction(slow), slow], { concurrency: "unbounded" })
    const answers = yield* Effect.all(
      Array.from({ length: 12 }, () => quick),
      { concurrency: "unbounded" }
    )
    expect(answers.flat().map(({ one }) => one)).toEqual(Array.from({ length: 12 }, () => 1))
  }
})

describe.each(kinds)("on %s", (_, url) => {
  it("a client whose statement was interrupted is not used before it is free", async () => {
    const warnings: Array<string> = []
    const warned = (warning: Error) => warnings.push(warning.message)
    process.on("warning", warned)
    await Effect.runPromise(
      Effect.provide(interrupted, Database.layerUnmigrated({ url, dataDir: ":memory:", maxConnections: 3 }))
    )
    await new Promise((resolve) => setImmediate(resolve))
    process.off("warning", warned)
    expect(warnings).toEqual([])
  })
})

/** The server of the tests behind a proxy. */
const proxied = async () => {
  const target = new URL(server ?? "")
  const proxy = await startProxy({ host: target.hostname, port: Number(target.port || "5432") })
  target.hostname = "127.0.0.1"
  target.port = String(proxy.port)
  return { address: target.href, proxy }
}

describe.skipIf(server === undefined)("on a PostgreSQL server", () => {
  it("a program that is interrupted closes its connections", async () => {
    const connected = await Effect.runPromise(Deferred.make<number>())
    const program = Effect.gen(function* () {
      const sql = yield* SqlClient
      const [row] = yield* sql<{ pid: number }>`select pg_backend_pid() as pid`
      yield* Deferred.succeed(connected, row?.pid ?? 0)
      return yield* Effect.never
    })
    const url = Option.some(Redacted.make(server ?? ""))
    const fiber = Effect.runFork(Effect.provide(program, Database.layerUnmigrated({ url, dataDir: ":memory:" })))
    const pid = await Effect.runPromise(Deferred.await(connected))
    await Effect.runPromise(Fiber.interrupt(fiber))
    const other = new Pg.Client({ connectionString: server })
    await other.connect()
    const open = async () => (await other.query("select from pg_stat_activity where pid = $1", [pid])).rowCount
    // sooner than the pool closes what is idle
    await expect.poll(open, { timeout: 5_000 }).toBe(0)
    await other.end()
  })

  it("statements run with the settings that they are written for, on every connection, whatever the server has", async () => {
    const needed = {
      jit: "off",
      DateStyle: "ISO, DMY",
      extra_float_digits: "1",
      default_transaction_isolation: "read committed"
    }
    const others = ["jit=on", "datestyle=SQL,DMY", "extra_float_digits=0", "default_transaction_isolation=serializable"]
    const names = Object.keys(needed)
    const settings = Effect.gen(function* () {
      const show = (sql: SqlClient) =>
        Effect.replicateEffect(
          sql<{ set: Record<string, string> }>`
            select pg_sleep(0.05), (select json_object_agg(name, setting) from pg_settings where ${sql.in("name", names)})
              as set`,
          3
        )
      const both = [yield* SqlClient, yield* AccountSql].map(show)
      const rows = yield* Effect.all(both.map(Effect.map((found) => found.flat())), { concurrency: "unbounded" })
      return rows.flat().map(({ set }) => set)
    })
    const address = new URL(server ?? "")
    address.searchParams.set("options", others.map((setting) => `-c ${setting}`).join(" "))
    const url = Option.some(Redacted.make(address.href.replaceAll("+", "%20")))
    const found = await Effect.runPromise(
      Effect.provide(settings, Database.layerUnmigrated({ url, dataDir: ":memory:", maxConnections: 3 }))
    )
    expect(found).toEqual(found.map(() => needed))
  })
})

/** A lock that a connection of its own has, which tells when others wait for it. */
const lockedElsewhere = async () => {
  const holder = new Pg.Client(server)
  await holder.connect()
  const id = randomInt(2 ** 31)
  await holder.query("select pg_advisory_lock($1)", [id])
  const isWaitedFor = async () => {
    const { rows } = await holder.query(
      "select from pg_locks where not granted and locktype = 'advisory' and objid = $1",
      [id]
    )
    return rows.length > 0
  }
  return {
    waiting: `select pg_advisory_xact_lock(${id})`,
    waitedFor: () => expect.poll(isWaitedFor).toBe(true),
    unlock: () => holder.query("select pg_advisory_unlock($1)", [id]),
    end: () => holder.end()
  }
}

describe.skipIf(server === undefined)("an interrupted statement on a PostgreSQL server", () => {
  it("is cancelled, alone and in a transaction, though every connection of the pool is taken", async () => {
    const { end, waitedFor, waiting } = await lockedElsewhere()
    const asked = Effect.gen(function* () {
      const sql = yield* SqlClient
      for (const wait of [sql.unsafe(waiting), sql.withTransaction(sql.unsafe(waiting))]) {
        const fiber = yield* Effect.fork(wait)
        yield* Effect.promise(waitedFor)
        yield* Fiber.interrupt(fiber)
        expect(yield* sql<{ one: number }>`select 1 as one`).toEqual([{ one: 1 }])
      }
    })
    const url = Option.some(Redacted.make(server ?? ""))
    const options = { url, dataDir: ":memory:", maxConnections: 1, statementTimeoutMillis: 600_000 }
    await Effect.runPromise(Effect.provide(asked, Database.layerUnmigrated(options))).finally(end)
  })

  /** A pool whose one client was released with a statement that has ended since, while the request to cancel it is on its way. */
  const endedBeforeRequest = async (more: PooledClientConfig = {}) => {
    const { address, proxy } = await proxied()
    const { end, unlock, waitedFor, waiting } = await lockedElsewhere()
    const config: Pg.PoolConfig & PooledClientConfig = {
      Client: PooledClient,
      connectionString: address,
      max: 1,
      cancelAfterMillis: 0,
      ...more
    }
    const pool = new Pg.Pool(config)
    pool.on("error", () => {})
    const client = await pool.connect()
    const statement = client.query(waiting)
    await waitedFor()
    proxy.set("stallNew")
    client.release()
    await expect.poll(proxy.accepted).toBe(2)
    await unlock()
    await statement
    return { pool, proxy, stop: () => Promise.all([pool.end(), end(), proxy.stop()]) }
  }

  it("that ends before the request to cancel it arrives keeps its connection until then", async () => {
    const { pool, proxy, stop } = await endedBeforeRequest()
    const next = pool.query("select 1 as one")
    expect([pool.waitingCount, pool.idleCount]).toEqual([1, 0])
    proxy.set("pass")
    expect((await next).rows).toEqual([{ one: 1 }])
    await stop()
  })

  it("leaves its place in the pool to others where the request to cancel it is not answered", async () => {
    const { pool, proxy, stop } = await endedBeforeRequest({ maxAbandonedMillis: 200 })
    await expect.poll(() => pool.totalCount).toBe(0)
    proxy.set("pass")
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }])
    await stop()
  })
})

describe.skipIf(server === undefined)("on a PostgreSQL server that no longer answers", () => {
  it("statements of the account API fail, and its connections are replaced when it answers again", {
    timeout: 60_000
  }, async () => {
    const { address, proxy } = await proxied()
    const asked = Effect.gen(function* () {
      const sql = yield* AccountSql
      const one = sql<{ one: number }>`select 1 as one`
      // more than there are connections, and each of them more than once
      const all = Effect.all(
        Array.from({ length: 6 }, () => Effect.exit(sql.withTransaction(Effect.zipRight(one, one)))),
        { concurrency: "unbounded" }
      )
      const tags = Effect.map(all, (answers) => [...new Set(answers.map(({ _tag }) => _tag))])
      expect(yield* tags).toEqual(["Success"])
      proxy.set("stall")
      // nobody waits for the response any more, and nobody listens to the connection
      yield* Effect.timeoutOption(one, 50)
      expect(yield* Effect.timeout(tags, 20_000)).toEqual(["Failure"])
      proxy.set("cut")
      proxy.set("pass")
      expect(yield* tags).toEqual(["Success"])
    })
    const url = Option.some(Redacted.make(address))
    await Effect.runPromise(Effect.provide(asked, Database.layerUnmigrated({ url, dataDir: ":memory:" })))
    await proxy.stop()
  })

  it("a connection that breaks after its statement was interrupted does not end the process", {
    timeout: 60_000
  }, async () => {
    const { address, proxy } = await proxied()
    const thrown: Array<Error> = []
    const caught = (error: Error) => thrown.push(error)
    const asked = Effect.gen(function* () {
      const sql = yield* SqlClient
      const one = sql<{ one: number }>`select 1 as one`
      yield* one
      proxy.set("stall")
      yield* Effect.timeoutOption(one, 50)
      proxy.set("cut")
      proxy.set("pass")
      // on a new connection, whose handshake comes after the end of the other
      expect(yield* one).toEqual([{ one: 1 }])
    })
    const url = Option.some(Redacted.make(address))
    const listeners = process.listeners("uncaughtException")
    process.removeAllListeners("uncaughtException").on("uncaughtException", caught)
    await Effect.runPromise(Effect.provide(asked, Database.layerUnmigrated({ url, dataDir: ":memory:" }))).finally(
      () => {
        process.removeAllListeners("uncaughtException")
        for (const listener of listeners) process.on("uncaughtException", listener)
      }
    )
    expect(thrown).toEqual([])
    await proxy.stop()
  })

  it("a connection whose statement was abandoned is given up, and leaves its place in the pool", {
    timeout: 60_000
  }, async () => {
    const { address, proxy } = await proxied()
    const config: Pg.PoolConfig & PooledClientConfig = {
      Client: PooledClient,
      connectionString: address,
      max: 1,
      maxAbandonedMillis: 100
    }
    const pool = new Pg.Pool(config)
    pool.on("error", () => {})
    const client = await pool.connect()
    proxy.set("stall")
    client.query("select 1").catch(() => {})
    client.release()
    expect(pool.totalCount).toBe(1)
    await expect.poll(() => pool.totalCount, { timeout: 10_000 }).toBe(0)
    await pool.end()
    await proxy.stop()
  })
})
