import { describe, expect, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { CurrentUser } from "../../src/domain/CurrentUser.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { AccountId, RequestId, UserId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { AccountSql, AccountTransactions } from "../../src/sql/AccountDatabase.ts"
import { ChangeNotifications } from "../../src/sql/ChangeNotifications.ts"
import * as RowCache from "../../src/sql/RowCache.ts"
import { fromSql } from "../../src/sql/StoreErrors.ts"
import { databases } from "../ledger/databases.ts"

const as = (last: number) =>
  Effect.provideService(CurrentUser, {
    userId: UserId.make(`00000000-0000-7000-8000-00000000000${last}`),
    accountId: AccountId.make("00000000-0000-7000-8000-000000000009"),
    isOperator: false,
    sessionId: null,
    transport: "bearer",
    address: "127.0.0.1",
    requestId: RequestId.make("00000000-0000-7000-8000-000000000008")
  })

for (const [name, database] of databases) {
  describe(`transactions of the account API on ${name}`, () => {
    layer(
      AccountTransactions.layer.pipe(
        Layer.provideMerge(ChangeNotifications.layer),
        Layer.provideMerge(database),
        Layer.provide(IdGenerator.layer),
        Layer.provideMerge(Timers.layer)
      ),
      { timeout: 60_000, excludeTestServices: true }
    )((it) => {
      it.effect("can be nested by many requests of one person at once", () =>
        Effect.gen(function* () {
          const { commit } = yield* AccountTransactions
          const sql = yield* AccountSql
          const change = commit(() => commit(() => sql`select 1 as one`))
          const made = yield* Effect.all(
            Array.from({ length: 8 }, () => change),
            { concurrency: "unbounded" }
          ).pipe(as(1))
          expect(made).toEqual(made.map(() => [{ one: 1 }]))
        })
      )

      // on the embedded database the lookup from outside waits for the connection that the transaction has
      it.scoped("read cached rows as they have them, also beside a lookup of the same row, and cache none", () =>
        Effect.gen(function* () {
          const { commit } = yield* AccountTransactions
          const sql = yield* AccountSql
          const began = yield* Deferred.make<void>()
          let lookups = 0
          const cache = yield* RowCache.make<string, string>({
            load: (setting) =>
              Effect.suspend(() => {
                lookups += 1
                return sql<{ readonly value: string | null }>`select current_setting(${setting}, true) as value`
              }).pipe(
                Effect.map(([row]) => row?.value || "outside"),
                fromSql
              ),
            absent: "absent",
            kinds: []
          })
          const row = "gateway.row"
          const outside = yield* Effect.fork(Effect.zipRight(Deferred.await(began), cache.get(row)))
          const inside = yield* commit(() =>
            Effect.gen(function* () {
              yield* sql`select set_config(${row}, 'inside', true)`
              yield* Deferred.succeed(began, undefined)
              yield* Effect.repeat(Effect.yieldNow(), { until: () => lookups === 1 })
              return yield* cache.get(row)
            })
          )
          expect([inside, yield* Fiber.join(outside), yield* cache.get(row)]).toEqual(["inside", "outside", "outside"])
        })
      )

      it.effect.skipIf(name === "embedded")("leave a connection to other people while three of one person wait", () =>
        Effect.gen(function* () {
          const { commit } = yield* AccountTransactions
          const sql = yield* AccountSql
          const [began, ends] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
          let running = 0
          const waiting = commit(() =>
            Effect.suspend(() => {
              running += 1
              return running === 3
                ? Effect.zipRight(Deferred.succeed(began, undefined), Deferred.await(ends))
                : Deferred.await(ends)
            })
          )
          const fiber = yield* Effect.fork(
            Effect.all(
              Array.from({ length: 6 }, () => waiting),
              { concurrency: "unbounded" }
            ).pipe(as(1))
          )
          yield* Deferred.await(began)
          expect(yield* commit(() => sql`select 1 as one`).pipe(as(2))).toEqual([{ one: 1 }])
          expect(running).toBe(3)
          yield* Deferred.succeed(ends, undefined)
          yield* Fiber.join(fiber)
        })
      )

      it.effect("are refused of a person who has 256 that are not done", () =>
        Effect.gen(function* () {
          const { commit } = yield* AccountTransactions
          const ends = yield* Deferred.make<void>()
          const fiber = yield* Effect.fork(
            Effect.all(
              Array.from({ length: 257 }, () => Effect.either(commit(() => Deferred.await(ends)))),
              { concurrency: "unbounded" }
            ).pipe(as(1))
          )
          yield* Effect.yieldNow()
          yield* Deferred.succeed(ends, undefined)
          const refused = (yield* Fiber.join(fiber)).filter(Either.isLeft)
          expect(refused.map(({ left }) => left._tag)).toEqual(["StoreUnavailable"])
        })
      )
    })
  })
}
