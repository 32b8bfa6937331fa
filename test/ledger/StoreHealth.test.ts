import { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { AccountId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import { RecoveryStore } from "../../src/ledger/RecoveryStore.ts"
import { StoreHealth } from "../../src/ledger/StoreHealth.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { fromMessage, logTo } from "../support/LogLines.ts"
import { embedded } from "./databases.ts"
import { newCaller, option, wants } from "./fixtures.ts"

const databaseError = (code: string, message: string) =>
  new SqlError({ message: "Failed to execute statement", cause: Object.assign(new Error(message), { code }) })
const diskFull = databaseError("53100", "could not extend file")

/** The health of a store whose sign of life the test plays. */
const scripted = Effect.gen(function* () {
  const timers = VirtualTimers.make()
  const lines: Array<string> = []
  const state = { beats: 0, beat: Effect.void as Effect.Effect<void, SqlError> }
  const store = RecoveryStore.of({
    isAlone: true,
    beat: Effect.suspend(() => {
      state.beats++
      return state.beat
    }),
    sweep: () => Effect.succeed(0),
    expireAll: Effect.succeed(0)
  })
  const health = yield* Effect.provide(
    StoreHealth,
    StoreHealth.layer.pipe(
      Layer.provide(Layer.succeed(RecoveryStore, store)),
      Layer.provide(Layer.succeed(Timers, timers)),
      Layer.provide(logTo(lines, fromMessage))
    )
  )
  return { health, lines, state, timers }
})

describe("Whether the store takes writes", () => {
  it.live("the store is probed with one write a second, however many ask", () =>
    Effect.gen(function* () {
      const { health, state, timers } = yield* scripted
      const all = yield* Effect.all(
        Array.from({ length: 20 }, () => health.takesWrites),
        { concurrency: "unbounded" }
      )
      expect(all.every((takes) => takes)).toBe(true)
      expect(state.beats).toBe(1)
      timers.advance(1_000)
      expect(yield* health.takesWrites).toBe(true)
      expect(state.beats).toBe(2)
    })
  )

  it.live(
    "the store takes no writes while the probe fails, with one log line when that begins and one when it ends",
    () =>
      Effect.gen(function* () {
        const { health, lines, state, timers } = yield* scripted
        state.beat = Effect.fail(databaseError("25006", "cannot execute INSERT in a read-only transaction"))
        for (let n = 0; n < 3; n++) {
          expect(yield* health.takesWrites).toBe(false)
          expect(health.outage()).toBe("read_only")
          timers.advance(1_000)
        }
        state.beat = Effect.void
        expect(yield* health.takesWrites).toBe(true)
        expect(lines.length).toBe(2)
        expect(lines[0]).toContain("the database takes no writes")
        expect(lines[0]).toContain("cannot execute INSERT in a read-only transaction (SQLSTATE 25006)")
        expect(lines[1]).toContain("the database takes writes again")
      })
  )

  it.live(
    "is no after a batch that found the disk full, even if the sign of life still fits, until a batch is written",
    () =>
      Effect.gen(function* () {
        const { health, lines, timers } = yield* scripted
        expect(health.failed(diskFull)).toBe(true)
        expect(yield* health.takesWrites).toBe(false)
        timers.advance(1_000)
        expect(yield* health.takesWrites).toBe(false)
        expect(health.outage()).toBe("disk_full")
        health.written()
        expect(yield* health.takesWrites).toBe(true)
        expect(health.outage()).toBeUndefined()
        expect(lines.length).toBe(2)
      })
  )

  it.live(
    "the store takes writes again some seconds after the last failed batch, when nothing is left to be written",
    () =>
      Effect.gen(function* () {
        const { health, timers } = yield* scripted
        health.failed(diskFull)
        timers.advance(5_000)
        expect(yield* health.takesWrites).toBe(true)
      })
  )

  it.live(
    "a statement that timed out on a lock or was rejected for its data does not change whether the store takes writes",
    () =>
      Effect.gen(function* () {
        const { health, lines } = yield* scripted
        for (const code of ["55P03", "57014", "40001", "23505", "22P02"]) {
          expect(health.failed(databaseError(code, "this one"))).toBe(false)
        }
        expect(yield* health.takesWrites).toBe(true)
        expect(lines).toEqual([])
      })
  )

  it.live("writes that another transaction delays are logged with the reason, for each account once a minute", () =>
    Effect.gen(function* () {
      const { health, lines, timers } = yield* scripted
      const locked = databaseError("55P03", "canceling statement due to lock timeout")
      const accounts = Array.from({ length: 20 }, (_, n) =>
        AccountId.make(`00000000-0000-7000-8000-0000000000${10 + n}`)
      )
      const [first] = accounts
      for (let n = 0; n < 3; n++) health.delayed(locked, first)
      expect(lines).toHaveLength(1)
      expect(lines[0]).toContain("writes of the ledger are delayed")
      expect(lines[0]).toContain("canceling statement due to lock timeout (SQLSTATE 55P03)")
      expect(lines[0]).toContain(`accountId=${first}`)
      health.delayed(databaseError("57014", "canceling statement due to statement timeout"))
      expect(lines).toHaveLength(2)
      expect(lines[1]).toContain("statement timeout (SQLSTATE 57014)")
      // a table that is locked delays every account
      for (const account of accounts) health.delayed(locked, account)
      expect(lines).toHaveLength(10)
      timers.advance(60_000)
      health.delayed(locked, first)
      expect(lines).toHaveLength(11)
      expect(yield* health.takesWrites).toBe(true)
    })
  )

  it.live(
    "every failure that is about the database and not about the statement is an outage, logged with its reason",
    () =>
      Effect.gen(function* () {
        // database renamed, database without connections, prepared statement lost, server and network
        for (const code of [
          "3D000",
          "55000",
          "26000",
          "0A000",
          "08006",
          "28P01",
          "53300",
          "57P03",
          "58030",
          "XX000",
          "42501",
          "42883",
          "42P01"
        ]) {
          const { health, lines } = yield* scripted
          expect([code, health.failed(databaseError(code, "this one"))]).toEqual([code, true])
          expect(lines.length).toBe(1)
          expect(lines[0]).toContain(`this one (SQLSTATE ${code})`)
        }
      })
  )

  it.live(
    "shows on the embedded database when it is read-only, and when it is not any more",
    () =>
      Effect.gen(function* () {
        const [sql, ledger, health] = [yield* SqlClient, yield* Ledger, yield* StoreHealth]
        const caller = yield* newCaller({ credit: 1_000 })
        expect(yield* health.takesWrites).toBe(true)
        // all its connections share one session
        yield* sql`set default_transaction_read_only = on`
        expect(Either.isLeft(yield* Effect.either(ledger.reserve(wants(caller, option(1)))))).toBe(true)
        expect(yield* health.takesWrites).toBe(false)
        yield* sql`set default_transaction_read_only = off`
        yield* ledger.reserve(wants(caller, option(1)))
        expect(yield* health.takesWrites).toBe(true)
      }).pipe(
        Effect.provide(
          LedgerLayer().pipe(
            Layer.provideMerge(embedded),
            Layer.provide(IdGenerator.layer),
            Layer.provideMerge(Timers.layer)
          )
        ),
        Effect.scoped
      ),
    60_000
  )
})
