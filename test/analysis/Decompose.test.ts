import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { decompose, largestRemainder } from "../../src/analysis/Decompose.ts"

/** Savings that overlap: a cause removes parts of the bill, and a part that two remove is gone once. */
const overlapping = fc
  .record({
    parts: fc.array(fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 3, maxLength: 3 }), {
      minLength: 1,
      maxLength: 12
    }),
    causes: fc.array(fc.array(fc.nat({ max: 11 }), { maxLength: 8 }), { minLength: 1, maxLength: 6 }),
    seed: fc.nat()
  })
  .map(({ causes, parts, seed }) => {
    const bill = (set: ReadonlySet<number>) => {
      const removed = new Set([...set].flatMap((cause) => causes[cause] ?? []))
      return Float64Array.from([0, 1, 2], (conversation) =>
        parts.reduce((sum, part, index) => sum + (removed.has(index) ? 0 : (part[conversation] ?? 0)), 0.25)
      )
    }
    return { bill, count: causes.length, seed }
  })

const sum = (amounts: Iterable<number>) => [...amounts].reduce((a, b) => a + b, 0)

describe("shares of a joint saving", () => {
  it("add up to it exactly, are whole and not negative, and are at most what was charged", () =>
    fc.assert(
      fc.property(overlapping, ({ bill, count, seed }) => {
        const { joint, shares } = decompose(count, bill, seed)
        const charged = sum(bill(new Set()))
        expect(sum(shares)).toBe(joint)
        expect(shares.every((share) => Number.isSafeInteger(share) && share >= 0)).toBe(true)
        expect(joint).toBe(Math.floor(charged - sum(bill(new Set(shares.keys())))))
        expect(joint).toBeLessThanOrEqual(charged)
      })
    ))

  it("never exceed what a cause would save alone by more than rounding, where savings overlap", () =>
    fc.assert(
      fc.property(overlapping, ({ bill, count, seed }) => {
        const { alone, shares } = decompose(count, bill, seed)
        shares.forEach((share, cause) => {
          expect(share).toBeLessThanOrEqual((alone[cause] ?? 0) + 1)
        })
      })
    ))

  it("of two causes do not depend on their order in the code", () => {
    const bill = (swapped: boolean) => (set: ReadonlySet<number>) => {
      const [first, second] = swapped ? [set.has(1), set.has(0)] : [set.has(0), set.has(1)]
      return Float64Array.of(first && second ? 100 : first ? 400 : second ? 500 : 1000)
    }
    const [a, b] = decompose(2, bill(false), 1).shares
    expect(decompose(2, bill(true), 1).shares).toEqual([b, a])
    expect([a, b]).toEqual([500, 400])
  })

  it("leave out a cause whose edit only adds cost to the others'", () => {
    const bill = (set: ReadonlySet<number>) =>
      Float64Array.of(set.has(0) && set.has(1) ? 900 : set.has(0) ? 500 : set.has(1) ? 990 : 1000)
    const { joint, shares } = decompose(2, bill, 1)
    expect([joint, shares]).toEqual([500, [500, 0]])
  })
})

it("the largest remainders get what is left", () => {
  expect(largestRemainder([1.4, 2.7, 3.4], 7)).toEqual([1, 3, 3])
  expect(largestRemainder([1.5, 1.5], 2)).toEqual([1, 1])
})
