import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Activity } from "../../src/account/activity/Activity.ts"
import { ActivityStore } from "../../src/account/activity/ActivityStore.ts"
import * as Retention from "../../src/account/retention/Retention.ts"
import { RetentionStore } from "../../src/account/retention/RetentionStore.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import * as InvariantCheck from "../../src/ledger/InvariantCheck.ts"
import { InvariantCheckStore } from "../../src/ledger/InvariantCheckStore.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import { databases } from "../ledger/databases.ts"
import { newCaller, option, settled, voided, wants } from "../ledger/fixtures.ts"

const callDays = 30

for (const [name, database] of databases) {
  describe(`retention on ${name}`, () => {
    const services = Layer.mergeAll(
      LedgerLayer(),
      InvariantCheckStore.layer(3_600),
      RetentionStore.layer,
      Activity.layer.pipe(Layer.provideMerge(ActivityStore.layer({ marginMillis: 0 })))
    ).pipe(Layer.provideMerge(database), Layer.provide(IdGenerator.layer), Layer.provideMerge(Timers.layer))

    layer(services, { timeout: 60_000, excludeTestServices: true })((it) => {
      const deleteOld = Effect.flatMap(RetentionStore, (store) => Retention.deleteAll(store, callDays))
      const checkInvariants = Effect.gen(function* () {
        const store = yield* InvariantCheckStore
        yield* InvariantCheck.run(store, yield* Timers)
        expect((yield* store.summary).violations).toEqual({})
        expect(yield* (yield* Ledger).checkInvariants).toEqual([])
      })
      /** Everything so far happened so many days earlier. */
      const daysLater = (days: number) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ago = `${days} days`
          yield* sql`update hold set created_at = created_at - ${ago}::interval, closed_at = closed_at - ${ago}::interval`
          yield* sql`update call set written_at = written_at - ${ago}::interval`
          yield* sql`alter table journal disable trigger user`
          yield* sql`update journal set at = at - ${ago}::interval`
          yield* sql`alter table journal enable trigger user`
          yield* sql`update ledger_check set holds_through = holds_through - ${ago}::interval`
          yield* sql`update open_holds set since = now() - interval '1 minute'`
        })
      const rows = Effect.gen(function* () {
        const sql = yield* SqlClient
        const [counts] = yield* sql<Record<"calls" | "attempts" | "holds" | "journal", number>>`
          select (select count(*)::int from call) as calls, (select count(*)::int from call_attempt) as attempts,
            (select count(*)::int from hold) as holds, (select count(*)::int from journal where call_id is not null) as journal`
        return counts
      })

      it.effect(
        "deletes old calls whole once they are summed up, and neither sums, journal nor invariants change",
        () =>
          Effect.gen(function* () {
            const ledger = yield* Ledger
            const activity = yield* Activity
            const sql = yield* SqlClient
            const caller = yield* newCaller({ credit: 10_000, project: 5_000 })
            const run = (end = settled(100)) =>
              Effect.flatMap(ledger.reserve(wants(caller, option(200))), (hold) => ledger.settle(hold, end))
            for (const end of [settled(10), settled(300, {}, 200), voided]) yield* run(end)
            yield* ledger.flushed
            // the void of a reservation whose response was lost leaves a hold without a call
            yield* sql`insert into hold (id, key_id, project_id, account_id, managed, requested_model, amount_micro_usd,
            actual_micro_usd, state, node, closed_at)
            select gen_random_uuid(), key_id, project_id, account_id, true, '', 0, 0, 'void', node, now() from hold limit 1`
            yield* daysLater(callDays + 2)
            yield* run()
            yield* ledger.flushed
            expect(yield* rows).toEqual({ calls: 4, attempts: 4, holds: 5, journal: 4 })

            yield* deleteOld
            // neither their charges nor their activity is summed up yet
            expect(yield* rows).toEqual({ calls: 4, attempts: 4, holds: 5, journal: 4 })
            yield* checkInvariants
            yield* deleteOld
            expect(yield* rows).toEqual({ calls: 4, attempts: 4, holds: 5, journal: 4 })

            const store = yield* ActivityStore
            yield* store.sumUp
            const before = yield* activity.of({ project: caller.projectId, days: 90, granularity: "day" })
            expect(before.by_model).toMatchObject([{ count: 4, spend_microusd: 310 }])
            yield* deleteOld
            expect(yield* rows).toEqual({ calls: 1, attempts: 1, holds: 1, journal: 4 })
            expect(yield* activity.of({ project: caller.projectId, days: 90, granularity: "day" })).toEqual(before)
            yield* checkInvariants
            expect(yield* ledger.balance(caller.accountId)).toMatchObject({ spentMicroUsd: 310, heldMicroUsd: 0 })
            yield* run()
            yield* ledger.flushed
            yield* checkInvariants
          })
      )

      it.effect(
        "keeps a call that was open when the calls around it were checked until its charge is in the sums",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient
            const [ledger, activity] = [yield* Ledger, yield* ActivityStore]
            const caller = yield* newCaller({ credit: 10_000 })
            const long = yield* ledger.reserve(wants(caller, option(200)))
            yield* daysLater(callDays + 2)
            // it finds that the call is too old, too
            yield* InvariantCheck.run(yield* InvariantCheckStore, yield* Timers)
            yield* ledger.settle(long, settled(70))
            yield* ledger.flushed
            yield* daysLater(callDays + 2)
            yield* sql`update ledger_check set holds_through = now()`
            yield* activity.sumUp
            const isKept = Effect.map(sql`select id from call where id = ${long.callId}`, (found) => found.length > 0)
            yield* deleteOld
            expect(yield* isKept).toBe(true)
            yield* checkInvariants
            yield* deleteOld
            expect(yield* isKept).toBe(false)
            yield* checkInvariants
          })
      )

      it.effect("keeps calls forever where it is configured to, and no sums of hours that nothing shows any more", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const hours = Effect.map(
            sql<{ readonly hours: number }>`select count(*)::int as hours from activity_hour`,
            ([row]) => row?.hours
          )
          const [ledger, store] = [yield* Ledger, yield* ActivityStore]
          const caller = yield* newCaller({ credit: 10_000, project: 5_000 })
          yield* Effect.flatMap(ledger.reserve(wants(caller, option(200))), (hold) => ledger.settle(hold, settled(100)))
          yield* ledger.flushed
          yield* store.sumUp
          yield* daysLater(4_000)
          const before = yield* rows
          yield* sql`update activity_hour set hour = hour - interval '4000 days'`
          expect(yield* hours).toBeGreaterThan(0)
          yield* Effect.flatMap(RetentionStore, (retention) => Retention.deleteAll(retention, null))
          expect(yield* hours).toBe(0)
          expect(yield* rows).toEqual(before)
        })
      )
    })
  })
}
