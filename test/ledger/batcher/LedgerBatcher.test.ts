import { describe, expect, it, vi } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import { KeyId } from "../../../src/domain/Ids.ts"
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
import { caller, newCallId, option, record } from "../fixtures.ts"

const reservation = (): BatchReservation => ({
  callId: newCallId(),
  extends: false,
  caller,
  requestedModel: "auto",
  options: [option(10)],
  maxWaitMillis: 0
})

const settlement = (): BatchSettlement => ({
  callId: newCallId(),
  caller,
  state: "settled",
  actual: microUsd(5),
  record: record()
})

const granted: ReservationResult = { _tag: "Granted", option: 0, amount: microUsd(10), room: microUsd(0) }
const held: ReservationResult = {
  _tag: "Insufficient",
  scope: "account",
  reason: "held",
  needed: microUsd(10),
  available: microUsd(5),
  held: microUsd(20)
}
const unreachable = new BatchFailed({ cause: "connection refused", rejected: false, uncertain: false, locked: false })
const rejected = new BatchFailed({ cause: "invalid text", rejected: true, uncertain: false, locked: false })

interface Batch {
  readonly reservations: ReadonlyArray<BatchReservation>
  readonly settlements: ReadonlyArray<BatchSettlement>
}

type Apply = (batch: Batch) => Effect.Effect<ReadonlyArray<ReservationResult>, BatchFailed>
const grantsAll: Apply = ({ reservations }) => Effect.succeed(reservations.map(() => granted))
const grantsWithRoom: Apply = ({ reservations }) =>
  Effect.succeed(reservations.map(() => ({ ...granted, room: microUsd(1_000) })))
const sizesOf = (batches: ReadonlyArray<Batch>) =>
  batches.map(({ reservations, settlements }) => [reservations.length, settlements.length])

/** A batcher on a store that the test scripts, and on a clock that the test moves. */
const scripted = (first: Apply = grantsAll) =>
  Effect.gen(function* () {
    const timers = VirtualTimers.make()
    const batches: Array<Batch> = []
    const script: { apply: Apply; onWritten: () => void; onBuilt: (batch: Batch) => void } = {
      apply: first,
      onWritten: () => {},
      onBuilt: () => {}
    }
    const store: LedgerStoreShape = {
      apply: (reservations, settlements) => {
        script.onBuilt({ reservations, settlements })
        return Effect.suspend(() => {
          batches.push({ reservations, settlements })
          return script.apply({ reservations, settlements })
        })
      },
      lockedAccounts: () => Effect.dieMessage("not asked for"),
      balance: () => Effect.dieMessage("not asked for"),
      checkInvariants: Effect.dieMessage("not asked for")
    }
    const reported: Array<string> = []
    const reports = {
      failed: (cause: unknown) => reported.push(String(cause)) > 0,
      delayed: () => {},
      written: () => {
        reported.push("written")
        script.onWritten()
      }
    }
    const scope = yield* Scope.make()
    const batcher = yield* AccountLanes.make(store, timers, reports).pipe(Scope.extend(scope))
    const advance = (millis: number) => Effect.sync(() => timers.advance(millis)).pipe(Effect.zipRight(quiet))
    const written = () => batches.flatMap((batch) => batch.settlements.map((settled) => settled.callId))
    return { batcher, batches, script, advance, written, scope, reported }
  })

/** The time of the machine stands still until the test moves it. */
const fakeSystemTimers = Effect.acquireRelease(
  Effect.sync(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })),
  () => Effect.sync(() => vi.useRealTimers())
)

/** Lets every fiber that can run do so. */
const quiet = Effect.repeatN(Effect.yieldNow(), 50)

describe("The batcher", () => {
  it.effect("the batcher reports of every batch whether it was written, and why not", () =>
    Effect.gen(function* () {
      const { batcher, script, reported } = yield* scripted()
      script.apply = () => Effect.fail(unreachable)
      yield* Effect.either(batcher.reserve(reservation()))
      script.apply = grantsAll
      yield* batcher.reserve(reservation())
      expect(reported).toEqual(["connection refused", "written"])
    })
  )
})

describe("Batches", () => {
  it.effect("a settlement is written with the next reservation, in one statement", () =>
    Effect.gen(function* () {
      const { batcher, batches } = yield* scripted()
      const settled = settlement()
      batcher.settle(settled)
      yield* batcher.reserve(reservation())
      expect(batches.map(({ reservations, settlements }) => [reservations.length, settlements])).toEqual([
        [1, [settled]]
      ])
    })
  )

  it.effect("settlements that reservations can do without are written together after twenty milliseconds", () =>
    Effect.gen(function* () {
      const { advance, batcher, batches, script } = yield* scripted(grantsWithRoom)
      const callAfterCall = Effect.zipRight(
        batcher.reserve(reservation()),
        Effect.sync(() => batcher.settle(settlement()))
      )
      // what the scopes have left is not known before
      yield* callAfterCall
      for (let millis = 0; millis < 20; millis += 5) yield* Effect.zipRight(callAfterCall, advance(5))
      expect(sizesOf(batches)).toEqual([
        [1, 0],
        [1, 0],
        [1, 0],
        [1, 0],
        [1, 0],
        [0, 5]
      ])
      // ten are more than a sixteenth of this
      script.apply = ({ reservations }) => Effect.succeed(reservations.map(() => ({ ...granted, room: microUsd(159) })))
      yield* callAfterCall
      yield* callAfterCall
      expect(sizesOf(batches.slice(6))).toEqual([
        [1, 0],
        [1, 1]
      ])
    })
  )

  it.effect("what the scopes have left is unknown again once settlements are written", () =>
    Effect.gen(function* () {
      const { advance, batcher, batches } = yield* scripted(grantsWithRoom)
      yield* batcher.reserve(reservation())
      batcher.settle(settlement())
      yield* advance(20)
      batcher.settle(settlement())
      yield* batcher.reserve(reservation())
      expect(sizesOf(batches)).toEqual([
        [1, 0],
        [0, 1],
        [1, 1]
      ])
    })
  )

  it.effect("settlements are written with an extension, and with the first reservation of a key", () =>
    Effect.gen(function* () {
      const otherKey = { ...caller, keyId: KeyId.make("00000000-0000-7000-8000-000000000004") }
      for (const next of [
        { ...reservation(), extends: true },
        { ...reservation(), caller: otherKey }
      ]) {
        const { batcher, batches } = yield* scripted(grantsWithRoom)
        yield* batcher.reserve(reservation())
        batcher.settle(settlement())
        yield* batcher.reserve(next)
        expect(sizesOf(batches)).toEqual([
          [1, 0],
          [1, 1]
        ])
      }
    })
  )

  it.effect("a reservation that is refused before settlements that wait is decided again with them", () =>
    Effect.gen(function* () {
      const { batcher, batches, script } = yield* scripted(grantsWithRoom)
      yield* batcher.reserve(reservation())
      batcher.settle(settlement())
      // an operator has lowered a limit meanwhile
      script.apply = ({ reservations, settlements }) =>
        Effect.succeed(reservations.map(() => (settlements.length > 0 ? granted : held)))
      expect(yield* batcher.reserve(reservation())).toEqual(granted)
      expect(sizesOf(batches)).toEqual([
        [1, 0],
        [1, 0],
        [1, 1]
      ])
      // with nothing that waits it is final
      expect(yield* Effect.flip(batcher.reserve(reservation()))).toMatchObject({ reason: "held" })
    })
  )

  it.effect("of several reservations of an account each has to fit beside those before it", () =>
    Effect.gen(function* () {
      const written = (count: number) =>
        Effect.gen(function* () {
          const { batcher, batches } = yield* scripted(grantsWithRoom)
          yield* batcher.reserve(reservation())
          batcher.settle(settlement())
          const many = Array.from({ length: count }, reservation)
          yield* Effect.forEach(many, batcher.reserve, { concurrency: "unbounded" })
          return sizesOf(batches.slice(1))
        })
      // 10 of the thousand that are left are at most a sixteenth of what the others leave
      expect(yield* written(85)).toEqual([[85, 0]])
      expect(yield* written(86)).toEqual([[86, 1]])
    })
  )

  it.effect("a settlement waits twenty milliseconds for others, no longer", () =>
    Effect.gen(function* () {
      const { batcher, batches, advance } = yield* scripted()
      batcher.settle(settlement())
      batcher.settle(settlement())
      yield* advance(19)
      expect(batches).toEqual([])
      yield* advance(1)
      expect(batches.map(({ settlements }) => settlements.length)).toEqual([2])
    })
  )

  it.effect("what arrives while a statement runs waits for the next, at most 256 rows of it, in its order", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { batcher, batches } = yield* scripted((batch) => Effect.zipRight(Deferred.await(gate), grantsAll(batch)))
      const reservations = Array.from({ length: 600 }, reservation)
      const fiber = yield* Effect.fork(
        Effect.forEach(reservations, batcher.reserve, { concurrency: "unbounded", discard: true })
      )
      yield* quiet
      expect(batches.length).toBe(1)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(fiber)
      expect(batches.map((batch) => batch.reservations.length)).toEqual([256, 256, 88])
      expect(batches.flatMap((batch) => batch.reservations)).toEqual(reservations)
    })
  )

  it.effect("a second settlement of a call that waits to be written is ignored", () =>
    Effect.gen(function* () {
      const { batcher, batches } = yield* scripted()
      const settled = settlement()
      batcher.settle(settled)
      batcher.settle({ ...settled, state: "cancelled" })
      yield* batcher.flushed
      expect(batches.flatMap(({ settlements }) => settlements)).toEqual([settled])
    })
  )

  it.effect("flushed does not wait for a reservation", () =>
    Effect.gen(function* () {
      const { batcher, written } = yield* scripted()
      const settled = settlement()
      batcher.settle(settled)
      yield* batcher.flushed
      expect(written()).toEqual([settled.callId])
    })
  )

  it.effect("more reservations than can be decided in time are rejected at once", () =>
    Effect.gen(function* () {
      const { batcher } = yield* scripted(() => Effect.never)
      yield* Effect.forkAll(Array.from({ length: 256 }, () => batcher.reserve(reservation())))
      yield* quiet
      yield* Effect.forkAll(Array.from({ length: 4_096 }, () => batcher.reserve(reservation())))
      yield* quiet
      const outcome = yield* Effect.either(batcher.reserve(reservation()))
      expect(Either.isLeft(outcome) && outcome.left._tag).toBe("StoreUnavailable")
    })
  )
})

describe("Waiting for held money", () => {
  const refusesAll: Apply = ({ reservations }) => Effect.succeed(reservations.map(() => held))
  const patient = (): BatchReservation => ({ ...reservation(), maxWaitMillis: 60_000 })

  it.effect("a call that is refused for two seconds is decided again, then refused with its amounts", () =>
    Effect.gen(function* () {
      const { advance, batcher, batches } = yield* scripted(refusesAll)
      const fiber = yield* Effect.fork(Effect.flip(batcher.reserve(patient())))
      yield* quiet
      yield* advance(1_999)
      expect(yield* Fiber.poll(fiber)).toMatchObject({ _tag: "None" })
      yield* advance(1)
      expect(yield* Fiber.join(fiber)).toMatchObject({
        reason: "held",
        neededMicroUsd: 10,
        availableMicroUsd: 5,
        heldMicroUsd: 20
      })
      // at once, each 250 ms for what other nodes return, and when its time was up
      expect(batches.map(({ reservations }) => reservations.map((one) => one.maxWaitMillis))).toEqual([
        ...Array.from({ length: 8 }, () => [60_000]),
        [0]
      ])
      yield* advance(60_000)
      expect(batches).toHaveLength(9)
    })
  )

  it.effect(
    "what has more options is decided with all of them in the next statement, before it is refused or waits",
    () =>
      Effect.gen(function* () {
        const { advance, batcher, batches, script } = yield* scripted(refusesAll)
        let waits = 0
        const onWaiting = () => {
          waits += 1
        }
        const first = { ...patient(), otherOptions: () => [option(5)], onWaiting }
        const fiber = yield* Effect.fork(batcher.reserve(first))
        yield* quiet
        expect(batches.map(({ reservations }) => reservations.map(({ options }) => options))).toEqual([
          [[option(10)]],
          [[option(10), option(5)]]
        ])
        expect(waits).toBe(1)
        script.apply = () => Effect.succeed([{ ...granted, option: 1 }])
        yield* advance(250)
        expect(yield* Fiber.join(fiber)).toMatchObject({ option: 1 })
        expect(batches).toHaveLength(3)
      })
  )

  it.effect("many that have more options wait no longer than two seconds, whatever their place in the queue", () =>
    Effect.gen(function* () {
      const { advance, batcher } = yield* scripted(refusesAll)
      let waits = 0
      const onWaiting = () => {
        waits += 1
      }
      const asked = Array.from({ length: 40 }, () => ({ ...patient(), otherOptions: () => [option(5)], onWaiting }))
      const fiber = yield* Effect.fork(
        Effect.forEach(asked, (one) => Effect.flip(batcher.reserve(one)), { concurrency: "unbounded" })
      )
      yield* quiet
      expect(waits).toBe(40)
      yield* advance(1_999)
      expect(yield* Fiber.poll(fiber)).toMatchObject({ _tag: "None" })
      yield* advance(1)
      expect(yield* Fiber.poll(fiber)).toMatchObject({ _tag: "Some" })
      expect(batcher.waiting.reservations).toBe(0)
    })
  )

  it.effect("what has more options and no time to wait is refused after them", () =>
    Effect.gen(function* () {
      const { batcher, batches } = yield* scripted(refusesAll)
      const asked = { ...reservation(), otherOptions: () => [option(5)] }
      expect(yield* Effect.flip(batcher.reserve(asked))).toMatchObject({ reason: "held" })
      expect(batches).toHaveLength(2)
      expect(batcher.waiting.reservations).toBe(0)
    })
  )

  it.effect("an interrupted call is not decided again for its other options", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { batcher, batches } = yield* scripted((batch) => Effect.zipRight(Deferred.await(gate), refusesAll(batch)))
      const fiber = yield* Effect.fork(batcher.reserve({ ...patient(), otherOptions: () => [option(5)] }))
      yield* quiet
      yield* Fiber.interrupt(fiber)
      yield* Deferred.succeed(gate, undefined)
      yield* quiet
      expect(batches).toHaveLength(1)
      expect(batcher.waiting.reservations).toBe(0)
    })
  )

  it.effect("a call waits no longer than it has time, and not at all without any", () =>
    Effect.gen(function* () {
      const { advance, batcher } = yield* scripted(refusesAll)
      expect(yield* Effect.flip(batcher.reserve(reservation()))).toMatchObject({ reason: "held" })
      const fiber = yield* Effect.fork(Effect.flip(batcher.reserve({ ...patient(), maxWaitMillis: 100 })))
      yield* quiet
      yield* advance(100)
      expect(yield* Fiber.join(fiber)).toMatchObject({ reason: "held" })
    })
  )

  it.effect("what waits is decided again in the statement of a settlement of its scope, before what is new", () =>
    Effect.gen(function* () {
      const { batcher, batches, script } = yield* scripted(refusesAll)
      const first = patient()
      const fibers = [yield* Effect.fork(batcher.reserve(first))]
      yield* quiet
      const behind = patient()
      fibers.push(yield* Effect.fork(batcher.reserve(behind)))
      yield* quiet
      // it waits behind the first without being asked for
      expect(batches).toHaveLength(1)
      script.apply = grantsAll
      const settled = settlement()
      batcher.settle(settled)
      yield* quiet
      expect(batches.slice(1)).toEqual([{ reservations: [first, behind], settlements: [settled] }])
      for (const fiber of fibers) expect(yield* Fiber.join(fiber)).toEqual(granted)
    })
  )

  it.effect("a settlement that comes while a call is refused has it decided again at once", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { batcher, batches, script } = yield* scripted((batch) =>
        Effect.zipRight(Deferred.await(gate), refusesAll(batch))
      )
      const first = patient()
      const fiber = yield* Effect.fork(batcher.reserve(first))
      yield* quiet
      const settled = settlement()
      batcher.settle(settled)
      script.apply = grantsAll
      yield* Deferred.succeed(gate, undefined)
      yield* quiet
      expect(batches.slice(1)).toEqual([{ reservations: [first], settlements: [settled] }])
      expect(yield* Fiber.join(fiber)).toEqual(granted)
    })
  )

  it.effect(
    "a call that was refused while a settlement waited for its retry is decided again once that is written",
    () =>
      Effect.gen(function* () {
        const { advance, batcher, batches, script } = yield* scripted(() => Effect.fail(unreachable))
        const settled = settlement()
        batcher.settle(settled)
        yield* advance(20)
        script.apply = refusesAll
        const first = patient()
        const fiber = yield* Effect.fork(batcher.reserve(first))
        yield* quiet
        expect(batches.slice(1)).toEqual([{ reservations: [first], settlements: [] }])
        script.apply = grantsAll
        yield* advance(50)
        expect(batches.slice(2).flatMap(({ settlements }) => settlements)).toEqual([settled])
        expect(yield* Fiber.poll(fiber)).toMatchObject({ _tag: "Some" })
      })
  )

  it.effect("an interrupted wait is not decided again, and those behind it are", () =>
    Effect.gen(function* () {
      const { batcher, batches, script } = yield* scripted(refusesAll)
      const first = yield* Effect.fork(batcher.reserve(patient()))
      yield* quiet
      const behind = patient()
      const second = yield* Effect.fork(batcher.reserve(behind))
      yield* quiet
      script.apply = grantsAll
      yield* Fiber.interrupt(first)
      expect(yield* Fiber.join(second)).toEqual(granted)
      expect(batches.slice(1)).toEqual([{ reservations: [behind], settlements: [] }])
    })
  )

  it.effect("closing ends a wait", () =>
    Effect.gen(function* () {
      const { batcher, scope } = yield* scripted(refusesAll)
      const fiber = yield* Effect.fork(Effect.flip(batcher.reserve(patient())))
      yield* quiet
      yield* Scope.close(scope, Exit.void)
      expect(yield* Fiber.join(fiber)).toMatchObject({ _tag: "StoreUnavailable" })
    })
  )
})

describe("Interruption", () => {
  it.effect("a reservation that is interrupted while its statement runs leaves no hold", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { batcher, batches } = yield* scripted((batch) => Effect.zipRight(Deferred.await(gate), grantsAll(batch)))
      const given = reservation()
      const fiber = yield* Effect.fork(batcher.reserve(given))
      yield* quiet
      yield* Fiber.interrupt(fiber)
      yield* Deferred.succeed(gate, undefined)
      yield* quiet
      yield* batcher.flushed
      expect(batches.flatMap(({ settlements }) => settlements)).toMatchObject([
        { callId: given.callId, state: "void", record: null }
      ])
    })
  )

  it.effect("a reservation that is interrupted before it was sent is never sent", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { batcher, batches } = yield* scripted((batch) => Effect.zipRight(Deferred.await(gate), grantsAll(batch)))
      const first = reservation()
      const running = yield* Effect.fork(batcher.reserve(first))
      yield* quiet
      const waiting = yield* Effect.fork(batcher.reserve(reservation()))
      yield* quiet
      yield* Fiber.interrupt(waiting)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      yield* quiet
      expect(batches).toEqual([{ reservations: [first], settlements: [] }])
    })
  )

  it.effect("a hold that is granted at the moment of the interruption is voided", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { batcher, script, written } = yield* scripted((batch) =>
        Effect.zipRight(Deferred.await(gate), grantsAll(batch))
      )
      const given = reservation()
      const fiber = yield* Effect.fork(batcher.reserve(given))
      yield* quiet
      // The batch is written, its results are about to be handed out.
      script.onWritten = () => fiber.unsafeInterruptAsFork(FiberId.none)
      yield* Deferred.succeed(gate, undefined)
      const exit = yield* Fiber.await(fiber)
      yield* batcher.flushed
      expect(Exit.isInterrupted(exit)).toBe(true)
      expect(written()).toEqual([given.callId])
    })
  )
})

describe("A failing store", () => {
  it.effect("a failing store fails reservations at once, and settlements are kept until they are written", () =>
    Effect.gen(function* () {
      const { batcher, script, advance, written } = yield* scripted(() => Effect.fail(unreachable))
      const settled = settlement()
      batcher.settle(settled)
      const outcome = yield* Effect.either(batcher.reserve(reservation()))
      expect(Either.isLeft(outcome) && outcome.left._tag).toBe("StoreUnavailable")
      const flushed = yield* Effect.fork(batcher.flushed)
      yield* advance(3_000)
      expect(yield* Fiber.poll(flushed)).toMatchObject({ _tag: "None" })
      script.apply = grantsAll
      yield* advance(1_000)
      yield* Fiber.join(flushed)
      expect(written().at(-1)).toBe(settled.callId)
    })
  )

  it.effect("a settlement of which no statement can be built is left out, and the others are written", () =>
    Effect.gen(function* () {
      const { advance, batcher, script, written } = yield* scripted()
      const [unwritable, good] = [settlement(), settlement()]
      script.onBuilt = ({ settlements }) => {
        if (settlements.some(({ callId }) => callId === unwritable.callId)) throw new TypeError("no such property")
      }
      batcher.settle(unwritable)
      batcher.settle(good)
      for (let n = 0; n < 10; n++) yield* advance(1_000)
      expect(written()).toEqual([good.callId])
      expect(yield* Effect.either(batcher.reserve(reservation()))).toMatchObject({ _tag: "Right" })
    })
  )

  it.effect("reservations are decided while settlements wait to be tried again", () =>
    Effect.gen(function* () {
      const { batcher, script, batches, advance } = yield* scripted(() => Effect.fail(unreachable))
      batcher.settle(settlement())
      yield* advance(20)
      script.apply = grantsAll
      yield* batcher.reserve(reservation())
      expect(batches.at(-1)).toMatchObject({ settlements: [] })
      yield* advance(50)
      expect(batches.at(-1)?.settlements.length).toBe(1)
    })
  )

  it.effect("a store whose response was lost receives a void for each hold that it may have granted", () =>
    Effect.gen(function* () {
      const { batcher, script, batches, advance } = yield* scripted(() =>
        Effect.fail(new BatchFailed({ cause: "connection reset", rejected: false, uncertain: true, locked: false }))
      )
      const lost = reservation()
      yield* Effect.either(batcher.reserve(lost))
      script.apply = grantsAll
      yield* advance(20)
      expect(batches.at(-1)?.settlements).toMatchObject([{ callId: lost.callId, state: "void", record: null }])
    })
  )

  it.effect(
    "loses the log row, not the money, of a settlement whose row is rejected; all others are written complete",
    () =>
      Effect.gen(function* () {
        const all = Array.from({ length: 300 }, settlement)
        const poisoned = all[137]?.callId
        const kept: Array<BatchSettlement> = []
        const { batcher, advance } = yield* scripted((batch) => {
          if (batch.settlements.some((settled) => settled.callId === poisoned && settled.record !== null))
            return Effect.fail(rejected)
          kept.push(...batch.settlements)
          return grantsAll(batch)
        })
        for (const settled of all) batcher.settle(settled)
        const outcomes: Array<boolean> = []
        for (let round = 0; round < 100; round++) {
          if (round >= 1) outcomes.push(Either.isRight(yield* Effect.either(batcher.reserve(reservation()))))
          yield* advance(50)
        }
        expect(new Set(kept.map((settled) => settled.callId)).size).toBe(300)
        expect(kept.length).toBe(300)
        expect(kept.filter((settled) => settled.record === null).map((settled) => settled.callId)).toEqual([poisoned])
        expect(outcomes).not.toContain(false)
      })
  )

  it.effect("charges a settlement of which only the log row and the kept response are rejected", () =>
    Effect.gen(function* () {
      const written: Array<BatchSettlement> = []
      const { advance, batcher } = yield* scripted((batch) => {
        if (batch.settlements.some(({ kept, record }) => record !== null || kept !== undefined)) {
          return Effect.fail(rejected)
        }
        written.push(...batch.settlements)
        return grantsAll(batch)
      })
      const kept = {
        keyId: caller.keyId,
        idempotencyKey: "a key",
        status: 200,
        contentType: "application/json",
        headers: {},
        sealed: new Uint8Array(1),
        keptMillis: 1
      }
      batcher.settle({ ...settlement(), kept })
      const flushed = yield* Effect.fork(batcher.flushed)
      for (let round = 0; round < 20; round++) yield* advance(50)
      yield* Fiber.join(flushed)
      expect(written).toMatchObject([{ state: "settled", actual: 5, record: null }])
    })
  )

  it.effect("releases the money of a settlement whose charge is rejected, and logs what it would have cost", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ annotations, message }) => {
        lines.push(`${message} ${JSON.stringify(Object.fromEntries(annotations))}`)
      })
      const { advance, batcher, batches } = yield* scripted((batch) =>
        batch.settlements.some(({ state }) => state !== "void") ? Effect.fail(rejected) : grantsAll(batch)
      ).pipe(Effect.provide(Logger.add(logger)))
      const lost = settlement()
      batcher.settle(lost)
      for (let round = 0; round < 20; round++) yield* advance(50)
      expect(batches.at(-1)?.settlements).toMatchObject([{ callId: lost.callId, state: "void", actual: 0 }])
      expect(lines).toHaveLength(2)
      for (const value of [lost.callId, caller.accountId, '"costMicroUsd":5', "without its charge"]) {
        expect(lines[1]).toContain(value)
      }
    })
  )

  it.effect("a settlement that is rejected without all of that too is dropped, and the others are written", () =>
    Effect.gen(function* () {
      const all = Array.from({ length: 8 }, settlement)
      const poisoned = all[0]?.callId
      const kept: Array<string> = []
      const { batcher, advance } = yield* scripted((batch) => {
        if (batch.settlements.some((settled) => settled.callId === poisoned)) return Effect.fail(rejected)
        kept.push(...batch.settlements.map((settled) => settled.callId))
        return grantsAll(batch)
      })
      for (const settled of all) batcher.settle(settled)
      const flushed = yield* Effect.fork(batcher.flushed)
      for (let round = 0; round < 60; round++) yield* advance(50)
      yield* Fiber.join(flushed)
      expect(kept.sort()).toEqual(
        all
          .map((settled) => settled.callId)
          .filter((id) => id !== poisoned)
          .sort()
      )
    })
  )
})

describe("Closing", () => {
  it.effect("closing waits for a reservation that came in the same turn", () =>
    Effect.gen(function* () {
      const { batcher, scope } = yield* scripted((batch) => Effect.zipRight(quiet, grantsAll(batch)))
      const asking = Effect.runFork(batcher.reserve(reservation()))
      yield* Scope.close(scope, Exit.void)
      expect(asking.unsafePoll()).not.toBeNull()
    })
  )

  it.effect("closing writes what is queued and rejects what is new", () =>
    Effect.gen(function* () {
      const { batcher, written, scope } = yield* scripted()
      const all = Array.from({ length: 700 }, settlement)
      for (const settled of all) batcher.settle(settled)
      yield* Scope.close(scope, Exit.void)
      expect(written()).toEqual(all.map((settled) => settled.callId))
      const outcome = yield* Effect.either(batcher.reserve(reservation()))
      expect(Either.isLeft(outcome) && outcome.left._tag).toBe("StoreUnavailable")
    })
  )

  it.effect("closing waits five seconds for a store that does not answer, no longer", () =>
    Effect.gen(function* () {
      const { batcher, advance, scope } = yield* scripted(() => Effect.fail(unreachable))
      batcher.settle(settlement())
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* quiet
      for (let millis = 0; millis < 4_900; millis += 100) yield* advance(100)
      expect(yield* Fiber.poll(closing)).toMatchObject({ _tag: "None" })
      yield* advance(100)
      yield* Fiber.join(closing)
    })
  )

  it.effect("closing does not wait for timers that nobody moves", () =>
    Effect.gen(function* () {
      yield* fakeSystemTimers
      const { batcher, scope } = yield* scripted(() => Effect.fail(unreachable))
      batcher.settle(settlement())
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* quiet
      vi.advanceTimersByTime(4_900)
      yield* quiet
      expect(yield* Fiber.poll(closing)).toMatchObject({ _tag: "None" })
      vi.advanceTimersByTime(100)
      yield* Fiber.join(closing)
    }).pipe(Effect.scoped)
  )
})

describe("A database that does not answer", () => {
  it.effect("what fails with an unanswered statement is not sent any more, however many settlements wait", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void, BatchFailed>()
      const { advance, batches, script, batcher } = yield* scripted(({ reservations }) =>
        Effect.succeed(reservations.map(() => held))
      )
      const waiting = { ...reservation(), maxWaitMillis: 600_000 }
      const waits = yield* Effect.fork(Effect.either(batcher.reserve(waiting)))
      yield* quiet
      script.apply = () => Effect.as(Deferred.await(gate), [])
      const sent = yield* Effect.fork(Effect.either(batcher.reserve(reservation())))
      yield* quiet
      yield* advance(1_900)
      for (let n = 0; n < 300; n++) batcher.settle(settlement())
      const before = batches.length
      script.apply = (batch) => Effect.zipRight(Effect.yieldNow(), grantsAll(batch))
      yield* advance(100)
      yield* Deferred.fail(
        gate,
        new BatchFailed({ cause: "no answer", rejected: false, uncertain: true, locked: false })
      )
      const ends = yield* Effect.forEach([waits, sent], Fiber.join)
      expect(ends.map((end) => Either.isLeft(end) && end.left._tag)).toEqual(ends.map(() => "StoreUnavailable"))
      yield* batcher.flushed
      // a hold that is granted now would be nobody's
      expect(batches.slice(before).flatMap((batch) => batch.reservations)).toEqual([])
    })
  )

  it.effect("what was queued behind an unanswered statement fails together with it", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void, BatchFailed>()
      const { advance, batches, script, batcher } = yield* scripted(() => Effect.as(Deferred.await(gate), []))
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.fork(Effect.either(batcher.reserve(reservation()))))
      yield* quiet
      yield* advance(8_000)
      script.apply = grantsAll
      yield* Deferred.fail(
        gate,
        new BatchFailed({ cause: "no answer", rejected: false, uncertain: true, locked: false })
      )
      const ends = yield* Effect.forEach(fibers, Fiber.join)
      expect(ends.map((end) => Either.isLeft(end) && end.left._tag)).toEqual(ends.map(() => "StoreUnavailable"))
      // all that may follow is what gives the uncertain hold back
      expect(batches.slice(1).flatMap((batch) => batch.reservations)).toEqual([])
      expect(Either.isRight(yield* Effect.either(batcher.reserve(reservation())))).toBe(true)
    })
  )
})
