import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as TestClock from "effect/TestClock"
import Pg from "pg"
import { outageOf, reasonOf } from "../../src/sql/DatabaseError.ts"
import { FailedStatements } from "../../src/sql/FailedStatements.ts"
import { PooledClient } from "../../src/sql/PooledClient.ts"
import { fromSql } from "../../src/sql/StoreErrors.ts"
import { databases } from "../ledger/databases.ts"
import { fromMessage, logTo } from "../support/LogLines.ts"

describe.each(databases)("errors of statements, on %s", (_, database) => {
  it.scopedLive("a value that the database refuses is a defect, and no database that cannot be reached", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const ended = (statement: Effect.Effect<unknown, unknown>) => Effect.exit(fromSql(statement))
      for (const statement of [
        sql`select ${"nothing"}::uuid`,
        sql`select ${"a\0b"}::text`,
        sql`select ${"1e300"}::bigint`,
        sql`insert into scope (kind, id, limit_micro_usd) values ('project', ${"00000000-0000-7000-8000-000000000001"}, ${-1})`
      ]) {
        const exit = yield* ended(statement)
        expect(Exit.isFailure(exit) && Cause.isDie(exit.cause) && Cause.pretty(exit.cause)).toContain(
          "a value that the database does not take"
        )
      }
      const exit = yield* ended(sql`select * from no_such_table`)
      expect(exit).toMatchObject({ cause: { error: { _tag: "StoreUnavailable" } } })
    }).pipe(Effect.provide(database))
  )
})

describe.each(databases)("a transaction on %s", (_, database) => {
  it.scopedLive("whose commit fails is a database that cannot be used, and no defect", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient
      yield* sql`create table late (n int, constraint one unique (n) deferrable initially deferred)`
      const exit = yield* Effect.exit(fromSql(sql.withTransaction(sql`insert into late values (1), (1)`)))
      expect(exit).toMatchObject({ cause: { _tag: "Fail", error: { _tag: "StoreUnavailable" } } })
      yield* sql`drop table late`
    }).pipe(Effect.provide(database))
  )
})

describe("statements that fail because of the database", () => {
  const failing = (code: string) =>
    Effect.fail(
      new SqlError({ message: "Failed to execute statement", cause: Object.assign(new Error("why"), { code }) })
    )

  it.effect("are logged with the reason and what to do, of each kind once a minute", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const ask = (code: string) => Effect.exit(fromSql(failing(code)))
      for (const code of ["53100", "53100", "53300", "53100", "53300"]) yield* ask(code)
      expect(lines).toHaveLength(2)
      expect(lines[0]).toContain("why (SQLSTATE 53100): its disk is full; free space there")
      expect(lines[1]).toContain("why (SQLSTATE 53300): all processes together open more connections than it allows")
      yield* TestClock.adjust("1 minute")
      yield* ask("53100")
      expect(lines).toHaveLength(3)
      expect(lines[2]).toContain("furtherSinceLastLine=2")
    }).pipe(Effect.provideService(FailedStatements, FailedStatements.make()), Effect.provide(logTo(lines, fromMessage)))
  })
})

describe("what the operator reads of an outage", () => {
  const error = (message: string, code?: string) =>
    Object.assign(new Error(message), code === undefined ? {} : { code })

  it.each([
    [
      "disk_full",
      error('could not extend file "base/5/16": No space left on device', "53100"),
      "its disk is full; free"
    ],
    ["too_many_connections", error("sorry, too many clients already", "53300"), "lower DATABASE_POOL_SIZE"],
    ["read_only", error("cannot execute INSERT in a read-only transaction", "25006"), "after a failover DATABASE_URL"],
    ["starting", error("the database system is starting up", "57P03"), "wait until it takes connections"],
    ["starting", error("terminating connection due to administrator command", "57P01"), "SQLSTATE 57P01"],
    [
      "access_denied",
      error('password authentication failed for user "gateway"', "28P01"),
      "correct user and password of"
    ],
    ["delayed", error("canceling statement due to statement timeout", "57014"), "it took too long"],
    ["unreachable", error("connect ECONNREFUSED 10.0.0.1:5432", "ECONNREFUSED"), "nothing listens there; start the"],
    ["unreachable", error("getaddrinfo ENOTFOUND db.example.com", "ENOTFOUND"), "the name of its host cannot be"],
    ["unreachable", error("Connection terminated unexpectedly"), "the server, or what is between, has closed"],
    ["unreachable", error("timeout expired"), "no connection in time"],
    ["unreachable", error("Query read timeout"), "no answer in time"],
    ["failed", error("could not read block 7", "XX001"), "SQLSTATE XX001"]
  ] as const)("is %s, with its reason", (outage, cause, reason) => {
    expect(outageOf(cause)).toBe(outage)
    expect(reasonOf(cause)).toContain(`${cause.message}`)
    expect(reasonOf(cause)).toContain(reason)
  })

  it("is a connection that was not made in time, where the server takes it and says nothing", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1")
    await once(silent, "listening")
    const { port } = silent.address() as AddressInfo
    const pool = new Pg.Pool({ host: "127.0.0.1", port, Client: PooledClient, connectionTimeoutMillis: 20 })
    const failure = await pool.connect().then(
      () => "connected",
      (cause: unknown) => reasonOf(new SqlError({ cause }))
    )
    await pool.end()
    silent.close()
    expect(failure).toContain("no connection in time; look at host and port")
  })

  it("says of a disk that is full at the start of the embedded database what to do", () => {
    const said = 'could not write to file "pg_logical/replorigin_checkpoint.tmp": No space left on device'
    expect(reasonOf(error(said))).toBe(`${said}: its disk is full; free space there`)
    expect(reasonOf(error("ENOSPC: no space left on device, write"))).toContain("its disk is full")
  })
})
