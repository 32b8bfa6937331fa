import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { type EProcess, eValue, next, start, valuesNeeded } from "../../../src/analysis/evidence/EProcess.ts"

const gather = (lowest: number, values: ReadonlyArray<number>): EProcess => values.reduce(next, start(lowest))

describe("an e-process", () => {
  it("has an expected value of 1 at most where the hypothesis is true, exactly 1 on its boundary", () => {
    const low = fc.double({ min: 0.05, max: 1, noNaN: true })
    fc.assert(
      fc.property(low, low, fc.array(fc.boolean(), { maxLength: 6 }), (below, above, drawn) => {
        // every sequence of a fair two-valued step, weighted by its probability
        const chanceOfAbove = below / (below + above)
        const expected = (process: EProcess, steps: number): number =>
          steps === 0
            ? eValue(process)
            : chanceOfAbove * expected(next(process, above), steps - 1) +
              (1 - chanceOfAbove) * expected(next(process, -below), steps - 1)
        expect(expected(start(below), drawn.length)).toBeCloseTo(1, 9)
      })
    )
  })

  it("never loses everything by one value, so that later evidence still counts", () => {
    const afterTheWorst = gather(1, [-1])
    expect(eValue(afterTheWorst)).toBeGreaterThan(0)
    expect(eValue(gather(1, [-1, ...new Array<number>(100).fill(1)]))).toBeGreaterThan(1_000)
  })

  it("grows without an end where the mean is above 0, and vanishes where it is below", () => {
    expect(eValue(gather(1, new Array<number>(400).fill(0.1)))).toBeGreaterThan(1e9)
    expect(eValue(gather(1, new Array<number>(400).fill(-0.1)))).toBeLessThan(0.5)
  })

  it("estimates how many more values are needed, and says where none would help", () => {
    const values = Array.from({ length: 60 }, (_, at) => (at % 5 === 0 ? -0.2 : 0.1))
    const needed = valuesNeeded(gather(1, values), 100)
    expect(needed).toBeGreaterThan(0)
    const enough = Array.from({ length: 60 + (needed ?? 0) }, (_, at) => (at % 5 === 0 ? -0.2 : 0.1))
    expect(eValue(gather(1, enough))).toBeGreaterThan(100)
    expect(valuesNeeded(gather(1, new Array<number>(40).fill(-0.1)), 100)).toBeNull()
    expect(valuesNeeded(gather(1, enough), 100)).toBe(0)
  })
})
