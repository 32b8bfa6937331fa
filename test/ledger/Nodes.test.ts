import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { CallerShape } from "../../src/domain/Caller.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import type { KeyId, ProjectId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import * as RecoveryStore from "../../src/ledger/RecoveryStore.ts"
import { Scopes } from "../../src/ledger/Scopes.ts"
import { freshDatabase, postgresAt, postgresServer } from "./databases.ts"
import { newCaller, newKey, option, settled, voided, wants } from "./fixtures.ts"

describe.skipIf(postgresServer === undefined)("four nodes on one PostgreSQL", () => {
  it.scopedLive(
    "together grant exactly what a limit allows, while holds are swept, without one deadlock",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase(postgresServer ?? "")
        const node = LedgerLayer().pipe(
          Layer.provideMerge(postgresAt(url)),
          Layer.provide(IdGenerator.layer),
          Layer.provide(Timers.layer)
        )
        const nodes = yield* Effect.forEach([1, 2, 3, 4], () => Layer.build(Layer.fresh(node)), { concurrency: 4 })
        const first = nodes[0]
        if (first === undefined) return expect.unreachable("there are four")
        const sql = Context.get(first, SqlClient)
        const sweeper = randomUUID()
        yield* sql`insert into node (id, heard_since) values (${sweeper}, now() - interval '2 minutes')`
        const caller = yield* newCaller({ credit: 30_000, project: 25_000, key: 10_000 }).pipe(Effect.provide(first))
        const other = yield* newKey(caller, 40_000).pipe(Effect.provide(first))
        const scopes = Context.get(first, Scopes)

        const usedOf = (scope: KeyId | ProjectId) =>
          Effect.map(scopes.read(scope), (found) => {
            const { heldMicroUsd, spentMicroUsd } = Option.getOrThrow(found)
            return spentMicroUsd + heldMicroUsd
          })

        let highest = { key: 0, project: 0 }
        const watch = yield* Effect.fork(
          Effect.forever(
            Effect.gen(function* () {
              const [key, project] = [yield* usedOf(caller.keyId), yield* usedOf(caller.projectId)]
              highest = { key: Math.max(highest.key, key), project: Math.max(highest.project, project) }
              yield* RecoveryStore.sweep(sql, sweeper, Duration.seconds(60), Duration.hours(1))
            })
          )
        )
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 2_000 }, (_, index) => index),
          (index) =>
            Effect.gen(function* () {
              const context = nodes[index % nodes.length] ?? first
              const ledger = Context.get(context, Ledger)
              const outcome = yield* Effect.either(ledger.reserve(wants(index % 3 === 0 ? other : caller, option(50))))
              if (Either.isRight(outcome) && index % 5 !== 0) {
                yield* ledger.settle(outcome.right, index % 7 === 0 ? voided : settled(50))
              }
              return outcome
            }),
          { concurrency: 200 }
        )
        yield* Effect.forEach(nodes, (context) => Context.get(context, Ledger).flushed)
        // The last calls may have released their holds after all others had been rejected.
        const fill = (asking: CallerShape) =>
          Effect.repeat(
            Effect.suspend(() => Effect.either(Context.get(first, Ledger).reserve(wants(asking, option(50))))),
            { until: Either.isLeft, times: 200 }
          )
        yield* fill(caller)
        yield* fill(other)
        yield* Fiber.interrupt(watch)

        const faults = outcomes.filter((outcome) => Either.isLeft(outcome) && outcome.left._tag !== "InsufficientFunds")
        expect(faults).toEqual([])
        expect(highest.project).toBeLessThanOrEqual(25_000)
        expect(highest.key).toBeLessThanOrEqual(10_000)
        expect(yield* usedOf(caller.projectId)).toBe(25_000)
        // The other key can have taken, of the project's limit, what a call of this one released last.
        yield* sql`update scope set limit_micro_usd = 30000 where id = ${caller.projectId}`
        yield* fill(caller)
        expect(yield* usedOf(caller.keyId)).toBe(10_000)
        expect(yield* Context.get(first, Ledger).checkInvariants).toEqual([])
      }),
    60_000
  )
})
