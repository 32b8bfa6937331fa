import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { fromSql } from "../../src/sql/StoreErrors.ts"
import { databases } from "../ledger/databases.ts"

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
