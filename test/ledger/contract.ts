import { randomUUID } from "node:crypto"
import { expect, type Vitest } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type { InsufficientFunds } from "../../src/domain/GatewayError.ts"
import { AccountId, KeyId } from "../../src/domain/Ids.ts"
import { usage } from "../../src/domain/Usage.ts"
import { type HoldOption, Ledger, type Reservation } from "../../src/ledger/Ledger.ts"
import { Scopes } from "../../src/ledger/Scopes.ts"
import { cancelled, newCaller, newKey, option, settled, voided, wants, wantsFirst } from "./fixtures.ts"

/** What every implementation of the ledger promises. */
export const promises = (it: { readonly effect: Vitest.Tester<Ledger | Scopes> }) => {
  const refusedBy = (scope: InsufficientFunds["scope"], reason: InsufficientFunds["reason"], amounts = {}) =>
    expect.objectContaining({ _tag: "Left", left: expect.objectContaining({ scope, reason, ...amounts }) })

  it.effect("a thousand concurrent calls on a limit for two hundred are granted exactly two hundred", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const scopes = yield* Scopes
      const caller = yield* newCaller({ credit: 1_000_000, key: 200 * 50 })
      const samples: Array<boolean> = []
      const sample = Effect.gen(function* () {
        const key = Option.getOrThrow(yield* scopes.read(caller.keyId))
        samples.push(key.spentMicroUsd + key.heldMicroUsd <= 200 * 50)
      })
      const watch = yield* Effect.fork(Effect.forever(sample.pipe(Effect.zipRight(Effect.yieldNow()))))
      const granted = yield* Effect.forEach(
        Array.from({ length: 1_000 }, () => wants(caller, option(50))),
        (request, index) =>
          Effect.gen(function* () {
            const outcome = yield* Effect.either(ledger.reserve(request))
            if (Either.isRight(outcome) && index % 2 === 0) yield* ledger.settle(outcome.right, settled(50))
            return outcome
          }),
        { concurrency: "unbounded" }
      )
      yield* ledger.flushed
      yield* sample
      yield* Fiber.interrupt(watch)
      expect(granted.filter(Either.isRight).length).toBe(200)
      expect(samples).not.toContain(false)
      const key = Option.getOrThrow(yield* scopes.read(caller.keyId))
      expect(key.spentMicroUsd + key.heldMicroUsd).toBe(10_000)
    })
  )

  it.effect("a caller without scopes is a defect that says so", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { accountId, ...caller } = yield* newCaller({})
      for (const unknown of [
        { ...caller, accountId: AccountId.make(randomUUID()) },
        { ...caller, accountId, keyId: KeyId.make(randomUUID()) }
      ]) {
        const exit = yield* Effect.exit(ledger.reserve(wants(unknown, option(50))))
        expect(Exit.isFailure(exit) && Cause.isDie(exit.cause) && Cause.pretty(exit.cause)).toContain("has no scope")
      }
    })
  )

  it.effect("a settled call is charged its cost, and the remainder of its hold is released", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_000 })
      const hold = yield* ledger.reserve(wants(caller, option(800)))
      expect(yield* ledger.balance(caller.accountId)).toEqual({
        creditMicroUsd: 1_000,
        spentMicroUsd: 0,
        heldMicroUsd: 800
      })
      yield* ledger.settle(hold, settled(300))
      yield* ledger.flushed
      expect(yield* ledger.balance(caller.accountId)).toEqual({
        creditMicroUsd: 1_000,
        spentMicroUsd: 300,
        heldMicroUsd: 0
      })
    })
  )

  it.effect("options after the first are asked for where it does not fit, and only there", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_000 })
      let times = 0
      const first = (min: number): Reservation => ({
        ...wants(caller, option(min)),
        otherOptions: () => {
          times += 1
          return [option(300), option(200)]
        }
      })
      expect(yield* ledger.reserve(first(800))).toMatchObject({ option: 0, amount: 800 })
      expect(times).toBe(0)
      expect(yield* ledger.reserve(first(800))).toMatchObject({ option: 2, amount: 200 })
      expect(times).toBe(1)
      // the smallest of all options is what would be needed
      expect(yield* Effect.either(ledger.reserve(first(800)))).toEqual(
        refusedBy("account", "held", { neededMicroUsd: 200, availableMicroUsd: 0, heldMicroUsd: 1_000 })
      )
    })
  )

  it.effect("calls whose first option does not fit are granted another one beside calls that wait", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 100 })
      const held = yield* ledger.reserve(wants(caller, option(70)))
      const calls = [
        wantsFirst(caller, option(80), option(10)),
        wants(caller, option(50)),
        wantsFirst(caller, option(90), option(20))
      ]
      const fibers = yield* Effect.forEach(calls, (one) =>
        Effect.fork(Effect.map(ledger.reserve({ ...one, maxWaitMillis: 60_000 }), ({ amount }) => amount))
      )
      const amounts = Fiber.join(Fiber.all(fibers))
      const [first] = fibers
      if (first !== undefined) expect(yield* Fiber.join(first)).toBe(10)
      yield* ledger.settle(held, settled(0))
      expect(yield* amounts).toEqual([10, 50, 20])
      yield* ledger.flushed
      expect(yield* ledger.checkInvariants).toEqual([])
    })
  )

  it.effect("a settlement that was queued first makes room for the next call", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 100 })
      const first = yield* ledger.reserve(wants(caller, option(100)))
      yield* ledger.settle(first, settled(10))
      const second = yield* ledger.reserve(wants(caller, option(90)))
      expect(second.amount).toBe(90)
      yield* ledger.settle(second, voided)
    })
  )

  it.effect("a void costs nothing, a cancelled call what was used", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_000 })
      yield* ledger.settle(yield* ledger.reserve(wants(caller, option(400))), voided)
      yield* ledger.settle(yield* ledger.reserve(wants(caller, option(400))), cancelled(70))
      yield* ledger.flushed
      const balance = yield* ledger.balance(caller.accountId)
      expect(balance).toEqual({ creditMicroUsd: 1_000, spentMicroUsd: 70, heldMicroUsd: 0 })
    })
  )

  it.effect("only the first settlement of a call counts", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_000 })
      const hold = yield* ledger.reserve(wants(caller, option(400)))
      yield* ledger.settle(hold, settled(100))
      yield* ledger.settle(hold, settled(200))
      yield* ledger.flushed
      yield* ledger.settle(hold, cancelled(300))
      yield* ledger.settle(hold, voided)
      yield* ledger.flushed
      expect((yield* ledger.balance(caller.accountId)).spentMicroUsd).toBe(100)
      expect(yield* ledger.checkInvariants).toEqual([])
    })
  )

  it.effect("the customer never pays more than the hold", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_000 })
      yield* ledger.settle(yield* ledger.reserve(wants(caller, option(400))), settled(450, {}, 400))
      yield* ledger.flushed
      expect((yield* ledger.balance(caller.accountId)).spentMicroUsd).toBe(400)
      expect(yield* ledger.checkInvariants).toEqual([])
    })
  )

  it.effect("the first option with room for its least is granted, with as much of its full as there is room for", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_000, key: 500 })
      const hold = yield* ledger.reserve(wants(caller, option(900, 600), option(700, 300), option(100, 50)))
      expect(hold).toMatchObject({ option: 1, amount: 500 })
      yield* ledger.settle(hold, voided)
      const small = yield* ledger.reserve(wants(caller, option(900, 700), option(800, 600), option(100, 50)))
      expect(small).toMatchObject({ option: 2, amount: 100 })
      yield* ledger.settle(small, voided)
    })
  )

  it.effect("calls without a cap take what is typical up to half of the room, then a sixteenth of it each", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_600 })
      const amountOf = (given: HoldOption) => Effect.map(ledger.reserve(wants(caller, given)), ({ amount }) => amount)
      expect(yield* amountOf(option(5_000, 10, 700))).toBe(700)
      expect(yield* amountOf(option(5_000, 10, 700))).toBe(450)
      expect(yield* amountOf(option(5_000, 10, 20))).toBe(28)
      expect(yield* amountOf(option(5_000, 300, 310))).toBe(300)
      expect(yield* amountOf(option(12, 10, 12))).toBe(12)
      expect(yield* amountOf(option(5_000, 10))).toBe(110)
    })
  )

  it.effect("twenty-six calls without a cap are held at once where four would have held everything", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 5_000_000 })
      // 64,000 tokens of output at $25 a million, 8,192 of them typical, 256 the least
      const opus = option(1_605_250, 11_650, 210_050)
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 64 }, () => wants(caller, opus)),
        (request) => Effect.either(ledger.reserve(request)),
        { concurrency: "unbounded" }
      )
      expect(outcomes.filter(Either.isRight)).toHaveLength(26)
    })
  )

  it.effect("an extension without a cap takes a share of the room for what it adds", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_000 })
      const hold = yield* ledger.reserve(wants(caller, option(200)))
      expect((yield* ledger.extend(hold, option(2_000, 210, 300))).amount).toBe(300)
      expect((yield* ledger.extend(hold, option(2_000, 310, 5_000))).amount).toBe(650)
      expect(yield* Effect.either(ledger.extend(hold, option(2_000, 1_001, 1_500)))).toEqual(
        refusedBy("account", "too_large", { neededMicroUsd: 351, availableMicroUsd: 350, heldMicroUsd: 650 })
      )
    })
  )

  it.effect("a hold says what its narrowest scope has left beside it", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_000, key: 600 })
      const hold = yield* ledger.reserve(wants(caller, option(200)))
      expect(hold).toMatchObject({ amount: 200, room: 400 })
      expect(yield* ledger.extend(hold, option(250))).toMatchObject({ amount: 250, room: 350 })
    })
  )

  it.effect("a refusal names the scope and says whether it is empty, busy or too small", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const poor = yield* newCaller({ credit: 100, key: 60 })
      const attempt = (full: number) => Effect.either(ledger.reserve(wants(poor, option(full))))
      expect(yield* attempt(200)).toEqual(
        refusedBy("account", "too_large", { neededMicroUsd: 200, availableMicroUsd: 100, heldMicroUsd: 0 })
      )
      expect(yield* attempt(80)).toEqual(refusedBy("key", "too_large"))
      const hold = yield* ledger.reserve(wants(poor, option(60)))
      expect(yield* attempt(10)).toEqual(
        refusedBy("key", "held", { neededMicroUsd: 10, availableMicroUsd: 0, heldMicroUsd: 60 })
      )
      yield* ledger.settle(hold, settled(60))
      yield* ledger.flushed
      expect(yield* attempt(10)).toEqual(refusedBy("key", "exhausted"))
      const other = yield* newKey(poor, null)
      expect(yield* Effect.either(ledger.reserve(wants(other, option(50))))).toEqual(refusedBy("account", "too_large"))
      yield* ledger.settle(yield* ledger.reserve(wants(other, option(40))), settled(40))
      yield* ledger.flushed
      expect(yield* Effect.either(ledger.reserve(wants(other, option(1))))).toEqual(refusedBy("account", "exhausted"))
      const limited = yield* newCaller({ credit: 100, project: 0 })
      expect(yield* Effect.either(ledger.reserve(wants(limited, option(1))))).toEqual(refusedBy("project", "exhausted"))
    })
  )

  it.effect("a large call that is rejected does not block the smaller ones behind it", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 100 })
      const outcomes = yield* Effect.forEach(
        [60, 500, 40, 1],
        (amount) => Effect.either(ledger.reserve(wants(caller, option(amount)))),
        { concurrency: "unbounded" }
      )
      expect(outcomes.map(Either.isRight)).toEqual([true, false, true, false])
    })
  )

  it.effect("a call that costs nothing is granted to an account without money", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 0 })
      const hold = yield* ledger.reserve(wants(caller, option(0)))
      yield* ledger.settle(hold, settled(0))
      yield* ledger.flushed
      expect(yield* ledger.checkInvariants).toEqual([])
    })
  )

  it.effect("byok spending counts for the key and the project, never against the balance", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const scopes = yield* Scopes
      const caller = yield* newCaller({ credit: 0, key: 100, billingMode: "byok" })
      const hold = yield* ledger.reserve(wants(caller, option(80)))
      expect(yield* Effect.either(ledger.reserve(wants(caller, option(30))))).toEqual(refusedBy("key", "held"))
      yield* ledger.settle(hold, settled(90, {}, 80))
      yield* ledger.flushed
      expect(yield* ledger.balance(caller.accountId)).toEqual({ creditMicroUsd: 0, spentMicroUsd: 0, heldMicroUsd: 0 })
      expect(Option.getOrThrow(yield* scopes.read(caller.projectId)).spentMicroUsd).toBe(80)
      expect(Option.getOrThrow(yield* scopes.read(caller.keyId)).spentMicroUsd).toBe(80)
      expect(yield* ledger.checkInvariants).toEqual([])
    })
  )

  it.effect(
    "an extension raises the hold as far as the balance allows, never lowers it, and leaves it when rejected",
    () =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const caller = yield* newCaller({ credit: 1_000 })
        const hold = yield* ledger.reserve(wants(caller, option(400)))
        const raised = yield* ledger.extend(hold, option(600, 500))
        expect(raised.amount).toBe(600)
        const most = yield* ledger.extend(raised, option(2_000, 700))
        expect(most.amount).toBe(1_000)
        expect((yield* ledger.extend(most, option(10))).amount).toBe(1_000)
        expect(yield* Effect.either(ledger.extend(most, option(2_000)))).toEqual(refusedBy("account", "too_large"))
        yield* ledger.settle(most, settled(1_000))
        yield* ledger.flushed
        expect(yield* ledger.balance(caller.accountId)).toEqual({
          creditMicroUsd: 1_000,
          spentMicroUsd: 1_000,
          heldMicroUsd: 0
        })
        expect(yield* ledger.checkInvariants).toEqual([])
      })
  )

  it.effect("a complete call whose client was told of less than it has used is charged what was told", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_000 })
      const hold = yield* ledger.reserve(wants(caller, option(400)))
      yield* ledger.extend(hold, option(600))
      const used = { prices: '{"input":1000000,"output":1000000}', usage: usage({ inputTokens: 500, outputTokens: 0 }) }
      yield* ledger.settle(hold, { ...settled(400, used), state: "cancelled" })
      yield* ledger.flushed
      expect(yield* ledger.balance(caller.accountId)).toMatchObject({ spentMicroUsd: 400, heldMicroUsd: 0 })
      expect(yield* ledger.checkInvariants).toEqual([])
    })
  )

  it.effect("a hold that has ended cannot be extended", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_000 })
      const hold = yield* ledger.reserve(wants(caller, option(400)))
      yield* ledger.settle(hold, settled(1))
      const outcome = yield* Effect.either(ledger.extend(hold, option(500)))
      expect(Either.isLeft(outcome) && outcome.left._tag).toBe("StoreUnavailable")
    })
  )

  it.effect("a second hold for one call is a defect and leaves the first as it is", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 1_000 })
      const request = wants(caller, option(100))
      yield* ledger.reserve(request)
      const again = yield* Effect.exit(ledger.reserve(request))
      expect(Exit.isFailure(again) && again.cause._tag).toBe("Die")
      expect((yield* ledger.balance(caller.accountId)).heldMicroUsd).toBe(100)
    })
  )

  it.effect("a limit may be lowered below what is spent and held: calls finish, new ones are rejected", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const scopes = yield* Scopes
      const caller = yield* newCaller({ credit: 1_000, key: 500 })
      const hold = yield* ledger.reserve(wants(caller, option(300)))
      yield* scopes.setLimit(caller.keyId, 100)
      expect(yield* Effect.either(ledger.reserve(wants(caller, option(1))))).toEqual(refusedBy("key", "held"))
      yield* ledger.settle(hold, settled(300))
      yield* ledger.flushed
      expect(yield* Effect.either(ledger.reserve(wants(caller, option(0))))).toEqual(refusedBy("key", "exhausted"))
      yield* scopes.setLimit(caller.keyId, null)
      const free = yield* ledger.reserve(wants(caller, option(700)))
      yield* ledger.settle(free, voided)
      yield* ledger.flushed
      expect(yield* ledger.checkInvariants).toEqual([])
    })
  )

  /** Lets the first wait begin before the second. */
  const began = Effect.repeatN(Effect.yieldNow(), 20)
  const waits = (request: Reservation, onWaiting = () => {}): Reservation => ({
    ...request,
    maxWaitMillis: 60_000,
    onWaiting
  })

  it.effect("a call waits for money that running calls hold, and is granted when it returns", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 100 })
      const hold = yield* ledger.reserve(wants(caller, option(100)))
      const waiting = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        ledger.reserve(waits(wants(caller, option(90)), () => Deferred.unsafeDone(waiting, Effect.void)))
      )
      yield* Deferred.await(waiting)
      yield* ledger.settle(hold, settled(10))
      const granted = yield* Fiber.join(fiber)
      expect(granted.amount).toBe(90)
      yield* ledger.settle(granted, voided)
    })
  )

  it.effect("what waits is granted in the order of arrival, and a later call does not overtake it", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 100 })
      const order: Array<number> = []
      const first = yield* ledger.reserve(wants(caller, option(60)))
      const fibers = yield* Effect.forEach([80, 30, 20], (amount) => {
        const waiting = Deferred.unsafeMake<void>(FiberId.none)
        const request = waits(wants(caller, option(amount)), () => Deferred.unsafeDone(waiting, Effect.void))
        const granted = ledger.reserve(request).pipe(Effect.tap(() => Effect.sync(() => order.push(amount))))
        return Effect.zipLeft(Effect.fork(granted), Deferred.await(waiting))
      })
      expect(order).toEqual([])
      yield* ledger.settle(first, voided)
      for (const fiber of fibers) {
        const granted = yield* Fiber.join(fiber)
        yield* ledger.settle(granted, voided)
      }
      expect(order).toEqual([80, 30, 20])
    })
  )

  it.effect("an interrupted wait leaves its place and no hold, and those behind it go on", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 100 })
      const hold = yield* ledger.reserve(wants(caller, option(60)))
      const begins = Deferred.unsafeMake<void>(FiberId.none)
      const large = yield* Effect.fork(
        ledger.reserve(waits(wants(caller, option(80)), () => Deferred.unsafeDone(begins, Effect.void)))
      )
      yield* Deferred.await(begins)
      const small = yield* Effect.fork(ledger.reserve(waits(wants(caller, option(40)))))
      yield* began
      yield* Fiber.interrupt(large)
      const granted = yield* Fiber.join(small)
      expect((yield* ledger.balance(caller.accountId)).heldMicroUsd).toBe(100)
      yield* ledger.settle(granted, voided)
      yield* ledger.settle(hold, voided)
      yield* ledger.flushed
      expect((yield* ledger.balance(caller.accountId)).heldMicroUsd).toBe(0)
    })
  )

  it.effect("calls of another account do not wait", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const caller = yield* newCaller({ credit: 100 })
      const other = yield* newCaller({ credit: 100 })
      const hold = yield* ledger.reserve(wants(caller, option(100)))
      const begins = Deferred.unsafeMake<void>(FiberId.none)
      const waiting = yield* Effect.fork(
        ledger.reserve(waits(wants(caller, option(1)), () => Deferred.unsafeDone(begins, Effect.void)))
      )
      yield* Deferred.await(begins)
      expect((yield* ledger.reserve(waits(wants(other, option(100))))).amount).toBe(100)
      yield* Fiber.interrupt(waiting)
      yield* ledger.settle(hold, voided)
    })
  )

  // 700 tokens in and 300 out cost $0.011 at $5 and $25 a million
  for (const [clients, credit] of [
    [16, 5_000_000],
    [64, 25_000_000]
  ] as const) {
    it.effect(
      `${clients} clients without a cap on $${credit / 1_000_000}: every call succeeds that its money pays for`,
      () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit })
          const dear = option(1_605_250, 11_650, 210_050)
          const call = Effect.gen(function* () {
            const hold = yield* ledger.reserve(waits(wants(caller, dear)))
            yield* began
            yield* ledger.settle(hold, settled(Math.min(11_000, hold.amount)))
          })
          const outcomes = yield* Effect.forEach(Array.from({ length: clients * 5 }), () => Effect.either(call), {
            concurrency: clients
          })
          expect(outcomes.filter(Either.isLeft)).toEqual([])
          yield* ledger.flushed
          expect((yield* ledger.balance(caller.accountId)).spentMicroUsd).toBe(clients * 5 * 11_000)
        })
    )
  }

  it.effect("one payment credits an account once", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const scopes = yield* Scopes
      const caller = yield* newCaller({ credit: 0 })
      expect(yield* scopes.credit(caller.accountId, 500, "payment:1")).toBe(true)
      expect(yield* scopes.credit(caller.accountId, 500, "payment:1")).toBe(false)
      expect(yield* scopes.credit(caller.accountId, 250, "payment:2")).toBe(true)
      expect((yield* ledger.balance(caller.accountId)).creditMicroUsd).toBe(750)
      yield* scopes.open("account", caller.accountId, null)
      expect((yield* ledger.balance(caller.accountId)).creditMicroUsd).toBe(750)
      expect(yield* ledger.checkInvariants).toEqual([])
    })
  )

  it.effect("a credit or limit that is no amount of money is a defect, and changes nothing", () =>
    Effect.gen(function* () {
      const scopes = yield* Scopes
      const { accountId, keyId } = yield* newCaller({ credit: 500, key: 50 })
      const defect = (what: Effect.Effect<unknown, unknown>) =>
        Effect.map(Effect.exit(what), (exit) => expect(Exit.isFailure(exit) && Cause.isDie(exit.cause)).toBe(true))
      const before = [yield* scopes.read(accountId), yield* scopes.read(keyId)]
      for (const amount of [-1, 0.5, Number.NaN, 2 ** 53]) {
        yield* defect(scopes.credit(accountId, amount, `payment:${amount}`))
        yield* defect(scopes.setLimit(keyId, amount))
        yield* defect(scopes.open("key", KeyId.make(randomUUID()), amount))
      }
      yield* defect(scopes.credit(accountId, 0, "payment:nothing"))
      expect([yield* scopes.read(accountId), yield* scopes.read(keyId)]).toEqual(before)
    })
  )
}
