import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import type { KeyId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import { type LimitReset, SpendLimitStore } from "../../src/ledger/SpendLimitStore.ts"
import { databases } from "./databases.ts"
import { newCaller, option, settled, wants } from "./fixtures.ts"

/** As if the row had been changed last on this day: `today` is a date in UTC. */
const lastChanged = (key: KeyId, day: string) =>
  Effect.flatMap(SqlClient, (sql) =>
    sql.withTransaction(
      Effect.zipRight(
        // the change of the day is none of a limit: without the trigger
        sql`set local session_replication_role = replica`,
        sql.unsafe(
          `update scope set day = ${day} from (select (now() at time zone 'UTC')::date as today) t where id = $1`,
          [key]
        )
      )
    )
  )

const periods = ["day", "week", "month"] as const

for (const [name, database] of databases) {
  describe(`limits with a period on ${name}`, () => {
    layer(
      LedgerLayer().pipe(
        Layer.provideMerge(SpendLimitStore.layer),
        Layer.provideMerge(database),
        Layer.provideMerge(IdGenerator.layer),
        Layer.provideMerge(Timers.layer)
      ),
      { timeout: 60_000, excludeTestServices: true }
    )((it) => {
      const limited = (limitReset: LimitReset | null) =>
        Effect.gen(function* () {
          const caller = yield* newCaller({ key: 100 })
          yield* (yield* SpendLimitStore).set(caller.keyId, { limitMicroUsd: 100, limitReset })
          return caller
        })
      const spend = (caller: Effect.Effect.Success<ReturnType<typeof limited>>, amount: number) =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const hold = yield* ledger.reserve(wants(caller, option(amount)))
          yield* ledger.settle(hold, settled(amount))
          yield* ledger.flushed
        })
      const read = (key: KeyId) => Effect.flatMap(SpendLimitStore, (store) => store.read(key))
      const sound = Effect.flatMap(Ledger, (ledger) =>
        Effect.map(ledger.checkInvariants, (broken) => expect(broken).toEqual([]))
      )

      it.effect.each(periods)("a limit for each %s is whole again in the next one, and not a day before", (period) =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const caller = yield* limited(period)
          yield* spend(caller, 60)
          expect(yield* Effect.flip(ledger.reserve(wants(caller, option(41))))).toMatchObject({
            reason: "too_large",
            scope: "key",
            availableMicroUsd: 40
          })
          // the first day of the current period: everything still counts
          const first = period === "day" ? "today" : `date_trunc('${period}', today)::date`
          yield* lastChanged(caller.keyId, first)
          expect(yield* read(caller.keyId)).toMatchObject({ spentMicroUsd: 60, totalSpentMicroUsd: 60 })
          yield* Effect.flip(ledger.reserve(wants(caller, option(41))))
          // the last day of the period before
          yield* lastChanged(caller.keyId, `${first} - 1`)
          expect(yield* read(caller.keyId)).toMatchObject({ spentMicroUsd: 0, totalSpentMicroUsd: 60 })
          yield* Effect.flip(ledger.reserve(wants(caller, option(101))))
          yield* spend(caller, 100)
          expect(yield* read(caller.keyId)).toMatchObject({ spentMicroUsd: 100, totalSpentMicroUsd: 160 })
          expect(yield* Effect.flip(ledger.reserve(wants(caller, option(1))))).toMatchObject({ reason: "exhausted" })
          yield* sound
        })
      )

      it.effect.each(periods)("a hold written alone has all that the new %s leaves, and not a day before", (period) =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const first = period === "day" ? "today" : `date_trunc('${period}', today)::date`
          const caller = yield* limited(period)
          yield* spend(caller, 60)
          yield* lastChanged(caller.keyId, first)
          expect(yield* ledger.reserve(wants(caller, option(90, 10)))).toMatchObject({ amount: 40, room: 0 })
          const other = yield* limited(period)
          yield* spend(other, 60)
          yield* lastChanged(other.keyId, `${first} - 1`)
          const hold = yield* ledger.reserve(wants(other, option(90, 10), option(10)))
          expect(hold).toMatchObject({ option: 0, amount: 90, room: 10 })
          yield* sound
        })
      )

      it.effect("a call that began before the reset counts where it ends, and nothing becomes negative", () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const caller = yield* limited("day")
          yield* spend(caller, 40)
          const hold = yield* ledger.reserve(wants(caller, option(60)))
          yield* lastChanged(caller.keyId, "today - 1")
          // its hold counts in the new day, and so does what it will have cost
          expect(yield* Effect.flip(ledger.reserve(wants(caller, option(41))))).toMatchObject({ reason: "held" })
          yield* ledger.settle(hold, settled(50))
          yield* ledger.flushed
          expect(yield* read(caller.keyId)).toMatchObject({ spentMicroUsd: 50, totalSpentMicroUsd: 90 })
          yield* Effect.flip(ledger.reserve(wants(caller, option(51))))
          yield* spend(caller, 50)
          yield* sound
        })
      )

      it.effect("two nodes together grant exactly the limit of the new period, from its first moment on", () =>
        Effect.gen(function* () {
          const other = yield* Layer.build(Layer.fresh(LedgerLayer()))
          const ledgers = [yield* Ledger, Context.get(other, Ledger)] as const
          const caller = yield* limited("week")
          yield* spend(caller, 100)
          const reserve = Effect.map(
            Effect.forEach(
              Array.from({ length: 20 }).flatMap(() => ledgers),
              (ledger) => Effect.option(ledger.reserve(wants(caller, option(10)))),
              { concurrency: "unbounded" }
            ),
            Arr.getSomes
          )
          expect(yield* reserve).toEqual([])
          yield* lastChanged(caller.keyId, "date_trunc('week', today)::date - 1")
          const granted = yield* reserve
          expect(granted).toHaveLength(10)
          for (const hold of granted) yield* ledgers[1].settle(hold, settled(10))
          yield* ledgers[1].flushed
          expect(yield* read(caller.keyId)).toMatchObject({ spentMicroUsd: 100, totalSpentMicroUsd: 200 })
          expect(yield* reserve).toEqual([])
          yield* sound
        }).pipe(Effect.scoped)
      )

      it.effect(
        "what was spent today counts when the period is set later, and a lifted period makes it the total",
        () =>
          Effect.gen(function* () {
            const ledger = yield* Ledger
            const store = yield* SpendLimitStore
            const caller = yield* limited(null)
            yield* spend(caller, 30)
            yield* lastChanged(caller.keyId, "today - 1")
            yield* spend(caller, 50)
            yield* store.set(caller.keyId, { limitMicroUsd: 100, limitReset: "day" })
            expect(yield* read(caller.keyId)).toMatchObject({ spentMicroUsd: 50, totalSpentMicroUsd: 80 })
            yield* Effect.flip(ledger.reserve(wants(caller, option(51))))
            yield* spend(caller, 50)
            yield* store.set(caller.keyId, { limitMicroUsd: 100, limitReset: null })
            expect(yield* read(caller.keyId)).toMatchObject({ spentMicroUsd: 130, totalSpentMicroUsd: 130 })
            yield* Effect.flip(ledger.reserve(wants(caller, option(1))))
            yield* sound
          })
      )
    })
  })
}
