import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { CallerShape } from "../../../src/domain/Caller.ts"
import { AccountId, KeyId, ProjectId } from "../../../src/domain/Ids.ts"
import { microUsd } from "../../../src/domain/Money.ts"
import * as AccountLanes from "../../../src/ledger/batcher/AccountLanes.ts"
import {
  BatchFailed,
  type BatchReservation,
  type BatchSettlement,
  type LedgerStoreShape,
  type ReservationResult
} from "../../../src/ledger/LedgerStore.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"
import { newCallId, option, record } from "../fixtures.ts"

const accounts = Array.from({ length: 8 }, (_, n): CallerShape => {
  const id = (kind: number) => `00000000-0000-7000-8000-0000000000${n}${kind}`
  return {
    accountId: AccountId.make(id(1)),
    projectId: ProjectId.make(id(2)),
    keyId: KeyId.make(id(3)),
    billingMode: "managed"
  }
})
const callerOf = (n: number) => accounts[n] ?? expect.unreachable("there are eight accounts")

const reservation = (n: number): BatchReservation => ({
  callId: newCallId(),
  extends: false,
  caller: callerOf(n),
  requestedModel: "auto",
  options: [option(10)],
  maxWaitMillis: 0
})
const settlement = (n: number): BatchSettlement => ({
  callId: newCallId(),
  caller: callerOf(n),
  state: "settled",
  actual: microUsd(5),
  record: record()
})

const granted: ReservationResult = { _tag: "Granted", option: 0, amount: microUsd(10), room: microUsd(0) }
const refused: ReservationResult = {
  _tag: "Insufficient",
  scope: "account",
  reason: "held",
  needed: microUsd(10),
  available: microUsd(5),
  held: microUsd(20)
}
const locked = new BatchFailed({ cause: "lock timeout", rejected: false, uncertain: false, locked: true })
const lockMillis = 200

/** Lets every fiber that can run do so. */
const quiet = Effect.repeatN(Effect.yieldNow(), 50)

/**
 * A database in which another transaction has the rows of some accounts locked, and running calls hold the money of some; with the
 * accounts of each statement.
 */
const setUp = Effect.gen(function* () {
  const timers = VirtualTimers.make(0)
  const lockedAccounts = new Set<string>()
  const withoutMoney = new Set<string>()
  const statements: Array<{ readonly accounts: ReadonlyArray<number>; readonly atMillis: number }> = []
  const written: Array<string> = []
  const held: Array<string> = []
  const delayed: Array<{ readonly account: number; readonly atMillis: number }> = []
  const store: LedgerStoreShape = {
    lockedAccounts: (callers) =>
      Effect.sync(() => {
        const ids = callers.map(({ accountId }) => accountId)
        return new Set(ids.filter((id) => lockedAccounts.has(id)))
      }),
    apply: (reservations, settlements, maxLockMillis) =>
      Effect.suspend(() => {
        const callers = [...reservations, ...settlements].map(({ caller }) => caller)
        statements.push({ accounts: [...new Set(callers.map((one) => accounts.indexOf(one)))], atMillis: timers.now() })
        if (!callers.some(({ accountId }) => lockedAccounts.has(accountId))) {
          written.push(...settlements.map(({ callId }) => callId))
          const isRefused = ({ caller }: BatchReservation) => withoutMoney.has(caller.accountId)
          held.push(...reservations.filter((one) => !isRefused(one)).map(({ callId }) => callId))
          return Effect.succeed(reservations.map((one) => (isRefused(one) ? refused : granted)))
        }
        return Effect.zipRight(
          Effect.async<void>((resume) => {
            timers.after(maxLockMillis, () => resume(Effect.void))
          }),
          locked
        )
      }),
    balance: () => Effect.dieMessage("not asked for"),
    checkInvariants: Effect.dieMessage("not asked for")
  }
  const scope = yield* Scope.make()
  const lanes = yield* AccountLanes.make(store, timers, {
    failed: () => false,
    written: () => {},
    delayed: (_, account) => {
      delayed.push({ account: accounts.findIndex(({ accountId }) => accountId === account), atMillis: timers.now() })
    }
  }).pipe(Scope.extend(scope))
  const advance = (millis: number) =>
    Effect.gen(function* () {
      for (let passed = 0; passed < millis; passed += 10) {
        yield* quiet
        timers.advance(10)
      }
      yield* quiet
    })
  return { lanes, statements, written, held, delayed, lockedAccounts, withoutMoney, advance, scope, timers }
})

describe("An account whose rows are locked", () => {
  it.effect("the calls of all others that were in its batch are granted, none fails", () =>
    Effect.gen(function* () {
      const { advance, lanes, lockedAccounts } = yield* setUp
      lockedAccounts.add(callerOf(3).accountId)
      const fibers = yield* Effect.forEach(accounts, (_, n) =>
        Effect.fork(Effect.either(lanes.reserve(reservation(n))))
      )
      // the batch waits for the lock for a moment, then it is asked whose it is
      yield* advance(40)
      const ends = yield* Effect.forEach(fibers, Fiber.poll)
      expect(ends.map((end) => end._tag)).toEqual(accounts.map((_, n) => (n === 3 ? "None" : "Some")))
      yield* advance(3_000)
      expect(yield* Fiber.join(fibers[3] ?? expect.unreachable("there are eight"))).toMatchObject({
        _tag: "Left",
        left: { _tag: "ServiceRefused", reason: "overloaded" }
      })
    })
  )

  it.effect(
    "the lock is reported once the account's callers are refused because of it, and not one that is soon over",
    () =>
      Effect.gen(function* () {
        const { advance, delayed, lanes, lockedAccounts } = yield* setUp
        lockedAccounts.add(callerOf(3).accountId)
        for (const n of [2, 3]) lanes.settle(settlement(n))
        yield* advance(1_500)
        lockedAccounts.clear()
        yield* advance(500)
        expect(delayed).toEqual([])
        lockedAccounts.add(callerOf(3).accountId)
        lanes.settle(settlement(3))
        const fiber = yield* Effect.fork(Effect.either(lanes.reserve(reservation(3))))
        yield* advance(3_000)
        expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "Left", left: { reason: "overloaded" } })
        expect(new Set(delayed.map(({ account }) => account))).toEqual(new Set([3]))
        expect(delayed[0]?.atMillis).toBeGreaterThanOrEqual(4_000)
      })
  )

  it.effect("others that were in its batch are written together again, in their order", () =>
    Effect.gen(function* () {
      const { advance, held, lanes, lockedAccounts, statements, written } = yield* setUp
      lockedAccounts.add(callerOf(3).accountId)
      const reservations = accounts.map((_, n) => reservation(n))
      const settlements = accounts.map((_, n) => settlement(n))
      for (const one of settlements) lanes.settle(one)
      const fibers = yield* Effect.forEach(reservations, (one) => Effect.fork(lanes.reserve(one)))
      yield* advance(40)
      const others = [0, 1, 2, 4, 5, 6, 7]
      expect(statements.map(({ accounts }) => [...accounts].sort())).toEqual([[0, 1, 2, 3, 4, 5, 6, 7], others, [3]])
      expect(held).toEqual(others.map((n) => reservations[n]?.callId))
      expect(written).toEqual(others.map((n) => settlements[n]?.callId))
      lockedAccounts.clear()
      yield* advance(500)
      yield* Effect.forEach(fibers, Fiber.join)
      expect(held.length + written.length).toBe(16)
    })
  )

  it.effect("where many accounts are locked, as by the batch of another node, all wait for it", () =>
    Effect.gen(function* () {
      const { advance, held, lanes, lockedAccounts, statements } = yield* setUp
      const callers = Array.from({ length: 9 }, (_, n): CallerShape => {
        const id = `00000000-0000-7000-8001-00000000000${n}`
        return { ...callerOf(0), accountId: AccountId.make(id) }
      })
      for (const { accountId } of callers) lockedAccounts.add(accountId)
      const fibers = yield* Effect.forEach(callers, (caller) =>
        Effect.fork(lanes.reserve({ ...reservation(0), caller }))
      )
      yield* advance(40)
      expect(statements).toHaveLength(2)
      lockedAccounts.clear()
      yield* advance(lockMillis + 100)
      yield* Effect.forEach(fibers, Fiber.join)
      expect(held).toHaveLength(9)
    })
  )

  it.effect("a call of another account that is given up while its batch meets the lock leaves no hold", () =>
    Effect.gen(function* () {
      const { advance, held, lanes, lockedAccounts } = yield* setUp
      lockedAccounts.add(callerOf(3).accountId)
      const fibers = yield* Effect.forEach(accounts, (_, n) => Effect.fork(lanes.reserve(reservation(n))))
      yield* advance(10)
      const given = fibers[1] ?? expect.unreachable("there are eight")
      yield* Fiber.interruptFork(given)
      yield* advance(30)
      expect(held).toHaveLength(6)
      lockedAccounts.clear()
      yield* advance(500)
      expect(held).toHaveLength(7)
    })
  )

  it.effect("one that waits for money and is given up while its batch meets the lock is not decided again", () =>
    Effect.gen(function* () {
      const { advance, held, lanes, lockedAccounts, statements, withoutMoney } = yield* setUp
      withoutMoney.add(callerOf(1).accountId)
      const waiting = yield* Effect.fork(lanes.reserve({ ...reservation(1), maxWaitMillis: 60_000 }))
      yield* advance(10)
      withoutMoney.clear()
      lockedAccounts.add(callerOf(3).accountId)
      const settled = Effect.sync(() => lanes.settle(settlement(1)))
      const other = yield* Effect.fork(Effect.zipRight(settled, lanes.reserve(reservation(3))))
      yield* advance(10)
      expect(statements.at(-1)?.accounts).toEqual([1, 3])
      yield* Fiber.interruptFork(waiting)
      yield* advance(30)
      lockedAccounts.clear()
      yield* advance(500)
      yield* Fiber.join(other)
      expect(held).toHaveLength(1)
    })
  )

  it.effect("while it is locked, others are not written with it and do not wait for it", () =>
    Effect.gen(function* () {
      const { advance, lanes, lockedAccounts, statements, timers } = yield* setUp
      lockedAccounts.add(callerOf(0).accountId)
      lanes.settle(settlement(0))
      yield* advance(500)
      const before = statements.length
      for (let n = 0; n < 100; n++) {
        const fiber = yield* Effect.fork(lanes.reserve(reservation(1 + (n % 7))))
        lanes.settle(settlement(1 + (n % 7)))
        lanes.settle(settlement(0))
        const askedAt = timers.now()
        yield* quiet
        expect(yield* Fiber.poll(fiber)).toMatchObject({ _tag: "Some" })
        expect(timers.now()).toBe(askedAt)
        yield* advance(10)
      }
      const shared = statements.slice(before).filter(({ accounts }) => accounts.length > 1 && accounts.includes(0))
      expect(shared).toEqual([])
    })
  )

  it.effect("once the lock is gone its settlements are written, each once, and its calls are granted", () =>
    Effect.gen(function* () {
      const { advance, lanes, lockedAccounts, written } = yield* setUp
      lockedAccounts.add(callerOf(0).accountId)
      const all = Array.from({ length: 40 }, (_, n) => settlement(n % 4))
      for (const [n, one] of all.entries()) {
        lanes.settle(one)
        if (n % 10 === 9) yield* advance(150)
      }
      const flushed = yield* Effect.fork(lanes.flushed)
      const waiting = yield* Effect.fork(lanes.reserve(reservation(0)))
      yield* advance(1_000)
      expect(yield* Fiber.poll(flushed)).toMatchObject({ _tag: "None" })
      lockedAccounts.clear()
      yield* advance(1_000)
      expect(yield* Fiber.join(waiting)).toEqual(granted)
      yield* Fiber.join(flushed)
      expect([...written].sort()).toEqual(all.map(({ callId }) => callId).sort())
    })
  )

  it.effect("while it is locked, only who waits for its own settlements waits for them", () =>
    Effect.gen(function* () {
      const { advance, lanes, lockedAccounts, written } = yield* setUp
      lockedAccounts.add(callerOf(0).accountId)
      const [ofLocked, ofOther] = [settlement(0), settlement(1)]
      for (const one of [ofLocked, ofOther]) lanes.settle(one)
      const flushed = yield* Effect.fork(lanes.flushedOf(callerOf(0).accountId))
      const others = yield* Effect.fork(lanes.flushedOf(callerOf(1).accountId))
      yield* advance(40)
      expect(yield* Fiber.poll(others)).toMatchObject({ _tag: "Some" })
      expect(written).toEqual([ofOther.callId])
      yield* advance(500)
      const next = settlement(1)
      lanes.settle(next)
      yield* lanes.flushedOf(callerOf(1).accountId)
      expect(written).toEqual([ofOther.callId, next.callId])
      expect(yield* Fiber.poll(flushed)).toMatchObject({ _tag: "None" })
      lockedAccounts.clear()
      yield* advance(500)
      yield* Fiber.join(flushed)
      expect(written).toEqual([ofOther.callId, next.callId, ofLocked.callId])
    })
  )

  it.effect("what is queued behind the batch that met the lock is decided once", () =>
    Effect.gen(function* () {
      const { advance, held, lanes, lockedAccounts } = yield* setUp
      lockedAccounts.add(callerOf(0).accountId)
      const all = Array.from({ length: 6 }, (_, n) => reservation(n % 3))
      const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
      for (const one of all) {
        fibers.push(yield* Effect.fork(lanes.reserve(one)))
        yield* advance(10)
      }
      lockedAccounts.clear()
      yield* advance(1_000)
      yield* Effect.forEach(fibers, Fiber.join)
      expect([...held].sort()).toEqual(all.map(({ callId }) => callId).sort())
    })
  )

  it.effect("a while after the lock its calls are written with those of others again", () =>
    Effect.gen(function* () {
      const { advance, lanes, lockedAccounts, statements } = yield* setUp
      lockedAccounts.add(callerOf(0).accountId)
      lanes.settle(settlement(0))
      yield* advance(500)
      lockedAccounts.clear()
      yield* advance(6_000)
      const before = statements.length
      yield* Effect.forkAll([0, 1].map((n) => lanes.reserve(reservation(n))))
      yield* quiet
      expect(statements.slice(before).map(({ accounts }) => accounts)).toEqual([[0, 1]])
    })
  )

  it.effect("a reservation that is interrupted while the rows are locked is given up", () =>
    Effect.gen(function* () {
      const { advance, lanes, lockedAccounts, statements } = yield* setUp
      lockedAccounts.add(callerOf(0).accountId)
      const fiber = yield* Effect.fork(lanes.reserve(reservation(0)))
      yield* advance(450)
      yield* Fiber.interrupt(fiber)
      yield* advance(500)
      const before = statements.length
      yield* advance(5_000)
      expect(statements.slice(before)).toEqual([])
    })
  )

  it.effect("closing waits for its settlements, for a bounded time", () =>
    Effect.gen(function* () {
      const { advance, lanes, lockedAccounts, scope, written } = yield* setUp
      lockedAccounts.add(callerOf(0).accountId)
      const one = settlement(0)
      lanes.settle(one)
      yield* advance(300)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* advance(1_000)
      expect(yield* Fiber.poll(closing)).toMatchObject({ _tag: "None" })
      lockedAccounts.clear()
      yield* advance(500)
      yield* Fiber.join(closing)
      expect(written).toEqual([one.callId])
    })
  )
})
