import * as fc from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import { RequestId } from "../../../src/domain/Ids.ts"
import { microUsd } from "../../../src/domain/Money.ts"
import {
  afterDrop,
  afterFailure,
  afterRejection,
  afterWrite,
  type FailureState,
  isOutage,
  needsVoid,
  noFailures
} from "../../../src/ledger/batcher/BatchFailure.ts"
import type { BatchReservation, BatchSettlement } from "../../../src/ledger/LedgerStore.ts"
import { caller, option, record } from "../fixtures.ts"

const callId = RequestId.make("00000000-0000-7000-8000-000000000000")
const reservation = (extendsHold: boolean): BatchReservation => ({
  callId,
  extends: extendsHold,
  caller,
  requestedModel: "auto",
  options: [option(10)],
  maxWaitMillis: 0
})
const settlement: BatchSettlement = { callId, caller, state: "settled", actual: microUsd(5), record: record() }

const kept = {
  keyId: caller.keyId,
  idempotencyKey: "a key",
  status: 200,
  contentType: "application/json",
  headers: {},
  sealed: new Uint8Array(1),
  keptMillis: 1
}

const outage = { reservations: 3, settlements: 100, lastSequence: 100, rejected: false }
const rejection = { ...outage, rejected: true }

/** The state and the actions after the same batch has failed several times. */
const repeated = (batch: Parameters<typeof afterFailure>[1], times: number) => {
  const actions: Array<ReturnType<typeof afterFailure>["action"]> = []
  let state = noFailures
  for (let time = 0; time < times; time++) {
    const next = afterFailure(state, batch)
    actions.push(next.action)
    state = next.state
  }
  return { actions, state }
}

describe("Settlements of a failed batch", () => {
  it("settlements are tried again, twice as late after each outage, within a second", () => {
    expect(repeated(outage, 8).actions).toEqual(
      [50, 100, 200, 400, 800, 1_000, 1_000, 1_000].map((afterMillis) => ({ _tag: "Retry", afterMillis }))
    )
  })

  it("settlements of a rejected statement are tried again without growing delay", () => {
    const actions = repeated(rejection, 8).actions
    expect(actions).toEqual(actions.map(() => ({ _tag: "Retry", afterMillis: 50 })))
  })

  it("the settlements of a failed batch are suspect up to the last of them", () => {
    expect(repeated(outage, 1).state.suspectThrough).toBe(100)
  })

  it("a batch is halved after the second rejection or the fourth outage", () => {
    const sizes = (batch: Parameters<typeof afterFailure>[1]) =>
      [1, 2, 3, 4].map((times) => repeated(batch, times).state.maxSettlements)
    expect(sizes(rejection)).toEqual([256, 50, 50, 50])
    expect(sizes(outage)).toEqual([256, 256, 256, 50])
  })

  it("a single settlement is rejected only after a second failure, and only without a reservation beside it", () => {
    const one = { reservations: 0, settlements: 1, lastSequence: 1, rejected: true }
    const last = (batch: Parameters<typeof afterFailure>[1], times: number) =>
      repeated(batch, times).actions.at(-1)?._tag
    expect(last(one, 1)).toBe("Retry")
    expect(last(one, 2)).toBe("RejectOne")
    expect(last({ ...one, reservations: 1 }, 2)).toBe("Retry")
    expect(last({ ...one, rejected: false }, 20)).toBe("Retry")
  })

  it("a rejected settlement among any number is found, and all others are written", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), fc.nat(), (count, at) => {
        const rejected = (at % count) + 1
        let queue = Array.from({ length: count }, (_, index) => index + 1)
        const written: Array<number> = []
        let state: FailureState = noFailures
        let statements = 0
        for (let found = false; !found; statements += 1) {
          const batch = queue.slice(0, state.maxSettlements)
          if (batch.includes(rejected)) {
            const failed = {
              reservations: 0,
              settlements: batch.length,
              lastSequence: batch.at(-1) ?? 0,
              rejected: true
            }
            const next = afterFailure(state, failed)
            state = next.state
            found = next.action._tag === "RejectOne"
            if (found) expect(batch).toEqual([rejected])
          } else {
            state = afterWrite(state)
            written.push(...batch)
            queue = queue.slice(batch.length)
          }
          expect(statements).toBeLessThan(100)
        }
        expect(written).toEqual(Array.from({ length: rejected - 1 }, (_, index) => index + 1))
      })
    )
  })
})

describe("After settlements were written", () => {
  it("failures are forgotten and batches grow again, never beyond a statement's bound", () => {
    let state = repeated(rejection, 5).state
    const sizes: Array<number> = []
    for (let time = 0; time < 4; time++) {
      state = afterWrite(state)
      sizes.push(state.maxSettlements)
    }
    expect(state.failures).toBe(0)
    expect(sizes).toEqual([100, 200, 256, 256])
  })

  it("a dropped settlement counts as written, and batches stay small", () => {
    const state = repeated(rejection, 5).state
    expect(afterDrop(state)).toEqual({ ...state, failures: 0 })
  })
})

describe("A rejected settlement", () => {
  it("a rejected settlement loses its log row first, then its kept response, then its charge, then it is dropped", () => {
    const withoutRecord = { ...settlement, kept, record: null }
    expect(afterRejection({ ...settlement, kept })).toEqual({ settlement: withoutRecord, without: "log row" })
    const withoutKept = { ...settlement, kept: undefined, record: null }
    expect(afterRejection(withoutRecord)).toEqual({ settlement: withoutKept, without: "kept response" })
    const free: BatchSettlement = { ...withoutKept, state: "void", actual: microUsd(0) }
    expect(afterRejection(withoutKept)).toEqual({ settlement: free, without: "charge" })
    expect(afterRejection(free)).toBeUndefined()
  })
})

describe("Reservations of a failed batch", () => {
  it("a failed reservation is voided when its hold may exist; a failed extension leaves the hold to its call", () => {
    expect(needsVoid(reservation(false), true)).toBe(true)
    expect(needsVoid(reservation(false), false)).toBe(false)
    expect(needsVoid(reservation(true), true)).toBe(false)
  })

  it("reservations that are still queued fail too after an outage of two seconds", () => {
    expect(isOutage(1_999)).toBe(false)
    expect(isOutage(2_000)).toBe(true)
  })
})
