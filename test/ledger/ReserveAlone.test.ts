import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import type { CallerShape } from "../../src/domain/Caller.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { LedgerNode } from "../../src/ledger/LedgerNodeStore.ts"
import { LedgerStore } from "../../src/ledger/LedgerStore.ts"
import * as ScopesStore from "../../src/ledger/ScopesStore.ts"
import type { LimitReset } from "../../src/ledger/SpendLimitStore.ts"
import { databases } from "./databases.ts"
import { newCaller, option, wants } from "./fixtures.ts"

const amount = fc.nat({ max: 300 })
const maybe = <A>(of: fc.Arbitrary<A>) => fc.option(of, { nil: null })

interface ScopeRow {
  readonly limit: number | null
  readonly reset: LimitReset | null
  readonly spent: number
  readonly held: number
  readonly beforeDay: number
  readonly beforeWeek: number
  readonly beforeMonth: number
  /** When it was changed last. */
  readonly changedDaysAgo: number
}

const scope: fc.Arbitrary<ScopeRow> = fc.record({
  limit: maybe(fc.nat({ max: 900 })),
  reset: fc.constantFrom(null, "day" as const, "week" as const, "month" as const),
  spent: amount,
  held: fc.nat({ max: 60 }),
  beforeDay: amount,
  beforeWeek: amount,
  beforeMonth: amount,
  changedDaysAgo: fc.constantFrom(0, 1, 40)
})
const options = fc.array(
  fc.record({ least: fc.nat({ max: 200 }), more: fc.nat({ max: 200 }), typical: maybe(fc.nat({ max: 400 })) }),
  { minLength: 1, maxLength: 3 }
)

for (const [name, database] of databases) {
  describe(`a hold that is written alone on ${name}`, () => {
    layer(
      Layer.mergeAll(LedgerStore.layer, ScopesStore.layer).pipe(
        Layer.provide(LedgerNode.layer),
        Layer.provideMerge(database),
        Layer.provideMerge(IdGenerator.layer),
        Layer.provideMerge(Timers.layer)
      ),
      { timeout: 60_000, excludeTestServices: true }
    )((it) => {
      const set = (id: string, { held, limit, reset, spent, ...before }: ScopeRow) =>
        Effect.flatMap(SqlClient, (sql) =>
          sql.withTransaction(
            Effect.zipRight(
              // as the rows may be, whatever has led to it
              sql`set local session_replication_role = replica`,
              sql`update scope set limit_micro_usd = ${limit}, limit_reset = ${reset}, spent_micro_usd = ${spent},
                held_micro_usd = ${held}, ceiling_micro_usd = ${limit === null ? null : 1_000_000},
                spent_before_day = ${Math.min(before.beforeDay, spent)},
                spent_before_week = ${Math.min(before.beforeDay, before.beforeWeek, spent)},
                spent_before_month = ${Math.min(before.beforeDay, before.beforeWeek, before.beforeMonth, spent)},
                day = (now() at time zone 'UTC')::date - ${before.changedDaysAgo}::int
                where id = ${id}`
            )
          )
        )

      it.effect("is granted, or not, as it is among others", () =>
        Effect.gen(function* () {
          const store = yield* LedgerStore
          const cases = fc.sample(
            fc.record({ account: scope, project: scope, key: scope, byok: fc.boolean(), options }),
            { numRuns: 80, seed: 52 }
          )
          const other = yield* newCaller({})
          const decided = yield* Effect.forEach(cases, ({ account, byok, key, options, project }) =>
            Effect.gen(function* () {
              const [first, ...more] = options.map(({ least, more, typical }) => option(least + more, least, typical))
              if (first === undefined) return yield* Effect.dieMessage("there is an option")
              const prepared = Effect.gen(function* () {
                const caller: CallerShape = yield* newCaller({ billingMode: byok ? "byok" : "managed" })
                yield* set(caller.accountId, { ...account, limit: account.limit ?? 300, reset: null })
                yield* set(caller.projectId, project)
                yield* set(caller.keyId, key)
                return wants(caller, first, ...more)
              })
              const [alone] = yield* store.apply([yield* prepared], [], 2_000)
              const [amongOthers] = yield* store.apply([yield* prepared, wants(other, option(1))], [], 2_000)
              return { alone, amongOthers }
            })
          )
          expect(decided.map(({ alone }) => alone)).toEqual(decided.map(({ amongOthers }) => amongOthers))
          const granted = decided.filter(({ alone }) => alone?._tag === "Granted").length
          expect(granted).toBeGreaterThan(15)
          expect(granted).toBeLessThan(70)
        })
      )
    })
  })
}
