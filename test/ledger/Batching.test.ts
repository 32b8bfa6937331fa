import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { microUsd } from "../../src/domain/Money.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { type Hold, Ledger } from "../../src/ledger/Ledger.ts"
import { BatchFailed, LedgerStore, type ReservationResult } from "../../src/ledger/LedgerStore.ts"
import { StoreHealth } from "../../src/ledger/StoreHealth.ts"
import { VirtualTimers } from "../../src/testing/index.ts"
import { caller, newCallId, option, settled, wants } from "./fixtures.ts"

const granted: ReservationResult = { _tag: "Granted", option: 0, amount: microUsd(10), room: microUsd(0) }
const unreachable = new BatchFailed({ cause: "connection refused", rejected: false, uncertain: false, locked: false })
const refused = new BatchFailed({ cause: "invalid text", rejected: true, uncertain: false, locked: false })
const unanswered = new BatchFailed({ cause: "no answer", rejected: false, uncertain: true, locked: false })

/** One statement, as the database gets it. */
interface Statement {
  readonly atMillis: number
  readonly holds: number
  readonly settlements: ReadonlyArray<{ readonly callId: string; readonly state: string }>
}

const slow = new BatchFailed({ cause: "statement timeout", rejected: false, uncertain: false, locked: false })

/** What the database does with a statement. */
type Answer = (statement: Statement) => Effect.Effect<void, BatchFailed>
const accepts: Answer = () => Effect.void
const answers =
  (failure: BatchFailed): Answer =>
  () =>
    failure

/** Lets every fiber that can run do so. */
const quiet = Effect.repeatN(Effect.yieldNow(), 50)

/** The ledger over a database that answers as the test says, on a clock that the test moves. */
const withDatabase = <A, E>(
  test: (database: {
    readonly statements: ReadonlyArray<Statement>
    /** Why writes were reported as delayed. */
    readonly delayed: ReadonlyArray<unknown>
    readonly answer: (answer: Answer) => void
    readonly advance: (millis: number) => Effect.Effect<void>
  }) => Effect.Effect<A, E, Ledger>
): Effect.Effect<A, E> => {
  const timers = VirtualTimers.make(0)
  const statements: Array<Statement> = []
  const delayed: Array<unknown> = []
  let answer = accepts
  const store = Layer.succeed(LedgerStore, {
    apply: (holds, settlements) =>
      Effect.suspend(() => {
        const statement = { atMillis: timers.now(), holds: holds.length, settlements }
        statements.push(statement)
        return Effect.as(
          answer(statement),
          holds.map(() => granted)
        )
      }),
    lockedAccounts: () => Effect.dieMessage("not asked for"),
    balance: () => Effect.dieMessage("not asked for"),
    checkInvariants: Effect.dieMessage("not asked for")
  })
  const health = Layer.succeed(StoreHealth, {
    failed: (cause) => cause !== slow.cause,
    delayed: (cause) => {
      delayed.push(cause)
    },
    written: () => {},
    heartbeatWritten: () => {},
    takesWrites: Effect.succeed(true),
    outage: () => undefined
  })
  const database = {
    statements,
    delayed,
    answer: (next: Answer) => {
      answer = next
    },
    advance: (millis: number) =>
      Effect.zipRight(
        quiet,
        Effect.sync(() => timers.advance(millis))
      ).pipe(Effect.zipRight(quiet))
  }
  return Effect.gen(function* () {
    const scope = yield* Scope.make()
    const layer = Ledger.layer.pipe(Layer.provide([store, health, Layer.succeed(Timers, timers)]))
    const exit = yield* Effect.exit(Effect.provide(test(database), yield* Layer.buildWithScope(layer, scope)))
    // the ledger waits a while for what a test has left unwritten
    const closing = yield* Effect.fork(Scope.close(scope, exit))
    yield* database.advance(5_000)
    yield* Fiber.join(closing)
    return yield* exit
  })
}

const reserve = Effect.flatMap(Ledger, (ledger) => ledger.reserve(wants(caller, option(10))))
const holdOf = (callId = newCallId()): Hold => ({ callId, caller, option: 0, amount: microUsd(10), room: microUsd(0) })
const settle = (hold?: Hold) => Effect.flatMap(Ledger, (ledger) => ledger.settle(hold ?? holdOf(), settled(5)))
const settleMany = (count: number) => Effect.repeatN(settle(), count - 1)
const flushed = Effect.flatMap(Ledger, (ledger) => ledger.flushed)

const sizes = (statements: ReadonlyArray<Statement>) =>
  statements.map(({ holds, settlements }) => ({ holds, settlements: settlements.length }))

describe("Settlements", () => {
  it.effect("settlements that fill a statement are written at once, the others after twenty milliseconds", () =>
    withDatabase(({ advance, statements }) =>
      Effect.gen(function* () {
        yield* settleMany(255)
        yield* quiet
        expect(statements).toEqual([])
        yield* settleMany(3)
        yield* quiet
        expect(sizes(statements)).toEqual([{ holds: 0, settlements: 256 }])
        yield* advance(20)
        expect(sizes(statements).at(-1)).toEqual({ holds: 0, settlements: 2 })
      })
    )
  )

  it.effect("flushed succeeds once every settlement is written, not with the first statement", () =>
    withDatabase(({ answer, statements }) =>
      Effect.gen(function* () {
        const first = yield* Deferred.make<void>()
        const second = yield* Deferred.make<void>()
        answer(({ settlements }) => Deferred.await(settlements.length === 256 ? first : second))
        yield* settleMany(300)
        const flushing = yield* Effect.fork(flushed)
        yield* quiet
        yield* Deferred.succeed(first, undefined)
        yield* quiet
        expect(sizes(statements).map(({ settlements }) => settlements)).toEqual([256, 44])
        expect(yield* Fiber.poll(flushing)).toMatchObject({ _tag: "None" })
        yield* Deferred.succeed(second, undefined)
        yield* Fiber.join(flushing)
      })
    )
  )

  it.effect(
    "settlements that cannot be written are tried again ever later, up to a second, whatever else is settled",
    () =>
      withDatabase(({ advance, answer, statements }) =>
        Effect.gen(function* () {
          answer(answers(unreachable))
          yield* settle()
          for (let n = 0; n < 400; n++) {
            yield* advance(10)
            if (n % 50 === 0) yield* settle()
          }
          const waits = statements.slice(1).map(({ atMillis }, n) => atMillis - (statements[n]?.atMillis ?? 0))
          expect(waits).toEqual([50, 100, 200, 400, 800, 1_000, 1_000])
        })
      )
  )

  it.effect("a statement that the database was too slow for is reported, one that it rejects is not", () =>
    withDatabase(({ advance, answer, delayed }) =>
      Effect.gen(function* () {
        answer(answers(slow))
        const reservation = yield* Effect.fork(Effect.either(reserve))
        yield* quiet
        expect(yield* Fiber.join(reservation)).toMatchObject({ _tag: "Left" })
        expect(delayed).toEqual([slow.cause])
        answer(answers(refused))
        yield* settle()
        yield* advance(1_000)
        expect(delayed).toHaveLength(1)
      })
    )
  )

  it.effect("settlements are written in whole statements again after a rejected one was left out", () =>
    withDatabase(({ advance, answer, statements }) =>
      Effect.gen(function* () {
        const bad = holdOf()
        answer(({ settlements }) => (settlements.some(({ callId }) => callId === bad.callId) ? refused : Effect.void))
        yield* settle(bad)
        yield* settleMany(7)
        for (let n = 0; n < 40; n++) yield* advance(50)
        const before = statements.length
        yield* settleMany(64)
        yield* flushed
        yield* settleMany(64)
        yield* flushed
        expect(Math.max(...statements.slice(before).map(({ settlements }) => settlements.length))).toBeGreaterThan(16)
        expect(new Set(statements.slice(before).flatMap(({ settlements }) => settlements)).size).toBe(128)
      })
    )
  )
})

it.effect("after a settlement was left out, the next one is not taken for another that has failed before", () =>
  withDatabase(({ advance, answer, statements }) =>
    Effect.gen(function* () {
      answer(answers(refused))
      yield* settle()
      for (let n = 0; n < 10; n++) yield* advance(1_000)
      const before = statements.length
      expect(before).toBe(4)
      const hold = holdOf()
      yield* settle(hold)
      yield* advance(20)
      answer(accepts)
      yield* advance(1_000)
      expect(statements.slice(before).map(({ settlements }) => settlements)).toMatchObject([
        [{ callId: hold.callId, record: { status: "success" } }],
        [{ callId: hold.callId, record: { status: "success" } }]
      ])
    })
  )
)

it.effect("a settlement that makes the store throw is left out like a rejected one", () =>
  withDatabase(({ advance, answer, statements }) =>
    Effect.gen(function* () {
      answer(() => Effect.dieMessage("a row that the store cannot write"))
      yield* settle()
      for (let n = 0; n < 10; n++) yield* advance(1_000)
      // again, without its log row, without its charge
      expect(statements).toHaveLength(4)
      yield* flushed
    })
  )
)

describe("A reservation", () => {
  it.effect("a reservation that waits behind a database that does not answer fails with it, and is never sent", () =>
    withDatabase(({ advance, answer, statements }) =>
      Effect.gen(function* () {
        const silence = yield* Deferred.make<never, BatchFailed>()
        answer(() => Deferred.await(silence))
        const first = yield* Effect.fork(Effect.either(reserve))
        yield* quiet
        const behind = yield* Effect.fork(Effect.either(reserve))
        yield* advance(8_000)
        answer(accepts)
        yield* Deferred.fail(silence, unanswered)
        for (const waiting of [first, behind]) {
          expect(yield* Fiber.join(waiting)).toMatchObject({ _tag: "Left", left: { _tag: "StoreUnavailable" } })
        }
        yield* advance(20)
        expect(statements.slice(1).filter(({ holds }) => holds > 0)).toEqual([])
      })
    )
  )

  it.effect("a reservation that waits behind a statement that fails at once is sent with the next", () =>
    withDatabase(({ answer }) =>
      Effect.gen(function* () {
        const failing = yield* Deferred.make<never, BatchFailed>()
        answer(() => Deferred.await(failing))
        const first = yield* Effect.fork(Effect.either(reserve))
        yield* quiet
        const behind = yield* Effect.fork(reserve)
        yield* quiet
        answer(accepts)
        yield* Deferred.fail(failing, unreachable)
        expect((yield* Fiber.join(first))._tag).toBe("Left")
        expect(yield* Fiber.join(behind)).toMatchObject({ amount: 10 })
      })
    )
  )

  it.effect("the hold of a running call stays when it is uncertain whether it was extended", () =>
    withDatabase(({ advance, answer, statements }) =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const hold = yield* reserve
        answer(answers(unanswered))
        expect(yield* Effect.either(ledger.extend(hold, option(20)))).toMatchObject({
          _tag: "Left",
          left: { _tag: "StoreUnavailable" }
        })
        answer(accepts)
        yield* advance(20)
        yield* settle(hold)
        yield* flushed
        expect(statements.flatMap(({ settlements }) => settlements)).toMatchObject([
          { callId: hold.callId, state: "settled" }
        ])
      })
    )
  )

  it.effect.each([
    ["a statement that failed", unreachable, true],
    ["one that the database has refused", refused, true],
    ["one whose answer was lost", unanswered, undefined]
  ] as const)("an extension tells whether it can have been written: of %s", ([, failure, isUnwritten]) =>
    withDatabase(({ answer }) =>
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const hold = yield* reserve
        answer(answers(failure))
        const error = yield* Effect.flip(ledger.extend(hold, option(20)))
        expect(error).toMatchObject({ _tag: "StoreUnavailable", isUnwritten })
      })
    )
  )

  it.effect("a reservation waits for one statement at most while rejected settlements are tried again", () =>
    withDatabase(({ advance, answer, statements }) =>
      Effect.gen(function* () {
        answer(answers(unreachable))
        yield* settleMany(256)
        // four failures: from then on settlements come in halves
        yield* advance(400)
        const gate = yield* Deferred.make<void>()
        answer(() => Deferred.await(gate))
        const before = statements.length
        yield* advance(400)
        expect(sizes(statements.slice(before))).toEqual([{ holds: 0, settlements: 128 }])
        const waiting = yield* Effect.fork(reserve)
        yield* quiet
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(waiting)
        expect(sizes(statements.slice(before)).slice(1, 2)).toEqual([{ holds: 1, settlements: 0 }])
      })
    )
  )

  it.effect("a reservation never fails for a settlement that the database rejects", () =>
    withDatabase(({ advance, answer }) =>
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        answer(({ settlements }) => (settlements.length > 0 ? refused : Deferred.await(gate)))
        yield* settle()
        yield* advance(20)
        const first = yield* Effect.fork(reserve)
        // the settlement's next try falls due while the first hold is being decided
        yield* advance(50)
        const second = yield* Effect.fork(reserve)
        yield* quiet
        yield* Deferred.succeed(gate, undefined)
        for (const waiting of [first, second]) expect(yield* Fiber.join(waiting)).toMatchObject({ amount: 10 })
      })
    )
  )

  it.effect("a reservation is rejected while 16,384 settlements cannot be written", () =>
    withDatabase(({ advance, answer }) =>
      Effect.gen(function* () {
        answer(({ settlements }) => (settlements.length > 0 ? unreachable : Effect.void))
        yield* settleMany(16_383)
        yield* advance(20)
        expect(yield* reserve).toMatchObject({ amount: 10 })
        yield* settle()
        expect(yield* Effect.flip(reserve)).toMatchObject({ _tag: "StoreUnavailable" })
      })
    )
  )
})
