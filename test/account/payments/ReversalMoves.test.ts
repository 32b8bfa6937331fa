import * as fc from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import type { Reversal } from "../../../src/account/payments/PaymentStore.ts"
import { microUsdOf, movesOf, sourceOf } from "../../../src/account/payments/ReversalMoves.ts"

const reversal = (id: string, fields: Partial<Reversal>): Reversal => ({
  id,
  kind: "refund",
  amountCents: 0,
  failedCents: 0,
  refundedCents: 0,
  isReinstated: false,
  appliedMicroUsd: 0,
  ...fields
})

const targetsOf = (paidCents: number, reversals: ReadonlyArray<Reversal>) =>
  movesOf(microUsdOf(paidCents), reversals).map(({ id, targetMicroUsd }) => [id, targetMicroUsd])

/** What the journal has after the moves. */
const applied = (paidCents: number, reversals: ReadonlyArray<Reversal>): ReadonlyArray<Reversal> => {
  const targets = new Map(
    movesOf(microUsdOf(paidCents), reversals).map(({ id, targetMicroUsd }) => [id, targetMicroUsd])
  )
  return reversals.map((each) => ({ ...each, appliedMicroUsd: targets.get(each.id) ?? each.appliedMicroUsd }))
}

const sumOf = (amounts: ReadonlyArray<number>) => amounts.reduce((sum, amount) => sum + amount, 0)

describe("the money of refunds and disputes", () => {
  it("is paid back once", () => {
    const refund = reversal("re", { amountCents: 300 })
    expect(targetsOf(1_000, [refund])).toEqual([["re", 3_000_000]])
    expect(targetsOf(1_000, [{ ...refund, appliedMicroUsd: 3_000_000 }])).toEqual([])
    expect(targetsOf(1_000, [reversal("re", { amountCents: 500, appliedMicroUsd: 3_000_000 })])).toEqual([
      ["re", 5_000_000]
    ])
  })

  it("is no more than the payment: what has come first keeps its place", () => {
    const dispute = reversal("a", { kind: "dispute", amountCents: 1_000 })
    const refund = reversal("b", { amountCents: 700, appliedMicroUsd: 7_000_000 })
    expect(targetsOf(1_000, [dispute, refund])).toEqual([["a", 3_000_000]])
  })

  it("comes back where a dispute was won, before others take its place", () => {
    const refund = reversal("a", { amountCents: 700 })
    const won = reversal("b", { kind: "dispute", amountCents: 1_000, isReinstated: true, appliedMicroUsd: 10_000_000 })
    expect(targetsOf(1_000, [refund, won])).toEqual([
      ["b", 0],
      ["a", 7_000_000]
    ])
  })

  it("comes back where a refund has failed, whether the total has it or not", () => {
    const failed = { failedCents: 300, appliedMicroUsd: 3_000_000 }
    expect(targetsOf(1_000, [reversal("re", { ...failed, amountCents: 300 })])).toEqual([["re", 0]])
    for (const amountCents of [300, 500]) {
      const second = reversal("re", { failedCents: 300, refundedCents: 200, amountCents })
      expect(targetsOf(1_000, [second])).toEqual([["re", 2_000_000]])
    }
  })

  /** What a fact adds to what is known of one of them. */
  const facts = fc.record({
    id: fc.constantFrom("a", "b", "c"),
    amountCents: fc.integer({ min: 0, max: 150 }),
    failedCents: fc.integer({ min: 0, max: 80 }),
    refundedCents: fc.integer({ min: 0, max: 80 }),
    isReinstated: fc.boolean()
  })
  const wantedCents = ({ amountCents, failedCents, isReinstated, refundedCents }: Reversal) =>
    isReinstated ? 0 : Math.max(amountCents - failedCents, refundedCents)

  it("agrees with what is known after each fact, whatever comes in which order", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(facts, { maxLength: 12 }), (paidCents, all) => {
        const paid = microUsdOf(paidCents)
        let known: ReadonlyArray<Reversal> = []
        const sources = new Set<string>()
        for (const { amountCents, failedCents, id, isReinstated, refundedCents } of all) {
          const before = known.find((each) => each.id === id) ?? reversal(id, {})
          // as the store adds a fact to what it knows
          const after = {
            ...before,
            amountCents: Math.max(before.amountCents, amountCents),
            failedCents: before.failedCents + failedCents,
            // a refund that fails leaves those that have not
            refundedCents: Math.max(before.refundedCents - failedCents, 0) + refundedCents,
            isReinstated: before.isReinstated || isReinstated
          }
          known = [...known.filter((each) => each.id !== id), after].toSorted((a, b) => (a.id < b.id ? -1 : 1))
          let left = paid - sumOf(known.map(({ appliedMicroUsd }) => appliedMicroUsd))
          for (const move of movesOf(paid, known)) {
            const { appliedMicroUsd, targetMicroUsd } = move
            expect(targetMicroUsd < appliedMicroUsd).toBe(microUsdOf(wantedCents(move)) < appliedMicroUsd)
            expect(targetMicroUsd).toBeGreaterThanOrEqual(0)
            expect(sources).not.toContain(sourceOf(move))
            sources.add(sourceOf(move))
            left -= targetMicroUsd - appliedMicroUsd
            expect(left).toBeGreaterThanOrEqual(0)
          }
          known = applied(paidCents, known)
          expect(movesOf(paid, known)).toEqual([])
          const wanted = known.map((each) => microUsdOf(wantedCents(each)))
          expect(sumOf(known.map(({ appliedMicroUsd }) => appliedMicroUsd))).toBe(Math.min(paid, sumOf(wanted)))
        }
      })
    )
  })
})
