import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { microUsd } from "../../src/domain/Money.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { usage } from "../../src/domain/Usage.ts"
import * as InvariantCheck from "../../src/ledger/InvariantCheck.ts"
import { InvariantCheckStore, type InvariantCheckStoreShape } from "../../src/ledger/InvariantCheckStore.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import * as RecoveryStore from "../../src/ledger/RecoveryStore.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { databases } from "./databases.ts"
import { newCaller, option, settled, voided, wants } from "./fixtures.ts"

const maxCallSeconds = 3_600

for (const [name, database] of databases) {
  describe(`the check of the ledger's invariants on ${name}`, () => {
    const services = Layer.merge(LedgerLayer(), InvariantCheckStore.layer(maxCallSeconds)).pipe(
      Layer.provideMerge(database),
      Layer.provide(IdGenerator.layer),
      Layer.provideMerge(Timers.layer)
    )
    layer(services, { timeout: 60_000, excludeTestServices: true })((it) => {
      const checkNow = Effect.gen(function* () {
        const store = yield* InvariantCheckStore
        yield* InvariantCheck.run(store, yield* Timers)
        return (yield* store.summary).violations
      })

      const ageJournal = Effect.gen(function* () {
        const sql = yield* SqlClient
        yield* sql`alter table journal disable trigger journal_append_only`
        yield* sql`update journal set at = at - interval '10 minutes'`
        yield* sql`alter table journal enable trigger journal_append_only`
      })

      /** Ten minutes go by after everything so far; no hold is open. */
      const tenMinutesLater = Effect.gen(function* () {
        const sql = yield* SqlClient
        yield* sql`update hold set created_at = created_at - interval '10 minutes'`
        yield* sql`update ledger_check set holds_through = holds_through - interval '10 minutes'`
        yield* sql`update open_holds set since = now() - interval '5 minutes'`
        yield* ageJournal
      })

      const calls = Effect.gen(function* () {
        const ledger = yield* Ledger
        const caller = yield* newCaller({ credit: 1_000, project: 900 })
        for (const charge of [10, 20, 30]) {
          const parts = {
            prices: '{"input":1000000,"output":0}',
            usage: usage({ inputTokens: charge }),
            failedUsage: [{ usage: usage({ inputTokens: 3 }), cost: microUsd(3) }]
          }
          yield* ledger.settle(yield* ledger.reserve(wants(caller, option(100))), settled(charge, parts))
        }
        yield* ledger.settle(yield* ledger.reserve(wants(caller, option(100))), voided)
        yield* ledger.settle(yield* ledger.reserve(wants(caller, option(100))), settled(150, {}, 100))
        yield* ledger.flushed
        return caller
      })

      it.effect("finds nothing wrong, before, while and after calls are summed up", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          expect(yield* checkNow).toEqual({})
          const caller = yield* calls
          expect(yield* checkNow).toEqual({})
          yield* tenMinutesLater
          const open = yield* ledger.reserve(wants(caller, option(100)))
          expect(yield* checkNow).toEqual({})
          expect(
            yield* sql`select spent_micro_usd::int as spent from ledger_scope_base where scope_id = ${caller.keyId}`
          ).toEqual([{ spent: 160 }])
          yield* ledger.settle(open, settled(7))
          yield* ledger.flushed
          expect(yield* checkNow).toEqual({})
        })
      )

      it.effect("sums up past a call that lasts, and that call once it has ended", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000, project: 900 })
          const long = yield* ledger.reserve(wants(caller, option(100)))
          yield* ledger.settle(yield* ledger.reserve(wants(caller, option(100))), settled(10))
          yield* ledger.flushed
          const summed = Effect.map(
            sql<{ readonly spent: number }>`
              select spent_micro_usd::int as spent from ledger_scope_base where scope_id = ${caller.keyId}`,
            ([row]) => row?.spent
          )
          yield* tenMinutesLater
          expect(yield* checkNow).toEqual({})
          expect(yield* summed).toBe(10)
          expect(yield* ledger.checkInvariants).toEqual([])
          yield* ledger.settle(long, settled(7))
          yield* ledger.flushed
          expect(yield* checkNow).toEqual({})
          expect(yield* summed).toBe(17)
          expect(yield* sql`select id from unsummed_hold`).toEqual([])
          expect(yield* checkNow).toEqual({})
          expect(yield* ledger.checkInvariants).toEqual([])
        })
      )

      it.effect("finds a wrong charge of a call that was open when the calls around it were checked", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000 })
          const long = yield* ledger.reserve(wants(caller, option(100)))
          yield* tenMinutesLater
          expect(yield* checkNow).toEqual({})
          yield* ledger.settle(long, settled(7))
          yield* ledger.flushed
          const wrong = yield* Effect.either(
            sql.withTransaction(
              sql`update call set cost_micro_usd = 8 where id = ${long.callId}`.pipe(
                // not found by what checks rows again
                Effect.zipRight(sql`update ledger_check set holds_again = 'infinity'`),
                Effect.zipRight(checkNow),
                Effect.flatMap((violations) => Effect.fail(Object.keys(violations).sort()))
              )
            )
          )
          expect(wrong).toMatchObject({ left: ["call_cost"] })
          expect(yield* checkNow).toEqual({})
        })
      )

      it.effect.each([
        [
          "a changed charge",
          "update hold set actual_micro_usd = 11 where actual_micro_usd = 10",
          ["call_cost", "call_price", "journal_charge"]
        ],
        ["changed usage", "update call set input_tokens = input_tokens - 1 where cost_micro_usd = 20", ["call_price"]],
        [
          "changed prices",
          `update call set prices = '{"input":2000000,"output":0}' where cost_micro_usd = 20`,
          ["call_price"]
        ],
        [
          "a changed cost of a failed attempt",
          "update attempt set provider_cost_micro_usd = 4 where provider_cost_micro_usd = 3",
          ["absorbed"]
        ],
        ["a lost call row", "delete from call where cost_micro_usd = 20", ["call_row"]],
        [
          "a changed cost",
          "update call set cost_micro_usd = 31 where cost_micro_usd = 30",
          ["attempt_cost", "call_cost"]
        ],
        ["a changed sum", "update scope set spent_micro_usd = spent_micro_usd + 1 where kind = 'key'", ["scope_sums"]],
        [
          "a changed balance",
          "update scope set limit_micro_usd = limit_micro_usd + 1 where kind = 'account'",
          ["account_credit"]
        ],
        [
          "a project above its limit",
          "update scope set spent_micro_usd = spent_micro_usd + 900 where kind = 'project'",
          ["scope_limit", "scope_sums"]
        ],
        [
          "a charge without a hold",
          "insert into journal (kind, debit, credit, amount_micro_usd, call_id, at) values ('usage', 'account:x', 'revenue', 1, gen_random_uuid(), now() - interval '5 minutes')",
          ["journal_hold"]
        ]
      ] as const)(
        "finds %s, in what is new and in what was checked before, until it is right again",
        ([, change, names]) =>
          Effect.gen(function* () {
            const sql = yield* SqlClient
            yield* calls
            yield* tenMinutesLater
            const isNew = yield* Effect.either(
              sql.withTransaction(
                sql.unsafe(change).pipe(
                  Effect.zipRight(checkNow),
                  Effect.flatMap((violations) => Effect.fail(Object.keys(violations).sort()))
                )
              )
            )
            expect(isNew).toMatchObject({ left: expect.arrayContaining([...names]) })
            expect(yield* checkNow).toEqual({})
            const isOld = yield* Effect.either(
              sql.withTransaction(
                sql.unsafe(change).pipe(
                  Effect.zipRight(checkNow),
                  Effect.zipRight(checkNow),
                  Effect.flatMap((violations) => Effect.fail(Object.keys(violations).sort()))
                )
              )
            )
            expect(isOld).toMatchObject({ left: expect.arrayContaining([...names]) })
            expect(yield* checkNow).toEqual({})
          })
      )

      it.effect("finds an entry of the journal that was written later than those that follow it", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const entry = (age: string) =>
            sql.unsafe(`insert into journal (kind, debit, credit, amount_micro_usd, call_id, at)
              values ('usage', 'account:x', 'revenue', 1, gen_random_uuid(), now() - interval '${age}')`)
          const found = yield* Effect.flip(
            sql.withTransaction(
              Effect.gen(function* () {
                yield* entry("0")
                yield* entry("5 minutes")
                const tooEarly = yield* checkNow
                yield* ageJournal
                return yield* Effect.fail([tooEarly, yield* checkNow])
              })
            )
          )
          expect(found).toEqual([{}, { journal_hold: 2 }])
        })
      )

      it.effect("remembers a violation until the row is right again", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const caller = yield* calls
          yield* sql`update scope set held_micro_usd = 5 where id = ${caller.keyId}`
          expect(yield* checkNow).toEqual({ scope_sums: 1 })
          expect(yield* checkNow).toEqual({ scope_sums: 1 })
          yield* sql`update scope set held_micro_usd = 0 where id = ${caller.keyId}`
          expect(yield* checkNow).toEqual({})
          const raise = (column: string, amount: number) =>
            sql.unsafe(`update scope set ${column} = ${column} + $1 where id = $2`, [amount, caller.projectId])
          yield* raise("spent_micro_usd", 900)
          expect(yield* checkNow).toEqual({ scope_limit: 1, scope_sums: 1 })
          yield* raise("ceiling_micro_usd", 900)
          expect(yield* checkNow).toEqual({ scope_sums: 1 })
          yield* raise("spent_micro_usd", -900)
          yield* raise("ceiling_micro_usd", -900)
          expect(yield* checkNow).toEqual({})
        })
      )

      it.effect("finds a hold that is open for longer than a call may take, and says how old the oldest is", () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000 })
          const hold = yield* ledger.reserve(wants(caller, option(100)))
          expect(yield* checkNow).toEqual({})
          const sql = yield* SqlClient
          yield* sql`select open_holds_move('0')`
          // as if every call had to be over ten minutes before it began
          const tooOld = Effect.provide(checkNow, Layer.fresh(InvariantCheckStore.layer(-601)))
          expect(yield* tooOld).toEqual({ hold_age: 1 })
          expect((yield* (yield* InvariantCheckStore).summary).oldestOpenHoldSeconds).toBeGreaterThan(0)
          yield* ledger.settle(hold, voided)
          yield* ledger.flushed
          expect(yield* tooOld).toEqual({})
        })
      )

      it.effect("counts what was written off, and the holds that expired", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const store = yield* InvariantCheckStore
          const before = yield* store.summary
          yield* calls
          const caller = yield* newCaller({ credit: 1_000 })
          const hold = yield* ledger.reserve(wants(caller, option(100)))
          yield* RecoveryStore.expireAll(sql)
          yield* ledger.settle(hold, settled(40))
          yield* ledger.flushed
          yield* tenMinutesLater
          yield* checkNow
          const after = yield* store.summary
          expect(after.lateMicroUsd).toBeGreaterThanOrEqual(before.lateMicroUsd + 40)
          expect(after.absorbedMicroUsd).toBeGreaterThanOrEqual(before.absorbedMicroUsd + 9)
          expect(after.expiredHolds).toBeGreaterThanOrEqual(before.expiredHolds + 1)
        })
      )

      /** Scopes that no hold names, by a limit that no other scope has. */
      const mark = 123_456
      const addScopes = (count: number) =>
        Effect.flatMap(
          SqlClient,
          (sql) => sql`
            insert into scope (id, kind, limit_micro_usd, ceiling_micro_usd)
            select gen_random_uuid(), 'key', ${mark}, ${mark} from generate_series(1, ${count})`
        )
      const holdsOfScopes = (amount: number) =>
        Effect.flatMap(
          SqlClient,
          (sql) => sql`update scope set held_micro_usd = ${amount} where limit_micro_usd = ${mark}`
        )
      const removeScopes = Effect.flatMap(SqlClient, (sql) => sql`delete from scope where limit_micro_usd = ${mark}`)

      it.effect("looks again at what it could not check", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* InvariantCheckStore
          yield* checkNow
          // the wrong one is in the first of two portions
          const first = "00000000-0000-0000-0000-000000000001"
          yield* addScopes(10_000)
          yield* sql`update scope set id = ${first}, held_micro_usd = 5 where id = (select id from scope
            where limit_micro_usd = ${mark} limit 1)`
          yield* sql`alter table ledger_violation rename to not_there`
          const failed = yield* Effect.either(store.checkScopes)
          yield* sql`alter table not_there rename to ledger_violation`
          expect(failed).toMatchObject({ left: { _tag: "SqlError" } })
          expect((yield* store.checkScopes).map(({ subject }) => subject)).toEqual([first])
          yield* holdsOfScopes(0)
          expect(yield* checkNow).toEqual({})
          yield* removeScopes
        })
      )

      it.effect("remembers up to a thousand violations, of which it takes no more than a hundred at a time", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* checkNow
          yield* sql`update ledger_check set scopes_again = default`
          yield* addScopes(150)
          yield* holdsOfScopes(5)
          expect(yield* checkNow).toEqual({ scope_sums: 100 })
          expect(yield* checkNow).toEqual({ scope_sums: 150 })
          expect(yield* checkNow).toEqual({ scope_sums: 150 })
          yield* addScopes(1_000)
          yield* holdsOfScopes(5)
          yield* Effect.repeatN(checkNow, 20)
          expect(yield* checkNow).toEqual({ scope_sums: 1_000 })
          yield* holdsOfScopes(0)
          expect(yield* checkNow).toEqual({})
          yield* removeScopes
        })
      )

      it.effect("is made by one process in a minute", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* InvariantCheckStore
          yield* sql`update ledger_check set begun_at = now() - interval '51 seconds'`
          expect(yield* store.claim(50)).toBe(true)
          expect(yield* store.claim(50)).toBe(false)
          expect((yield* store.summary).checkedSecondsAgo).toBeLessThan(10)
          yield* sql`update ledger_check set holds_through = now() - interval '100 seconds'`
          const { checkLagSeconds } = yield* store.summary
          expect(checkLagSeconds).toBeGreaterThanOrEqual(100)
          expect(checkLagSeconds).toBeLessThan(110)
        })
      )
    })
  })
}

describe("a check on virtual time", () => {
  /** Each portion takes 10 ms, and the pause after it four times as long; what was done, with the time since the start. */
  const doneWith = (portions: number) => {
    const timers = VirtualTimers.make()
    const startedAt = timers.now()
    const done: Array<readonly [string, number]> = []
    const step = <A>(name: string, result: A) =>
      Effect.sync(() => {
        done.push([name, timers.now() - startedAt])
        return result
      })
    let left = portions
    const store: InvariantCheckStoreShape = {
      pauseFactor: 4,
      claim: () => Effect.dieMessage("not asked for"),
      checkNew: Effect.zipLeft(
        Effect.suspend(() => step("new", [[], --left > 0] as const)),
        Effect.sleep("10 millis")
      ),
      checkAgain: step("again", []),
      checkScopes: step("scopes", []),
      summary: Effect.dieMessage("not asked for")
    }
    return Effect.gen(function* () {
      const fiber = yield* Effect.fork(InvariantCheck.run(store, timers))
      yield* VirtualTimers.runUntilDone(timers, fiber)
      yield* Fiber.join(fiber)
      return done
    }).pipe(Effect.provide(VirtualTimers.layerOf(timers)), Effect.runPromise)
  }

  it("leaves the database to calls between two portions", async () => {
    expect(await doneWith(3)).toEqual([
      ["new", 0],
      ["new", 50],
      ["new", 100],
      ["again", 110],
      ["scopes", 110]
    ])
  })

  it("ends after 50 seconds though more is left, and leaves out the scopes, whose sums are not known yet", async () => {
    const done = await doneWith(Number.POSITIVE_INFINITY)
    expect(done.filter(([name]) => name === "new").length).toBe(1_000)
    expect(done.at(-1)).toEqual(["again", 50_000])
  })
})
