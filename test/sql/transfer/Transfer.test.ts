import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { IdGenerator } from "../../../src/domain/IdGenerator.ts"
import { Timers } from "../../../src/domain/Timers.ts"
import { Ledger, LedgerLayer } from "../../../src/ledger/Ledger.ts"
import { Scopes } from "../../../src/ledger/Scopes.ts"
import { exportTo } from "../../../src/sql/transfer/Export.ts"
import { gatewayTables } from "../../../src/sql/transfer/GatewayTables.ts"
import { importFrom } from "../../../src/sql/transfer/Import.ts"
import { otherTables, tables } from "../../../src/sql/transfer/Tables.ts"
import { type AnyDatabase, databases } from "../../ledger/databases.ts"
import { newCaller, option, settled, voided, wants } from "../../ledger/fixtures.ts"

const dump = Effect.gen(function* () {
  const written: Array<string> = []
  const { leftOut, rows } = yield* exportTo((lines) => Effect.sync(() => void written.push(lines)))
  return { text: written.join(""), rows, leftOut }
})

const linesOf = (text: string) => text.split("\n").slice(0, -1)
const load = (lines: ReadonlyArray<string>) => importFrom(Stream.fromIterable(lines))

/** Everything that a test of the import compares: the rows, without what differs between two dumps of them. */
const rowLines = (text: string) => linesOf(text).slice(1, -1).sort()

/** Calls, an open hold, limits, and values that a careless dump would change. */
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient
  const ledger = yield* Ledger
  const scopes = yield* Scopes
  const caller = yield* newCaller({ credit: 9_007_199_254_740_000, project: 500 })
  for (const end of [settled(100), settled(150, {}, 120), voided]) {
    yield* ledger.settle(yield* ledger.reserve(wants(caller, option(120))), end)
  }
  yield* ledger.flushed
  const hold = yield* ledger.reserve(wants(caller, option(50)))
  yield* ledger.reserve(wants(caller, option(30)))
  // the ceiling is then what was spent and held, and stays when less is
  yield* scopes.setLimit(caller.projectId, 100)
  yield* ledger.settle(hold, settled(10))
  yield* ledger.flushed
  const [userId, keyId] = [randomUUID(), randomUUID()]
  yield* sql`insert into app_user (id, name) values (${userId}, ${'O"Neill \\ \u{1f600}\nsecond line'})`
  yield* sql`insert into account (id, user_id) values (${caller.accountId}, ${userId})`
  yield* sql`insert into project (id, account_id, name, allowed_models, default_alpha)
    values (${caller.projectId}, ${caller.accountId}, 'p', ${["a,b", 'c"d']}, 0.1)`
  yield* sql`insert into api_key (id, hash, key_prefix, name, project_id)
    values (${keyId}, ${Buffer.from(Array.from({ length: 32 }, (_, byte) => byte * 8))}, 'mrg_sk_aaaaa', 'k', ${caller.projectId})`
  yield* sql`insert into idempotent_request (key_id, idempotency_key, run_id, request_hash, state, expires_at, node, headers)
    values (${keyId}, 'i', ${randomUUID()}, ${Buffer.from([0, 255])}, 'running', 'infinity', ${randomUUID()}, '{"a":{"b":[1.50]}}')`
  yield* sql`insert into audit (id, account_id, position, at, action, target_kind, target_id, after, previous_hash, hash)
    values (${randomUUID()}, ${caller.accountId}, 1, now(), 'a', 'b', 'c', ${audited}::json, ${Buffer.alloc(32)},
      ${Buffer.alloc(32, 1)})`
  return { ...caller, keyId }
})

/** Its text is hashed: neither the order of its members nor a digit may change. */
const audited = '{"note":"n","amount_microusd":1.50,"a":[{"z":"\\u00e9","b":null}]}'

const onFresh = (database: AnyDatabase) =>
  LedgerLayer().pipe(Layer.provideMerge(database), Layer.provide(IdGenerator.layer), Layer.provideMerge(Timers.layer))

for (const [from, source] of databases) {
  for (const [to, target] of databases) {
    it.scopedLive(
      `a dump of ${from} is the same database on ${to}, and money goes on from there`,
      () =>
        Effect.gen(function* () {
          const [caller, { rows, text }] = yield* Effect.zip(fill, dump).pipe(Effect.provide(onFresh(source)))
          expect(linesOf(text)).toHaveLength(rows + 2)
          yield* Effect.gen(function* () {
            expect(yield* load(linesOf(text))).toBe(rows)
            expect(rowLines((yield* dump).text)).toEqual(rowLines(text))
            const sql = yield* SqlClient
            expect(
              yield* sql`select ceiling_micro_usd::int as ceiling from scope where id = ${caller.projectId}`
            ).toEqual([{ ceiling: 300 }])
            expect(yield* sql`select after::text from audit`).toEqual([{ after: audited }])
          }).pipe(
            // before anything of the gateway runs on it
            Effect.zipRight(
              Effect.gen(function* () {
                const ledger = yield* Ledger
                expect(yield* ledger.checkInvariants).toEqual([])
                const other = yield* newCaller({ credit: 100 })
                yield* ledger.settle(yield* ledger.reserve(wants(other, option(50))), settled(50))
                yield* ledger.flushed
                expect(yield* ledger.checkInvariants).toEqual([])
              }).pipe(Effect.provide(LedgerLayer()))
            ),
            Effect.provide(target),
            Effect.provide(Layer.provideMerge(IdGenerator.layer, Timers.layer))
          )
        }),
      120_000
    )
  }
}

for (const [name, database] of databases) {
  describe(`an import on ${name}`, () => {
    const reasonOf = (lines: ReadonlyArray<string>) =>
      load(lines).pipe(
        Effect.flip,
        Effect.map((error) => `${error._tag} ${error.message}`)
      )
    const foreign = Effect.flatMap(SqlClient, (sql) =>
      Effect.zipRight(
        sql`create table "Other program" (id int, key uuid references api_key (id))`,
        sql`create table scope_backup as select * from scope`
      )
    )

    it.scopedLive(
      "takes the gateway's tables alone, and leaves those of another program as they are",
      () =>
        Effect.gen(function* () {
          const { leftOut, rows, text } = yield* fill.pipe(
            Effect.zipRight(foreign),
            Effect.zipRight(dump),
            Effect.provide(onFresh(database))
          )
          expect(leftOut).toEqual(["Other program", "scope_backup"])
          yield* Effect.gen(function* () {
            const sql = yield* SqlClient
            yield* foreign
            yield* sql`insert into "Other program" values (1)`
            expect(yield* load(linesOf(text))).toBe(rows)
            expect(yield* sql`select id from "Other program"`).toEqual([{ id: 1 }])
          }).pipe(Effect.provide(database))
        }),
      120_000
    )

    it.scopedLive(
      "is written from a dump that has one large row in memory at a time",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const { keyId } = yield* fill
          yield* sql`insert into idempotent_request (key_id, idempotency_key, run_id, request_hash, state, content_type, answer, expires_at)
            select ${keyId}, n::text, gen_random_uuid(), '', 'finished', 'text/plain', decode(repeat('00', 1048576), 'hex'), 'infinity'
            from generate_series(1, 8) n`
          let longest = 0
          yield* exportTo((lines) =>
            Effect.sync(() => {
              longest = Math.max(longest, lines.length)
            })
          )
          expect(longest).toBeGreaterThan(2 * 1024 * 1024)
          expect(longest).toBeLessThan(2 * 2.1 * 1024 * 1024)
        }).pipe(Effect.provide(onFresh(database))),
      120_000
    )

    it.scopedLive(
      "knows every table of the schema",
      () =>
        Effect.gen(function* () {
          expect(yield* otherTables).toEqual([])
          expect((yield* tables).map(({ name }) => name).sort()).toEqual([...gatewayTables].sort())
        }).pipe(Effect.provide(database)),
      120_000
    )

    const rowsLeft = Effect.flatMap(
      SqlClient,
      (sql) =>
        sql<{ rows: number }>`select (select count(*)::int from scope) + (select count(*)::int from journal) as rows`
    )

    it.scopedLive(
      "writes all of a dump or nothing: not one that is cut, changed, continued or of another version",
      () =>
        Effect.gen(function* () {
          const { text } = yield* Effect.zipRight(fill, dump).pipe(Effect.provide(onFresh(database)))
          const lines = linesOf(text)
          const [header = "", first = "", ...others] = lines
          yield* Effect.gen(function* () {
            expect(yield* reasonOf([])).toContain("its last line is missing")
            expect(yield* reasonOf(lines.slice(0, -1))).toContain("its last line is missing")
            expect(yield* reasonOf([header, ...others])).toContain("its checksum differs")
            expect(
              yield* reasonOf(lines.map((line) => line.replace("9007199254740000", "9007199254740001")))
            ).toContain("its checksum differs")
            expect(yield* reasonOf([...lines, first])).toContain("more after its end")
            expect(yield* reasonOf([header, "{}", ...others])).toContain("line 2 is no row")
            expect(yield* reasonOf(["{}", first, ...others])).toContain("no dump of this gateway")
            expect(yield* reasonOf([header.replace("0001_identity", "0001_other"), first, ...others])).toContain(
              "its schema has 0001_other where that of this version has 0001_identity"
            )
            expect(yield* reasonOf([header.replace(/,"[^"]+"\]/, "]"), first, ...others])).toContain(
              "its schema has nothing more where"
            )
            expect(yield* reasonOf([header, '{"table":"pg_class","row":{}}', ...others])).toContain("TransferFailed")
            expect(yield* rowsLeft).toEqual([{ rows: 0 }])
            yield* load(lines)
            expect(yield* reasonOf(lines)).toContain("only imported into an empty one")
          }).pipe(Effect.provide(database))
        }),
      120_000
    )
  })
}
