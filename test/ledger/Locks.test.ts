import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import Pg from "pg"
import type { CallerShape } from "../../src/domain/Caller.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { microUsd } from "../../src/domain/Money.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import { timerTurns } from "../support/Turns.ts"
import { freshDatabase, postgresAt, postgresServer } from "./databases.ts"
import { newCaller, option, settled, voided, wants } from "./fixtures.ts"

const connect = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Pg.Client({ connectionString: url })
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )

/** A transaction of someone else that has the account's balance locked, until the scope closes. */
const locking = (url: string, { accountId }: CallerShape) =>
  Effect.tap(connect(url), (client) =>
    Effect.promise(async () => {
      await client.query("begin")
      await client.query("select from scope where id = $1 for update", [accountId])
    })
  )

/** Until a statement in this database waits for a lock. */
const untilLocked = (url: string) =>
  Effect.scoped(
    Effect.flatMap(connect(url), (client) =>
      Effect.repeat(
        Effect.promise(() =>
          client.query(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
        ),
        { until: ({ rowCount }) => rowCount !== 0 }
      )
    )
  )

describe.skipIf(postgresServer === undefined)("a locked account on PostgreSQL", () => {
  it.scopedLive(
    "delays its own callers only, and is charged exactly once for each call when the lock is gone",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase(postgresServer ?? "")
        const context = yield* Layer.build(
          LedgerLayer().pipe(
            Layer.provideMerge(postgresAt(url)),
            Layer.provide(IdGenerator.layer),
            Layer.provide(Timers.layer)
          )
        )
        yield* Effect.gen(function* () {
          const ledger = yield* Ledger
          const victim = yield* newCaller({ credit: 1_000_000 })
          const others = yield* Effect.forEach([1, 2, 3, 4], () => newCaller({ credit: 1_000_000 }))
          const call = (caller: CallerShape) =>
            Effect.gen(function* () {
              const outcome = yield* Effect.either(ledger.reserve(wants(caller, option(50))))
              if (Either.isRight(outcome)) yield* ledger.settle(outcome.right, settled(10))
              return outcome
            })
          const timed = (caller: CallerShape) =>
            Effect.gen(function* () {
              const fiber = yield* Effect.fork(call(caller))
              const turns = yield* Effect.promise(() => timerTurns(Effect.runPromise(Fiber.await(fiber))))
              return { outcome: yield* Fiber.join(fiber), turns }
            })
          const running = yield* Effect.forEach([1, 2, 3], () => ledger.reserve(wants(victim, option(50))))
          const during = yield* Effect.scoped(
            Effect.gen(function* () {
              yield* locking(url, victim)
              for (const hold of running) yield* ledger.settle(hold, settled(10))
              const ofVictim = yield* Effect.fork(Effect.forEach([1, 2], () => call(victim)))
              const ofOthers = yield* Effect.forEach(
                Array.from({ length: 400 }, (_, n) => others[n % 4] ?? victim),
                timed,
                { concurrency: 8 }
              )
              return { ofOthers, ofVictim: yield* Fiber.join(ofVictim) }
            })
          )
          expect(during.ofOthers.filter(({ outcome }) => Either.isLeft(outcome))).toEqual([])
          for (const outcome of during.ofVictim) {
            expect(outcome).toMatchObject({ left: { _tag: "ServiceRefused", reason: "overloaded" } })
          }
          // the statement that met the lock first, for 200 ms, and then none
          expect(during.ofOthers.filter(({ turns }) => turns >= 100).length).toBeLessThanOrEqual(16)
          expect(Either.isRight(yield* call(victim))).toBe(true)
          yield* ledger.flushed
          expect((yield* ledger.balance(victim.accountId)).spentMicroUsd).toBe(40)
          for (const other of others) expect((yield* ledger.balance(other.accountId)).spentMicroUsd).toBe(1_000)
          expect(yield* ledger.checkInvariants).toEqual([])
        }).pipe(Effect.provide(context))
      }),
    60_000
  )

  it.scopedLive("a batch that commits after the void of its call leaves no hold", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase(postgresServer ?? "")
      const context = yield* Layer.build(
        LedgerLayer().pipe(
          Layer.provideMerge(postgresAt(url)),
          Layer.provide(IdGenerator.layer),
          Layer.provide(Timers.layer)
        )
      )
      yield* Effect.gen(function* () {
        const ledger = yield* Ledger
        const caller = yield* newCaller({ credit: 1_000 })
        const { callId } = wants(caller, option(10))
        // without a limit for locks: as one whose connection is lost waits for its commit
        const batch = `select verdicts from ledger_apply(gen_random_uuid(), array['${callId}'::uuid], array[false],
          array[false], array['${caller.keyId}'::uuid], array['${caller.projectId}'::uuid],
          array['${caller.accountId}'::uuid], array[true], array['auto'], array[1], array[10::bigint],
          array[null::bigint], array[10::bigint], '{}', '{}', '{}', null, null, null, 0)`
        const voidIt = ledger.settle({ callId, caller, option: 0, amount: microUsd(0), room: microUsd(0) }, voided)
        // written, its commit is late: the void waits for it and closes it
        const writing = yield* connect(url)
        yield* Effect.promise(() => writing.query(`begin; ${batch}`))
        yield* voidIt
        const flushed = yield* Effect.fork(ledger.flushed)
        yield* untilLocked(url)
        yield* Effect.promise(() => writing.query("commit"))
        yield* Fiber.join(flushed)
        expect(yield* ledger.balance(caller.accountId)).toMatchObject({ heldMicroUsd: 0, spentMicroUsd: 0 })

        // decided, it waits for the account: the void comes first
        const other = wants(caller, option(10))
        const blocked = yield* connect(url)
        const outcome = yield* Effect.scoped(
          Effect.gen(function* () {
            const owner = yield* locking(url, caller)
            const late = blocked.query(batch.replace(callId, other.callId)).then(
              () => "committed",
              (error: { readonly code: string }) => error.code
            )
            yield* untilLocked(url)
            yield* ledger.settle(
              { callId: other.callId, caller, option: 0, amount: microUsd(0), room: microUsd(0) },
              voided
            )
            yield* ledger.flushed
            yield* Effect.promise(() => owner.query("commit"))
            return yield* Effect.promise(() => late)
          })
        )
        expect(outcome).toBe("23505")
        expect(yield* ledger.balance(caller.accountId)).toMatchObject({ heldMicroUsd: 0, spentMicroUsd: 0 })
        expect(yield* ledger.checkInvariants).toEqual([])
      }).pipe(Effect.provide(context))
    })
  )

  it.scopedLive("the server ends a transaction whose process says nothing", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase(postgresServer ?? "")
      const context = yield* Layer.build(postgresAt(url))
      const sql = Context.get(context, SqlClient)
      expect(yield* sql`show idle_in_transaction_session_timeout`).toEqual([
        { idle_in_transaction_session_timeout: "10s" }
      ])
    })
  )
})
