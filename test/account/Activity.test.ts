import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import Pg from "pg"
import { Activity } from "../../src/account/activity/Activity.ts"
import { ActivityStore } from "../../src/account/activity/ActivityStore.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { AccountId, KeyId, ProjectId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import type { ActivityDataOut } from "../../src/wire/account/Activity.ts"
import { databases, freshDatabase, postgresAt, postgresServer } from "../ledger/databases.ts"
import { cancelled, newCaller, newKey, option, settled, voided, wants } from "../ledger/fixtures.ts"
import { type LoggedCall, logCalls } from "./calls.ts"

const hour = 3_600
const day = 24 * hour

const someone = () => ({
  accountId: AccountId.make(randomUUID()),
  projectId: ProjectId.make(randomUUID()),
  keyId: KeyId.make(randomUUID())
})

const activityLayer = Layer.merge(Activity.layer, Layer.empty).pipe(
  Layer.provideMerge(ActivityStore.layer({ marginMillis: 0 }))
)
const activityOf = (project: ProjectId, days = 30, granularity: "day" | "hour" = "day") =>
  Effect.flatMap(Activity, (activity) => activity.of({ project, days, granularity }))
const sumUp = Effect.flatMap(ActivityStore, (store) => store.sumUp)

/** Nothing is summed up yet: calls can be logged at any time of the past. */
const nothingSummedUp = Effect.flatMap(
  SqlClient,
  (sql) => sql`with days as (delete from activity_day), hours as (delete from activity_hour)
    update activity_progress set through = '-infinity'`
)

const requestsIn = (data: ActivityDataOut) => data.timeseries.reduce((sum, point) => sum + point.requests, 0)
const spendIn = (data: ActivityDataOut) => data.timeseries.reduce((sum, point) => sum + point.spend_microusd, 0)

for (const [name, database] of databases) {
  describe(`activity on ${name}`, () => {
    const services = activityLayer.pipe(
      Layer.provideMerge(LedgerLayer()),
      Layer.provideMerge(database),
      Layer.provide(IdGenerator.layer),
      Layer.provideMerge(Timers.layer)
    )
    layer(services, { timeout: 60_000, excludeTestServices: true })((it) => {
      it.effect("savings are the same before and after calls are summed up, and stay without the calls", () =>
        Effect.gen(function* () {
          yield* nothingSummedUp
          const sql = yield* SqlClient
          const caller = someone()
          const logged = yield* logCalls(
            [3 * day, 60, 30, 20].map((agoSeconds) => ({ caller, agoSeconds, costMicroUsd: 10 }))
          )
          const [first = "", second = "", third = ""] = logged
          for (const [id, model, amount] of [
            [first, "a/best", 100],
            [second, "a/best", 7],
            [third, "b/best", 40]
          ] as const) {
            yield* sql`update call set baseline_model = ${model}, baseline_micro_usd = ${amount} where id = ${id}`
          }
          const savings = (days: number) =>
            Effect.flatMap(Activity, (activity) => activity.savings({ project: caller.projectId, days }))
          const expected = {
            count: 3,
            spend_microusd: 30,
            baseline_microusd: 147,
            saved_microusd: 117,
            by_model: [
              { model: "a/best", count: 2, spend_microusd: 20, baseline_microusd: 107 },
              { model: "b/best", count: 1, spend_microusd: 10, baseline_microusd: 40 }
            ]
          }
          expect(yield* savings(30)).toEqual(expected)
          expect((yield* savings(2)).baseline_microusd).toBe(47)
          while (yield* sumUp) yield* Effect.void
          expect(yield* savings(30)).toEqual(expected)
          yield* sql`delete from call where project_id = ${caller.projectId}`
          expect(yield* savings(30)).toEqual(expected)
          expect((yield* savings(2)).by_model).toHaveLength(2)
        })
      )

      it.effect("a project without calls has a point for each day, and zeros", () =>
        Effect.gen(function* () {
          const data = yield* activityOf(someone().projectId, 3)
          expect(data).toMatchObject({
            summary: { requests_24h: 0, tokens_24h: 0, spend_24h_microusd: 0, error_rate_pct: 0 },
            by_provider: [],
            by_model: [],
            by_key: [],
            granularity: "day"
          })
          expect(data.timeseries.map(({ requests, spend_microusd }) => [requests, spend_microusd])).toEqual([
            [0, 0],
            [0, 0],
            [0, 0]
          ])
          const [first, , last] = data.timeseries.map(({ date }) => Date.parse(`${date}T00:00:00Z`))
          expect((last ?? 0) - (first ?? 0)).toBe(2 * day * 1_000)
        })
      )

      it.effect("equals the ledger at every moment, summed up or not", () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const sql = yield* SqlClient
          const caller = yield* newCaller({ credit: 10_000 })
          const other = yield* newKey(caller, null)
          const stranger = yield* newCaller({ credit: 1_000 })
          const ends = [settled(100), settled(150, {}, 120), cancelled(7), voided, settled(0, { usage: null })]
          const check = Effect.gen(function* () {
            yield* ledger.flushed
            const data = yield* activityOf(caller.projectId)
            const [rows] = yield* sql<{ requests: number; spend: number; journal: number }>`
              select count(*)::int as requests, sum(cost_micro_usd)::int as spend,
                (select sum(amount_micro_usd)::int from journal
                  where debit = ${`account:${caller.accountId}`} and kind = 'usage') as journal
              from call where project_id = ${caller.projectId}`
            expect([requestsIn(data), spendIn(data)]).toEqual([rows?.requests, rows?.spend])
            expect(spendIn(data)).toBe(rows?.journal)
            expect(data.summary.spend_24h_microusd).toBe(rows?.journal)
            expect(data.summary.requests_24h).toBe(rows?.requests)
            expect(data.by_key.reduce((sum, key) => sum + key.spend_microusd, 0)).toBe(rows?.spend)
            expect(data.by_model.reduce((sum, model) => sum + model.count, 0)).toBe(rows?.requests)
          })
          for (const [index, end] of ends.entries()) {
            for (const who of [caller, other, stranger]) {
              yield* ledger.settle(yield* ledger.reserve(wants(who, option(120))), end)
            }
            yield* check
            if (index % 2 === 0) yield* sumUp
            yield* check
          }
          yield* sumUp
          yield* check
          expect((yield* sql`select 1 from activity_day where project_id = ${caller.projectId}`).length).toBe(2)
        })
      )

      it.effect("the last 24 hours are exact at their edge, before and after calls are summed up", () =>
        Effect.gen(function* () {
          yield* nothingSummedUp
          const caller = someone()
          const call = (agoSeconds: number, parts: Partial<LoggedCall> = {}): LoggedCall => ({
            caller,
            agoSeconds,
            costMicroUsd: 5,
            ...parts
          })
          yield* logCalls([
            call(day + 60),
            call(day - 60, { status: "error", tokens: null }),
            call(day - hour - 60),
            call(20 * hour, { status: "timeout" }),
            call(hour),
            call(60, { status: "cancelled" }),
            call(0)
          ])
          const expected = { requests_24h: 6, tokens_24h: 150, spend_24h_microusd: 30, error_rate_pct: 33.3 }
          expect((yield* activityOf(caller.projectId)).summary).toEqual(expected)
          yield* sumUp
          expect((yield* activityOf(caller.projectId)).summary).toEqual(expected)
          yield* logCalls([call(0)])
          expect((yield* activityOf(caller.projectId)).summary).toEqual({
            requests_24h: 7,
            tokens_24h: 180,
            spend_24h_microusd: 35,
            error_rate_pct: 28.6
          })
        })
      )

      it.effect("calls that end after the clock was set back count, once", () =>
        Effect.gen(function* () {
          yield* nothingSummedUp
          const sql = yield* SqlClient
          const caller = someone()
          const call: LoggedCall = { caller, agoSeconds: 0, costMicroUsd: 5 }
          const sums = Effect.map(activityOf(caller.projectId), (data) => [
            data.summary.requests_24h,
            requestsIn(data),
            spendIn(data)
          ])
          yield* logCalls([call, call])
          yield* sumUp
          yield* sql`update activity_progress set through = now() + interval '5 minutes'`
          yield* logCalls([call])
          yield* sumUp
          expect(yield* sums).toEqual([3, 3, 15])
          yield* logCalls([call])
          yield* sumUp
          expect(yield* sums).toEqual([4, 4, 20])
        })
      )

      it.effect("days are UTC days, and hours add up to them", () =>
        Effect.gen(function* () {
          yield* nothingSummedUp
          const caller = someone()
          const sql = yield* SqlClient
          const calls = Array.from(
            { length: 60 },
            (_, index): LoggedCall => ({
              caller,
              agoSeconds: index * 5_011,
              costMicroUsd: index
            })
          )
          yield* logCalls(calls)
          yield* sumUp
          yield* logCalls([{ caller, agoSeconds: 0, costMicroUsd: 1_000 }])
          const byDay = yield* activityOf(caller.projectId, 2)
          const byHour = yield* activityOf(caller.projectId, 2, "hour")
          const raw = yield* sql<{ day: string; requests: number; spend: number }>`
            select to_char(written_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as requests,
              sum(cost_micro_usd)::int as spend from call where project_id = ${caller.projectId} group by 1`
          expect(byDay.timeseries).toHaveLength(2)
          for (const point of byDay.timeseries) {
            const inDay = byHour.timeseries.filter(({ date }) => date.startsWith(point.date))
            expect(inDay.reduce((sum, { requests }) => sum + requests, 0)).toBe(point.requests)
            expect(inDay.reduce((sum, { spend_microusd }) => sum + spend_microusd, 0)).toBe(point.spend_microusd)
            const row = raw.find((row) => row.day === point.date)
            expect([point.requests, point.spend_microusd]).toEqual([row?.requests ?? 0, row?.spend ?? 0])
          }
          expect(byHour.timeseries[0]?.date).toBe(`${byDay.timeseries[0]?.date}T00:00:00.000Z`)
          expect(byHour.granularity).toBe("hour")
        })
      )

      it.effect("providers have answered calls and those last tried there; what reached none is left out", () =>
        Effect.gen(function* () {
          yield* nothingSummedUp
          const caller = someone()
          yield* logCalls([
            { caller, agoSeconds: 10, model: "acme/a", costMicroUsd: 1 },
            { caller, agoSeconds: 10, model: "acme/b", costMicroUsd: 9, status: "error" },
            { caller, agoSeconds: 10, model: "sim/large", costMicroUsd: 2 },
            { caller, agoSeconds: 10, model: null, status: "error", tokens: null }
          ])
          const expected = {
            by_provider: [
              { provider: "acme", count: 2 },
              { provider: "sim", count: 1 }
            ],
            by_model: [
              { model: "acme/b", count: 1, tokens: 30, spend_microusd: 9 },
              { model: "sim/large", count: 1, tokens: 30, spend_microusd: 2 },
              { model: "acme/a", count: 1, tokens: 30, spend_microusd: 1 }
            ],
            by_key: [{ key_id: caller.keyId, name: null, count: 4, tokens: 90, spend_microusd: 12 }]
          }
          expect(yield* activityOf(caller.projectId)).toMatchObject(expected)
          yield* sumUp
          expect(yield* activityOf(caller.projectId)).toMatchObject(expected)
        })
      )

      it.effect("many calls of one moment are summed up together, once", () =>
        Effect.gen(function* () {
          const caller = someone()
          yield* logCalls(Array.from({ length: 50 }, () => ({ caller, agoSeconds: 0, costMicroUsd: 3 })))
          const sql = yield* SqlClient
          let portions = 1
          while ((yield* sql<{ more: boolean }>`select activity_sum_up('0', 7) as more`)[0]?.more === true)
            portions += 1
          expect(portions).toBeGreaterThan(1)
          yield* sumUp
          const data = yield* activityOf(caller.projectId)
          expect([requestsIn(data), spendIn(data)]).toEqual([50, 150])
        })
      )
    })
  })
}

describe.skipIf(postgresServer === undefined)("activity with transactions that take long", () => {
  it.scopedLive(
    "counts a call that was committed after others had been summed up",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase(postgresServer ?? "")
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient
          const caller = someone()
          yield* logCalls([{ caller, agoSeconds: 0, costMicroUsd: 1 }])
          const slow = new Pg.Client({ connectionString: url })
          yield* Effect.promise(() => slow.connect())
          yield* Effect.promise(() =>
            slow.query(`begin; insert into call (id, account_id, project_id, key_id, requested_model, token_doctor, status,
                cost_micro_usd, cost_basis, pool, started_at)
              values ('${randomUUID()}', '${caller.accountId}', '${caller.projectId}', '${caller.keyId}', 'auto', false,
                'success', 10, 'charged', '{auto}', now())`)
          )
          yield* logCalls([{ caller, agoSeconds: 0, costMicroUsd: 100 }])
          yield* sumUp
          expect(spendIn(yield* activityOf(caller.projectId))).toBe(101)
          yield* Effect.promise(() => slow.query("commit"))
          expect(spendIn(yield* activityOf(caller.projectId))).toBe(111)
          yield* sumUp
          expect(spendIn(yield* activityOf(caller.projectId))).toBe(111)
          expect(yield* sql`select sum(spend_micro_usd)::int as spend from activity_day`).toEqual([{ spend: 111 }])
          yield* Effect.promise(() => slow.end())
        }).pipe(Effect.provide(activityLayer.pipe(Layer.provideMerge(postgresAt(url)))))
      }),
    60_000
  )
})
