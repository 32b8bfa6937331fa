import { describe, expect, it } from "vitest"
import { effectiveCount, project, quantileOfT } from "../../src/analysis/Interval.ts"
import { figuresOf, poolKinds } from "./planted/Pools.ts"

const sample = (n: number, saved: (i: number) => number) =>
  Array.from({ length: n }, (_, i) => ({ charged: 100, saved: saved(i), inclusion: 0.5 }))

describe("a projection", () => {
  it("is withheld below 20 effective conversations", () => {
    expect(
      project(
        sample(19, () => 10),
        1
      )
    ).toBeUndefined()
    expect(
      project(
        sample(20, () => 10),
        1
      )
    ).toBeDefined()
    const uneven = [...sample(30, () => 1), { charged: 1e6, saved: 1, inclusion: 1 }]
    expect(effectiveCount(uneven)).toBeLessThan(2)
    expect(project(uneven, 1)).toBeUndefined()
  })
  it("has no likely range below 50", () => {
    expect(
      project(
        sample(49, (i) => i),
        1
      )?.likely
    ).toBeNull()
    expect(
      project(
        sample(50, (i) => i),
        1
      )?.likely
    ).not.toBeNull()
  })
  it("has a likely range that begins at its lower bound or above, also where one conversation is unlike all others", () => {
    const { atLeast = 0, likely } = project(
      sample(60, (i) => (i === 0 ? 0 : 77 + (i % 3) / 10)),
      1
    ) ?? { likely: null }
    expect(atLeast).toBeGreaterThan(0.7)
    expect(likely?.[0]).toBeGreaterThanOrEqual(atLeast)
    expect(likely?.[1]).toBeGreaterThan(atLeast)
  })
  it("weighs a conversation by how probable it was to be taken", () => {
    const rare = Array.from({ length: 20 }, () => ({ charged: 100, saved: 100, inclusion: 0.25 }))
    const common = Array.from({ length: 20 }, () => ({ charged: 100, saved: 0, inclusion: 1 }))
    expect(project([...rare, ...common], 1)?.share).toBeCloseTo(0.8)
  })
  it("is the same for the same seed", () => {
    const of = () =>
      project(
        sample(60, (i) => i % 7),
        5
      )
    expect(of()).toEqual(of())
  })
})

// 1,000 pools of each kind: scripts/analysis/coverage.mjs
describe.each(poolKinds)("a collection of %s, sampled by rate and threshold", (kind) => {
  const { byRate, charged, given, held, likely, saved, unfounded, within } = figuresOf(kind, 200, 11)
  it("is unbiased", () => {
    expect(byRate).toBeGreaterThan(0.05)
    expect(byRate).toBeLessThan(0.95)
    expect(Math.abs(charged - 1)).toBeLessThan(0.05)
    expect(Math.abs(saved - 1)).toBeLessThan(0.05)
  })
  it("has bounds that hold", () => {
    expect(given).toBeGreaterThan(180)
    expect(unfounded).toBe(0)
    expect(held).toBeGreaterThanOrEqual(0.95)
    expect(likely).toBeGreaterThan(0)
    expect(within).toBeGreaterThanOrEqual(0.9)
  })
})

it("quantiles of t are those of the tables", () => {
  expect(quantileOfT(0.975, 19)).toBeCloseTo(2.093, 2)
  expect(quantileOfT(0.975, 60)).toBeCloseTo(2.0, 2)
})
