import * as fc from "effect/FastCheck"
import { describe, expect, it } from "vitest"
import type { Reversal } from "../../../src/account/payments/PaymentStore.ts"
import { microUsdOf, movesOf } from "../../../src/account/payments/ReversalMoves.ts"

const reversal = (id: string, fields: Partial<Reversal>): Reversal => ({
  id,
  kind: "refund",
  amountCents: 0,
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

  const facts = fc.record({
    id: fc.constantFrom("a", "b", "c"),
    amountCents: fc.integer({ min: 0, max: 150 }),
    isReinstated: fc.boolean()
  })

  it("agrees with what is known after each fact, whatever comes in which order", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(facts, { maxLength: 12 }), (paidCents, all) => {
        const paid = microUsdOf(paidCents)
        let known: ReadonlyArray<Reversal> = []
        for (const { amountCents, id, isReinstated } of all) {
          const before = known.find((each) => each.id === id) ?? reversal(id, {})
          // as the store adds a fact to what it knows
          const after = {
            ...before,
            amountCents: Math.max(before.amountCents, amountCents),
            isReinstated: before.isReinstated || isReinstated
          }
          known = [...known.filter((each) => each.id !== id), after].toSorted((a, b) => (a.id < b.id ? -1 : 1))
          let left = paid - sumOf(known.map(({ appliedMicroUsd }) => appliedMicroUsd))
          for (const { appliedMicroUsd, isReinstated: isOver, targetMicroUsd } of movesOf(paid, known)) {
            expect(targetMicroUsd < appliedMicroUsd).toBe(isOver)
            left -= targetMicroUsd - appliedMicroUsd
            expect(left).toBeGreaterThanOrEqual(0)
          }
          known = applied(paidCents, known)
          expect(movesOf(paid, known)).toEqual([])
          const wanted = known.map((each) => (each.isReinstated ? 0 : microUsdOf(each.amountCents)))
          expect(sumOf(known.map(({ appliedMicroUsd }) => appliedMicroUsd))).toBe(Math.min(paid, sumOf(wanted)))
        }
      })
    )
  })
})
