import * as fc from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import {
  afterBatch,
  afterSettle,
  batchSize,
  maxKeptBytes,
  maxPerStatement,
  type QueueState,
  withinKeptBytes
} from "../../../src/ledger/batcher/FlushPolicy.ts"

const empty: QueueState = {
  writing: false,
  retrying: false,
  closing: false,
  reservations: 0,
  settlements: 0,
  suspect: false,
  settlementsNext: true,
  failures: 0,
  maxSettlements: maxPerStatement,
  awaited: false,
  late: false,
  wanted: false,
  ample: false
}

/** Queues as the batcher can have them between two batches. */
const queues = fc
  .record({
    writing: fc.constant(false),
    retrying: fc.boolean(),
    closing: fc.boolean(),
    reservations: fc.nat({ max: 600 }),
    settlements: fc.nat({ max: 600 }),
    suspect: fc.boolean(),
    settlementsNext: fc.boolean(),
    failures: fc.nat({ max: 5 }),
    maxSettlements: fc.integer({ min: 1, max: maxPerStatement }),
    awaited: fc.boolean(),
    late: fc.boolean(),
    wanted: fc.boolean(),
    ample: fc.boolean()
  })
  .map((queue) =>
    queue.settlements === 0 ? { ...queue, suspect: false, retrying: false, awaited: false, late: false } : queue
  )

describe("After a settlement was queued", () => {
  it("a lone settlement waits for a reservation", () => {
    expect(afterSettle({ ...empty, settlements: 1 })).toBe("FlushLater")
  })

  it("a full statement does not wait, nor does any while closing", () => {
    expect(afterSettle({ ...empty, settlements: maxPerStatement - 1 })).toBe("FlushLater")
    expect(afterSettle({ ...empty, settlements: maxPerStatement })).toBe("FlushNow")
    expect(afterSettle({ ...empty, settlements: 1, closing: true })).toBe("FlushNow")
  })

  it("what waits for the money of running calls gets it at once", () => {
    expect(afterSettle({ ...empty, settlements: 1, wanted: true })).toBe("FlushNow")
  })

  it("nothing starts beside a running statement or before the time of a retry", () => {
    for (const blocked of [{ writing: true }, { retrying: true }]) {
      expect(afterSettle({ ...empty, settlements: maxPerStatement, closing: true, ...blocked })).toBe("Wait")
    }
  })
})

describe("After a batch", () => {
  it("the batcher is idle only when nothing is queued", () => {
    fc.assert(
      fc.property(queues, (queue) => {
        expect(afterBatch(queue) === "Idle").toBe(queue.reservations + queue.settlements === 0)
      })
    )
  })

  it("a flush at once always has something to write, so that the batcher never spins", () => {
    fc.assert(
      fc.property(queues, (queue) => {
        const { reservations, settlements } = batchSize(queue)
        if (afterBatch(queue) === "FlushNow") expect(reservations + settlements).toBeGreaterThan(0)
      })
    )
  })

  it("settlements wait for a reservation, unless they are awaited, failed before, or fill a statement", () => {
    const queue = { ...empty, settlements: 3 }
    expect(afterBatch(queue)).toBe("FlushLater")
    expect(afterBatch({ ...queue, awaited: true })).toBe("FlushNow")
    expect(afterBatch({ ...queue, failures: 1 })).toBe("FlushNow")
    expect(afterBatch({ ...queue, closing: true })).toBe("FlushNow")
    expect(afterBatch({ ...queue, maxSettlements: 3 })).toBe("FlushNow")
    expect(afterBatch({ ...queue, late: true })).toBe("FlushNow")
  })

  it("settlements wait for the time of their retry, reservations do not", () => {
    const queue = { ...empty, settlements: 3, retrying: true, awaited: true, closing: true }
    expect(afterBatch(queue)).toBe("Wait")
    expect(afterBatch({ ...queue, reservations: 1 })).toBe("FlushNow")
  })
})

describe("The size of a batch", () => {
  it("a batch is within the queues and the bounds of a statement", () => {
    fc.assert(
      fc.property(queues, (queue) => {
        const { reservations, settlements } = batchSize(queue)
        expect(reservations).toBeLessThanOrEqual(Math.min(queue.reservations, maxPerStatement))
        expect(settlements).toBeLessThanOrEqual(Math.min(queue.settlements, queue.maxSettlements))
      })
    )
  })

  it("a batch takes all that fits when nothing has failed", () => {
    expect(batchSize({ ...empty, reservations: 300, settlements: 300 })).toEqual({
      reservations: 256,
      settlements: 256,
      isPutOff: false
    })
    expect(batchSize({ ...empty, reservations: 7, settlements: 5 })).toEqual({
      reservations: 7,
      settlements: 5,
      isPutOff: false
    })
  })

  it("settlements that reservations can do without wait for more, unless they are due", () => {
    const queue = { ...empty, ample: true, reservations: 2, settlements: 3 }
    const putOff = { reservations: 2, settlements: 0, isPutOff: true }
    const together = { reservations: 2, settlements: 3, isPutOff: false }
    expect(batchSize(queue)).toEqual(putOff)
    for (const due of [
      { ample: false },
      { wanted: true },
      { late: true },
      { awaited: true },
      { closing: true },
      { failures: 1 },
      { maxSettlements: 3 }
    ]) {
      expect(batchSize({ ...queue, ...due })).toEqual(together)
    }
    expect(batchSize({ ...queue, reservations: 0 })).toEqual({ ...together, reservations: 0 })
    expect(batchSize({ ...queue, settlements: 0 })).toEqual({ ...putOff, isPutOff: false })
    expect(batchSize({ ...queue, retrying: true })).toEqual({ ...putOff, isPutOff: false })
  })

  it("a batch takes no settlement before the time of its retry", () => {
    fc.assert(
      fc.property(queues, (queue) => {
        expect(batchSize({ ...queue, retrying: true }).settlements).toBe(0)
      })
    )
  })

  it("a batch never has a reservation beside suspect settlements", () => {
    fc.assert(
      fc.property(queues, (queue) => {
        const { reservations, settlements } = batchSize({ ...queue, suspect: true })
        expect(Math.min(reservations, settlements)).toBe(0)
      })
    )
  })

  it("suspect settlements and reservations take turns", () => {
    const queue = { ...empty, suspect: true, reservations: 4, settlements: 2 }
    expect(batchSize({ ...queue, settlementsNext: true })).toMatchObject({ reservations: 0, settlements: 2 })
    expect(batchSize({ ...queue, settlementsNext: false })).toMatchObject({ reservations: 4, settlements: 0 })
    expect(batchSize({ ...queue, settlementsNext: false, reservations: 0 })).toMatchObject({
      reservations: 0,
      settlements: 2
    })
  })
})

describe("Kept responses in one statement", () => {
  it("are no more than it can write, but at least one", () => {
    const half = () => maxKeptBytes / 2
    expect(withinKeptBytes(5, () => 0)).toBe(5)
    expect(withinKeptBytes(5, half)).toBe(2)
    expect(withinKeptBytes(2, half)).toBe(2)
    expect(withinKeptBytes(5, () => maxKeptBytes + 1)).toBe(1)
    expect(withinKeptBytes(0, half)).toBe(0)
  })
})
