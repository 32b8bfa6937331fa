import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { LedgerNode } from "../../src/ledger/LedgerNodeStore.ts"
import { LedgerStore } from "../../src/ledger/LedgerStore.ts"
import * as Recovery from "../../src/ledger/Recovery.ts"
import * as RecoveryStore from "../../src/ledger/RecoveryStore.ts"
import { Scopes } from "../../src/ledger/Scopes.ts"
import * as ScopesStore from "../../src/ledger/ScopesStore.ts"
import { StoreHealth } from "../../src/ledger/StoreHealth.ts"
import { Database } from "../../src/sql/Database.ts"
import { databases } from "./databases.ts"
import { newCaller, option, settled, wants } from "./fixtures.ts"

const silence = Duration.seconds(60)
const maxCallMillis = Duration.hours(1)
/** Another process, which sweeps. */
const other = "00000000-0000-7000-8000-00000000beef"

it.each([
  [{ totalMillis: 600_000 }, 60],
  [{ totalMillis: 600_000, maxTotalMillis: 3_600_000 }, 120],
  // a maximum that is lower extends no call, and shortens none
  [{ totalMillis: 7_200_000, maxTotalMillis: 3_000_000 }, 240]
])("a hold of calls of %o counts as lost after twice their time, and not within an hour", (deadlines, minutes) => {
  expect(Duration.toMinutes(Recovery.maxCallDurationOf(deadlines))).toBe(minutes)
})

for (const [name, database] of databases) {
  const ledger = Layer.mergeAll(Ledger.layer.pipe(Layer.provide(LedgerStore.layer)), ScopesStore.layer).pipe(
    Layer.provideMerge(StoreHealth.layer),
    Layer.provide(RecoveryStore.RecoveryStore.layer),
    Layer.provideMerge(LedgerNode.layer)
  )
  const live = ledger.pipe(Layer.provideMerge(database), Layer.provide(IdGenerator.layer), Layer.provide(Timers.layer))

  describe(`recovery on ${name}`, () => {
    layer(live, { timeout: 60_000, excludeTestServices: true })((it) => {
      it.effect("at the start of a process, open holds end where no other can have made them", () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const { kind } = yield* Database
          const caller = yield* newCaller({ credit: 1_000 })
          const hold = yield* ledger.reserve(wants(caller, option(400)))
          yield* Effect.scoped(
            Layer.build(Recovery.layer({ interval: "1 hour" }).pipe(Layer.provide(RecoveryStore.RecoveryStore.layer)))
          )
          const { heldMicroUsd } = yield* ledger.balance(caller.accountId)
          expect(heldMicroUsd).toBe(kind === "embedded" ? 0 : 400)
          yield* ledger.settle(hold, settled(0))
          yield* ledger.flushed
        })
      )

      /** As if this process had said nothing for a while. */
      const silent = (seconds: number) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const node = yield* LedgerNode
          yield* sql`update node set seen_at = now() - ${`${seconds} seconds`}::interval where id = ${node.id}`
        })

      /** As if the other process had been heard for a while. */
      const hears = (seconds: number) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* RecoveryStore.beat(sql, other)
          yield* sql`update node set heard_since = now() - ${`${seconds} seconds`}::interval where id = ${other}`
        })

      it.effect("a process that was just seen keeps its holds", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* hears(60)
          const ledger = yield* Ledger
          const node = yield* LedgerNode
          const caller = yield* newCaller({ credit: 1_000 })
          const hold = yield* ledger.reserve(wants(caller, option(400)))
          yield* silent(59)
          expect(yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)).toBe(0)
          yield* silent(600)
          yield* RecoveryStore.beat(sql, node.id)
          expect(yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)).toBe(0)
          yield* ledger.settle(hold, settled(400))
          yield* ledger.flushed
          expect((yield* ledger.balance(caller.accountId)).spentMicroUsd).toBe(400)
        })
      )

      it.effect("the holds of a silent process end: the customer pays nothing and the log says why", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* hears(60)
          const ledger = yield* Ledger
          const scopes = yield* Scopes
          const caller = yield* newCaller({ credit: 1_000, key: 900, project: 950 })
          const hold = yield* ledger.reserve(wants(caller, option(800)))
          yield* silent(60)
          expect(yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)).toBe(1)
          expect(yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)).toBe(0)
          expect(yield* ledger.balance(caller.accountId)).toEqual({
            creditMicroUsd: 1_000,
            spentMicroUsd: 0,
            heldMicroUsd: 0
          })
          for (const scope of [caller.projectId, caller.keyId]) {
            expect(Option.getOrThrow(yield* scopes.read(scope))).toMatchObject({ spentMicroUsd: 0, heldMicroUsd: 0 })
          }
          expect(
            yield* sql`select status, error_code, cost_micro_usd, requested_model, pool from call where id = ${hold.callId}`
          ).toEqual([
            {
              status: "error",
              error_code: "gateway_restarted",
              cost_micro_usd: "0",
              requested_model: "auto",
              pool: ["auto"]
            }
          ])
          expect(yield* ledger.checkInvariants).toEqual([])
        })
      )

      it.effect("the cost of a call that ends after its hold expired is written off, once", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* hears(60)
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000 })
          const hold = yield* ledger.reserve(wants(caller, option(800)))
          yield* silent(61)
          yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)
          const extended = yield* Effect.either(ledger.extend(hold, option(900)))
          expect(Either.isLeft(extended) && extended.left._tag).toBe("StoreUnavailable")
          yield* ledger.settle(hold, settled(300))
          yield* ledger.flushed
          yield* ledger.settle(hold, settled(300))
          yield* ledger.flushed
          expect((yield* ledger.balance(caller.accountId)).spentMicroUsd).toBe(0)
          expect(yield* sql`select kind, debit, amount_micro_usd from journal where call_id = ${hold.callId}`).toEqual([
            { kind: "late", debit: "house", amount_micro_usd: "300" }
          ])
          expect(yield* sql`select error_code from call where id = ${hold.callId}`).toEqual([
            { error_code: "gateway_restarted" }
          ])
          expect(yield* ledger.checkInvariants).toEqual([])
        })
      )

      it.effect("a hold older than any call ends, even of a process that lives", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const node = yield* LedgerNode
          yield* RecoveryStore.beat(sql, node.id)
          const caller = yield* newCaller({ credit: 1_000 })
          const old = yield* ledger.reserve(wants(caller, option(300)))
          const young = yield* ledger.reserve(wants(caller, option(200)))
          yield* sql`update hold set created_at = now() - interval '61 minutes' where id = ${old.callId}`
          yield* sql`update open_holds set since = now() - interval '62 minutes'`
          expect(yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)).toBe(1)
          expect((yield* ledger.balance(caller.accountId)).heldMicroUsd).toBe(200)
          yield* ledger.settle(young, settled(0))
          yield* ledger.flushed
        })
      )

      it.effect(
        "a call that lasts is passed by what looks for open holds, found until it ends, and expired like any other",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient
            const ledger = yield* Ledger
            yield* hears(120)
            const caller = yield* newCaller({ credit: 1_000 })
            const [ends, lost] = [
              yield* ledger.reserve(wants(caller, option(300))),
              yield* ledger.reserve(wants(caller, option(200)))
            ]
            const sweep = RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)
            const open = Effect.map(
              sql<{
                readonly id: string
              }>`select id from open_holds_read() where account_id = ${caller.accountId} order by id`,
              (rows) => rows.map(({ id }) => id)
            )
            const both = [ends.callId, lost.callId].sort()
            yield* sql`update hold set created_at = created_at - interval '10 minutes' where account_id = ${caller.accountId}`
            yield* sql`update open_holds set since = now() - interval '20 minutes'`
            expect(yield* sweep).toBe(0)
            expect(
              yield* sql`select since > now() - interval '30 seconds' as moved from open_holds where since < now()`
            ).toEqual([{ moved: true }])
            expect(yield* open).toEqual(both)
            yield* ledger.settle(ends, settled(30))
            yield* ledger.flushed
            expect(yield* open).toEqual([lost.callId])
            yield* sweep
            expect(yield* sql`select id from long_hold where id in ${sql.in(both)}`).toEqual([{ id: lost.callId }])
            yield* silent(61)
            expect(yield* sweep).toBe(1)
            expect(yield* open).toEqual([])
            expect(yield* ledger.balance(caller.accountId)).toMatchObject({ heldMicroUsd: 0, spentMicroUsd: 30 })
          })
      )

      it.effect("a hold from after the clock was set back is found and ends", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          yield* hears(120)
          const caller = yield* newCaller({ credit: 1_000 })
          yield* sql`update open_holds set since = now() + interval '3 minutes'`
          yield* ledger.reserve(wants(caller, option(200)))
          const sweep = RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)
          expect(yield* sweep).toBe(0)
          yield* silent(61)
          expect(yield* sweep).toBe(1)
          expect((yield* ledger.balance(caller.accountId)).heldMicroUsd).toBe(0)
        })
      )

      it.effect("a start after the clock was set back ends what was open", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          if ((yield* Database).kind !== "embedded") return
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000 })
          yield* ledger.reserve(wants(caller, option(200)))
          yield* sql`update open_holds set since = now() + interval '3 minutes'`
          expect(yield* RecoveryStore.expireAll(sql)).toBe(1)
          expect((yield* ledger.balance(caller.accountId)).heldMicroUsd).toBe(0)
        })
      )

      it.effect("a hold is found of a transaction that lasts longer than any should", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          if ((yield* Database).kind === "embedded") return
          const id = "00000000-0000-7000-8000-00000000f00d"
          // on a connection of its own
          const written = yield* Deferred.make<void>()
          const moved = yield* Effect.fork(
            Deferred.await(written).pipe(Effect.zipRight(sql`select open_holds_move('0')`))
          )
          yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`insert into hold (id, key_id, project_id, account_id, managed, requested_model, amount_micro_usd, node)
                values (${id}, ${id}, ${id}, ${id}, true, '', 0, ${id})`
              yield* Deferred.succeed(written, undefined)
              yield* Fiber.join(moved)
            })
          )
          expect(yield* sql`select id from open_holds_read() where id = ${id}`).toEqual([{ id }])
          yield* sql`delete from hold where id = ${id}`
        })
      )

      it.effect("runs on its own from the start: the process is seen, and another's holds end", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const node = yield* LedgerNode
          const caller = yield* newCaller({ credit: 1_000 })
          const hold = yield* ledger.reserve(wants(caller, option(400)))
          const gone = "00000000-0000-7000-8000-00000000dead"
          yield* sql`insert into node (id, seen_at) values (${gone}, now() - interval '2 minutes')`
          yield* sql`update hold set node = ${gone}, created_at = now() - interval '2 minutes' where id = ${hold.callId}`
          yield* sql`update open_holds set since = now() - interval '3 minutes'`
          yield* sql`update node set heard_since = now() - interval '2 minutes', seen_at = now() where id = ${node.id}`
          yield* Effect.gen(function* () {
            yield* Effect.repeat(ledger.balance(caller.accountId), { until: (balance) => balance.heldMicroUsd === 0 })
            yield* Effect.repeat(sql`select id from node where id = ${gone}`, { until: (rows) => rows.length === 0 })
          }).pipe(
            Effect.provide(
              Recovery.layer({ interval: "5 seconds", silence, maxCallDuration: maxCallMillis }).pipe(
                Layer.provide(RecoveryStore.RecoveryStore.layer)
              )
            )
          )
          expect(
            yield* sql`select seen_at > now() - interval '1 minute' as seen from node where id = ${node.id}`
          ).toEqual([{ seen: true }])
          expect(yield* ledger.checkInvariants).toEqual([])
        })
      )

      it.effect("a process that was cut off for 70 s is registered with its next hold, which is not expired", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const node = yield* LedgerNode
          const caller = yield* newCaller({ credit: 1_000 })
          yield* silent(70)
          yield* hears(60)
          yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)
          expect(yield* sql`select id from node where id = ${node.id}`).toEqual([])
          const holds = yield* Effect.forEach(Array.from({ length: 100 }), () =>
            ledger.reserve(wants(caller, option(1)))
          )
          expect(yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)).toBe(0)
          for (const hold of holds) yield* ledger.settle(hold, settled(1))
          yield* ledger.flushed
          expect((yield* ledger.balance(caller.accountId)).spentMicroUsd).toBe(100)
        })
      )

      it.effect("after an outage of 65 s for all, the first process that is back expires nobody's calls", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const node = yield* LedgerNode
          const caller = yield* newCaller({ credit: 1_000 })
          const hold = yield* ledger.reserve(wants(caller, option(400)))
          yield* hears(600)
          yield* sql`update node set seen_at = now() - interval '65 seconds'`
          yield* RecoveryStore.beat(sql, other)
          expect(yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)).toBe(0)
          yield* RecoveryStore.beat(sql, node.id)
          yield* hears(60)
          expect(yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)).toBe(0)
          yield* ledger.settle(hold, settled(400))
          yield* ledger.flushed
          expect((yield* ledger.balance(caller.accountId)).spentMicroUsd).toBe(400)
          expect(yield* ledger.checkInvariants).toEqual([])
        })
      )

      it.effect("a process that died in an outage is judged a minute after it", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000 })
          yield* ledger.reserve(wants(caller, option(400)))
          yield* silent(130)
          yield* hears(59)
          expect(yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)).toBe(0)
          yield* hears(60)
          expect(yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)).toBe(1)
          expect((yield* ledger.balance(caller.accountId)).heldMicroUsd).toBe(0)
        })
      )

      it.effect("a hold and a batch are heartbeats, at most once a second", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const node = yield* LedgerNode
          const caller = yield* newCaller({ credit: 1_000 })
          const seen = Effect.map(
            sql`select seen_at::text as at from node where id = ${node.id}`,
            ([row]) => row?.["at"]
          )
          yield* silent(5)
          const old = yield* seen
          const hold = yield* ledger.reserve(wants(caller, option(1)))
          const first = yield* seen
          expect(first).not.toBe(old)
          yield* sql`update node set seen_at = now() - interval '900 milliseconds' where id = ${node.id}`
          const recent = yield* seen
          yield* ledger.settle(hold, settled(1))
          yield* ledger.flushed
          const next = yield* ledger.reserve(wants(caller, option(1)))
          expect(yield* seen).toBe(recent)
          yield* silent(5)
          const before = yield* seen
          yield* ledger.settle(next, settled(1))
          yield* ledger.flushed
          expect(yield* seen).not.toBe(before)
        })
      )

      it.effect("more holds than one statement takes all end, and silent processes are forgotten", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* hears(60)
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 2_000 })
          yield* Effect.forEach(Array.from({ length: 1_200 }), () => ledger.reserve(wants(caller, option(1))), {
            concurrency: "unbounded"
          })
          expect(yield* RecoveryStore.expireAll(sql)).toBe(1_200)
          expect((yield* ledger.balance(caller.accountId)).heldMicroUsd).toBe(0)
          yield* silent(61)
          yield* RecoveryStore.sweep(sql, other, silence, maxCallMillis, Duration.zero)
          expect(yield* sql`select id from node`).toEqual([{ id: other }])
          expect(yield* ledger.checkInvariants).toEqual([])
        })
      )
    })
  })
}
