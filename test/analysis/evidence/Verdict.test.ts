import { describe, expect, it } from "@effect/vitest"
import {
  addPair,
  addPlacebo,
  assess,
  type Comparison,
  detectionLow,
  needsPlacebo,
  type Outcome,
  open,
  plantsPerClass,
  verdict
} from "../../../src/analysis/evidence/Verdict.ts"

const all = { count: plantsPerClass, found: plantsPerClass }
const terms = { margin: 0.1, opened: 1 }
const agreed: Comparison = { difference: 0, isJudged: false }
const judged = (difference: number): Comparison => ({ difference, isJudged: true })
const alternating = (count: number): ReadonlyArray<Comparison> =>
  Array.from({ length: count }, (_, at) => judged(at % 2 === 0 ? 1 : -1))
const mixedWith = (every: number, count: number, values: ReadonlyArray<Comparison>): ReadonlyArray<Comparison> =>
  Array.from({ length: count }, (_, at) =>
    at % every === 0 ? (values[(at / every) % values.length] ?? agreed) : agreed
  )

/** A sequence that follows from its seed. */
const uniform = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface World {
  readonly truth: number
  readonly differ: number
  readonly sensitivity: number
  readonly bias: number
}

/** Looks after every pair, as the analysis does. */
const simulate = (seed: number, { bias, differ, sensitivity, truth }: World, pairs: number): Outcome => {
  const random = uniform(seed)
  const compare = (mean: number): Comparison => {
    if (random() >= differ) return agreed
    if (random() < bias) return judged(1)
    if (random() >= sensitivity) return judged(0)
    return judged(random() < (1 + mean / differ) / 2 ? 1 : -1)
  }
  const found = Array.from({ length: plantsPerClass }).filter(() => random() < sensitivity).length
  let state = open(terms, { count: plantsPerClass, found })
  for (let pair = 0; pair < pairs; pair++) {
    state = addPair(state, compare(truth))
    if (needsPlacebo(state)) state = addPlacebo(state, compare(0))
    const now = verdict(state)
    if (now.isFinal) return now.outcome
  }
  return verdict(state).outcome
}

const shareOf = (outcome: Outcome, world: World, runs = 200, pairs = 250): number =>
  Array.from({ length: runs }, (_, run) => simulate(run + 1, world, pairs)).filter((found) => found === outcome)
    .length / runs

describe("claims of equal quality", () => {
  it("are false in at most 5 % of runs on the boundary, looking after every pair", () => {
    expect(shareOf("not_worse", { truth: -0.1, differ: 0.2, sensitivity: 1, bias: 0 })).toBeLessThanOrEqual(0.05)
  })

  it.each([0.2, 0.5, 0.8])("are not made easier by a judge that sees %d of the differences", (sensitivity) => {
    expect(shareOf("not_worse", { truth: -0.1, differ: 0.2, sensitivity, bias: 0 })).toBeLessThanOrEqual(0.05)
  })

  it.each([0.25, 0.5, 1])("are not made on the word of a judge that takes %d of the new answers blindly", (bias) => {
    expect(shareOf("not_worse", { truth: -0.1, differ: 0.3, sensitivity: 1, bias })).toBeLessThanOrEqual(0.05)
  })

  it("are made of a candidate that is equal", () => {
    expect(shareOf("not_worse", { truth: 0, differ: 0.1, sensitivity: 1, bias: 0 }, 60, 600)).toBeGreaterThan(0.6)
  })

  it("need more evidence the more questions are opened", () => {
    const placebo = alternating(400)
    const pairs = (count: number) => mixedWith(20, count, alternating(2))
    const first = [...Array(400).keys()].find(
      (count) => assess({ plants: all, pairs: pairs(count), placebo }, terms).outcome === "not_worse"
    )
    const ofThree = [...Array(400).keys()].find(
      (count) => assess({ plants: all, pairs: pairs(count), placebo }, { ...terms, opened: 3 }).outcome === "not_worse"
    )
    expect(first).toBeDefined()
    expect(ofThree).toBeGreaterThan(first ?? Number.NaN)
  })
})

describe("a verdict", () => {
  it("is `worse` as soon as harm is sure", () => {
    const harmful = mixedWith(4, 80, [judged(-1)])
    expect(assess({ plants: all, pairs: harmful, placebo: [] }, terms)).toMatchObject({
      outcome: "worse",
      isFinal: true,
      wins: 0,
      losses: 20,
      ties: 60,
      mean: -0.25
    })
  })

  it("is `judge_unfit` where planted degradations are missed, whatever the pairs say", () => {
    const pairs = new Array<Comparison>(500).fill(agreed)
    const plants = { count: plantsPerClass, found: plantsPerClass / 2 }
    expect(assess({ plants, pairs, placebo: [] }, terms).outcome).toBe("judge_unfit")
  })

  it("is `insufficient_data` where few were planted and it is not sure that the judge sees them, whatever it says of pairs", () => {
    const pairs = new Array<Comparison>(100).fill(judged(-1))
    const plants = { count: plantsPerClass - 1, found: 5 }
    expect(assess({ plants, pairs, placebo: [] }, terms)).toMatchObject({
      outcome: "insufficient_data",
      isFinal: true,
      pairsNeeded: null
    })
    expect(assess({ plants, pairs, placebo: [] }, terms, true).outcome).toBe("stopped_by_cap")
  })

  it.each([1, -1])("is `judge_biased` where the incumbent differs from itself by %d", (side) => {
    const placebo = new Array<Comparison>(30).fill(judged(side))
    expect(assess({ plants: all, pairs: [], placebo }, terms).outcome).toBe("judge_biased")
  })

  it("is `insufficient_data` without a placebo arm, however good the pairs are", () => {
    const pairs = new Array<Comparison>(500).fill(agreed)
    expect(assess({ plants: all, pairs, placebo: [] }, terms)).toMatchObject({
      outcome: "insufficient_data",
      isFinal: false
    })
    expect(assess({ plants: all, pairs, placebo: alternating(60) }, terms).outcome).toBe("not_worse")
  })

  it("is `stopped_by_cap` where money ends before an answer, and a claim that was reached stays", () => {
    const results = { plants: all, pairs: [agreed], placebo: [] }
    expect(assess(results, terms, true).outcome).toBe("stopped_by_cap")
    const proven = { plants: all, pairs: new Array<Comparison>(500).fill(agreed), placebo: alternating(60) }
    expect(assess(proven, terms, true).outcome).toBe("not_worse")
  })

  it("allows less of a difference to a judge that sees less", () => {
    const pairs = new Array<Comparison>(60).fill(agreed)
    const strong = assess({ plants: all, pairs, placebo: [] }, terms)
    const weak = assess({ plants: { count: plantsPerClass, found: 30 }, pairs, placebo: [] }, terms)
    expect(weak.eValue).toBeLessThan(strong.eValue)
  })
})

describe("the bound of detection", () => {
  it("is the lower 95 % bound of Clopper and Pearson", () => {
    // exact: .05 ** (1 / 40), and tables of the binomial distribution
    expect(detectionLow(40, 40)).toBeCloseTo(0.05 ** (1 / 40), 6)
    expect(detectionLow(20, 40)).toBeCloseTo(0.3609, 3)
    expect(detectionLow(0, 40)).toBe(0)
  })
})
