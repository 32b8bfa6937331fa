import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import { microUsd } from "../../../src/domain/Money.ts"
import * as AccountLanes from "../../../src/ledger/batcher/AccountLanes.ts"
import type { BatchReservation, LedgerStoreShape, ReservationResult } from "../../../src/ledger/LedgerStore.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"
import { caller, newCallId, option, record } from "../fixtures.ts"

type Step = typeof steps extends fc.Arbitrary<ReadonlyArray<infer A>> ? A : never
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("reserve" as const), amount: fc.integer({ min: 1, max: 120 }), waits: fc.boolean() }),
    fc.record({ do: fc.constant("settle" as const), nth: fc.nat(5) }),
    fc.record({ do: fc.constant("advance" as const), millis: fc.constantFrom(1, 2, 5, 20) })
  ),
  { maxLength: 40 }
)

const noDefect = () => expect.fail("a reservation that has neither succeeded nor failed")

/** Lets every fiber that can run do so. */
const quiet = Effect.repeatN(Effect.yieldNow(), 10)

/** Holds and settlements of one account, on a database whose statements take two milliseconds. */
const makeAccount = (credit: number) =>
  Effect.gen(function* () {
    const timers = VirtualTimers.make()
    const holds = new Map<string, number>()
    /** Settled by their calls, in no statement yet. */
    const settled = new Set<string>()
    /** By call, what was left for it with all that had been settled. */
    const roomAtRefusal = new Map<string, number>()
    let heldMicroUsd = 0
    let running = 0

    const decide = ({ callId, maxWaitMillis, options: [{ max }] }: BatchReservation, isBlocked: boolean) => {
      const room = credit - heldMicroUsd
      if (max <= room && !(isBlocked && maxWaitMillis > 0)) {
        holds.set(callId, max)
        heldMicroUsd += max
        return { _tag: "Granted", option: 0, amount: max, room: microUsd(room - max) } as const
      }
      const unwritten = [...settled].reduce((sum, id) => sum + (holds.get(id) ?? 0), 0)
      roomAtRefusal.set(callId, room + unwritten)
      const figures = { needed: max, available: microUsd(room), held: microUsd(heldMicroUsd) }
      return { _tag: "Insufficient", scope: "account", reason: "held", ...figures } as const
    }
    const apply: LedgerStoreShape["apply"] = (reservations, settlements) =>
      Effect.async((resume) => {
        running += 1
        for (const { callId } of settlements) {
          settled.delete(callId)
          heldMicroUsd -= holds.get(callId) ?? 0
          holds.delete(callId)
        }
        let isBlocked = false
        const results = reservations.map((reservation): ReservationResult => {
          const result = decide(reservation, isBlocked)
          isBlocked ||= result._tag === "Insufficient" && reservation.maxWaitMillis > 0
          return result
        })
        timers.after(2, () => {
          running -= 1
          resume(Effect.succeed(results))
        })
      })
    const unasked = Effect.dieMessage("not asked for")
    const store = { apply, lockedAccounts: () => unasked, balance: () => unasked, checkInvariants: unasked }
    const reports = { failed: () => true, delayed: () => {}, written: () => {} }
    const batcher = yield* AccountLanes.make(store, timers, reports)
    return {
      batcher,
      advance: (steps: number, millis = 1) =>
        Effect.repeatN(
          Effect.zipRight(
            Effect.sync(() => timers.advance(millis)),
            quiet
          ),
          steps - 1
        ),
      settle: (callId: BatchReservation["callId"]) => {
        settled.add(callId)
        batcher.settle({ callId, caller, state: "void", actual: microUsd(0), record: record() })
      },
      roomAtRefusal: (callId: string) => roomAtRefusal.get(callId) ?? 0,
      room: () => credit - heldMicroUsd,
      isIdle: () => running === 0 && batcher.waiting.settlements === 0
    }
  })

interface Asked {
  readonly reservation: BatchReservation
  readonly fiber: Fiber.RuntimeFiber<Either.Either<unknown, unknown>>
  isSettled: boolean
}

const agrees = (credit: number, script: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const account = yield* makeAccount(credit)
    const asked: Array<Asked> = []
    const those = (result: "Left" | "Right" | undefined) =>
      Effect.filter(asked, ({ fiber }) =>
        Effect.map(
          Fiber.poll(fiber),
          (exit) => Option.getOrUndefined(exit)?.pipe(Exit.getOrElse(noDefect))._tag === result
        )
      )
    const settle = (call: Asked | undefined) => {
      if (call === undefined) return
      call.isSettled = true
      account.settle(call.reservation.callId)
    }
    /** Nobody waits for money that is there. */
    const check = Effect.gen(function* () {
      const [first] = yield* those(undefined)
      if (account.isIdle() && first !== undefined) {
        expect(first.reservation.options[0].min).toBeGreaterThan(account.room())
      }
    })
    for (const step of script) {
      if (step.do === "reserve") {
        const reservation = {
          callId: newCallId(),
          caller,
          requestedModel: "auto",
          options: [option(step.amount)],
          maxWaitMillis: step.waits ? 2_000 : 0
        } as const
        const fiber = yield* Effect.fork(Effect.either(account.batcher.reserve(reservation)))
        asked.push({ reservation, fiber, isSettled: false })
      } else if (step.do === "settle") {
        const open = (yield* those("Right")).filter(({ isSettled }) => !isSettled)
        settle(open[step.nth % Math.max(1, open.length)])
      } else {
        yield* account.advance(step.millis)
        yield* check
      }
    }
    yield* account.advance(40)
    yield* check
    yield* account.advance(30, 100)
    expect(yield* those(undefined)).toEqual([])
    for (const { reservation } of yield* those("Left")) {
      const { callId, maxWaitMillis, options } = reservation
      if (maxWaitMillis === 0) expect(account.roomAtRefusal(callId)).toBeLessThan(options[0].min)
    }
    for (const call of yield* those("Right")) if (!call.isSettled) settle(call)
    yield* account.advance(40)
    expect([account.batcher.waiting, account.room()]).toEqual([{ reservations: 0, settlements: 0 }, credit])
  })

for (const credit of [250, 3_000]) {
  it.effect(`each call gets what ended calls have left, of ${credit} micro-USD`, () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(steps, (script) => Effect.runPromise(Effect.scoped(agrees(credit, script)))),
        { numRuns: 300 }
      )
    )
  )
}
