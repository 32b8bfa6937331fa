import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import * as Database from "../../src/sql/Database.ts"

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
