import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { make } from "../../../src/analysis/job/CallLogStore.ts"
import { IdGenerator } from "../../../src/domain/IdGenerator.ts"
import { Timers } from "../../../src/domain/Timers.ts"
import { LedgerLayer } from "../../../src/ledger/Ledger.ts"
import { AccountSql } from "../../../src/sql/AccountDatabase.ts"
import { logCalls } from "../../account/calls.ts"
import { databases } from "../../ledger/databases.ts"
import { newCaller } from "../../ledger/fixtures.ts"

const dayMillis = 86_400_000

for (const [name, database] of databases) {
  describe(`the call log for analyses on ${name}`, () => {
    const services = LedgerLayer().pipe(
      Layer.provideMerge(database),
      Layer.provide(IdGenerator.layer),
      Layer.provideMerge(Timers.layer)
    )

    /** Calls every ten seconds up to 200 seconds ago, of which each fourth has failed and each third was tried twice. */
    const logged = Effect.gen(function* () {
      const sql = yield* SqlClient
      const caller = yield* newCaller({ credit: 1_000_000 })
      const ids = yield* logCalls(
        Array.from({ length: 20 }, (_, index) => ({
          caller,
          agoSeconds: 10 * (index + 1),
          model: index % 2 === 0 ? "sim/large" : "sim/small",
          status: index % 4 === 3 ? ("error" as const) : ("success" as const),
          costMicroUsd: index + 1
        }))
      )
      const twice = ids.filter((_, index) => index % 3 === 2)
      yield* sql`update call set attempt_latency_millis = 5 where project_id = ${caller.projectId}
        and id <> all (${twice}::uuid[])`
      yield* sql`insert into attempt (call_id, position, provider, model, status, error_code, cost_micro_usd, cost_basis, latency_millis)
        select id, position, provider, model, 'error', 'provider_error', 0, 'charged', 5
        from call, unnest('{0,1}'::int[]) position where id = any (${twice}::uuid[])`
      return caller.projectId
    })

    layer(services, { timeout: 60_000, excludeTestServices: true })((it) => {
      it.effect("sums up a range in portions as in one", () =>
        Effect.gen(function* () {
          const project = yield* logged
          const sql = yield* AccountSql
          const now = Date.now()
          // the calls of 40 to 180 seconds ago
          const range = { from: new Date(now - 185_000), to: new Date(now - 35_000) }
          for (const maxCallsEach of [1, 2, 7, 20, 21, 1_000]) {
            const log = make(sql, maxCallsEach)
            expect(yield* log.traffic(project, range)).toEqual({
              calls: 15,
              spentMicroUsd: 165,
              optedIn: { calls: 0, spentMicroUsd: 0 }
            })
            // those tried twice are the sixth, ninth, twelfth, fifteenth and eighteenth
            expect(yield* log.attempts(project, range)).toEqual([
              { model: "sim/large", attempts: 9, failed: 4 },
              { model: "sim/small", attempts: 11, failed: 9 }
            ])
          }
        })
      )

      it.effect("reads the calls that began in the range, however long they took", () =>
        Effect.gen(function* () {
          const project = yield* logged
          const log = make(yield* AccountSql)
          const sql = yield* SqlClient
          yield* sql`update call set started_at = started_at - interval '20 hours' where project_id = ${project}`
          const began = { from: new Date(Date.now() - dayMillis), to: new Date(Date.now() - dayMillis / 2) }
          const ended = { from: new Date(Date.now() - dayMillis / 2), to: new Date() }
          expect((yield* log.calls(project, { ...began, max: 100 })).length).toBe(20)
          expect((yield* log.calls(project, { ...began, max: 3 })).map(({ cost }) => cost.amount_microusd)).toEqual([
            1, 2, 3
          ])
          expect((yield* log.traffic(project, began)).calls).toBe(20)
          expect((yield* log.traffic(project, ended)).calls).toBe(0)
        })
      )

      it.effect("sums up more calls of one time than a portion has", () =>
        Effect.gen(function* () {
          const project = yield* logged
          const sql = yield* SqlClient
          yield* sql`update call set written_at = now() - interval '1 minute' where project_id = ${project}`
          const log = make(yield* AccountSql, 2)
          const { calls } = yield* log.traffic(project, { from: new Date(Date.now() - dayMillis), to: new Date() })
          expect(calls).toBe(20)
        })
      )

      it.effect("takes a range that begins with the calendar", () =>
        Effect.gen(function* () {
          const project = yield* logged
          const log = make(yield* AccountSql)
          expect((yield* log.traffic(project, { from: new Date("0001-01-01"), to: new Date() })).calls).toBe(20)
        })
      )
    })
  })
}
