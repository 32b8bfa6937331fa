import { describe, expect, it } from "@effect/vitest"
import { type Alternative, choose, type Segment } from "../../../src/analysis/evidence/Questions.ts"
import { quote } from "../../../src/analysis/evidence/Quote.ts"

const segment = (changes: Partial<Segment> = {}): Segment => ({
  promptClass: "chat",
  incumbent: "sim/best",
  calls: 1_000,
  spentMicroUsd: 10_000_000,
  conversations: 300,
  ...changes
})
const alternative = (model: string, quality: number, share: number | null): Alternative => ({
  model,
  quality: () => quality,
  costMicroUsd: ({ spentMicroUsd }) => (share === null ? null : spentMicroUsd * share)
})
const best = alternative("sim/best", 0.8, 1)
const margin = 0.1

describe("questions", () => {
  it("are those with the most expected dollars: the saving times the chance that the claim holds", () => {
    const [asked] = choose(
      [segment()],
      [best, alternative("sim/half", 0.78, 0.5), alternative("sim/tiny", 0.3, 0.01), alternative("sim/near", 0.8, 0.9)],
      margin,
      null
    )
    expect(asked).toMatchObject({ candidate: "sim/half", savingPerCallMicroUsd: 5_000 })
    // ahead by .08 at a deviation of .1: the normal distribution has .7881 below
    expect(asked?.expectedMicroUsd).toBeCloseTo(5_000_000 * 0.7881, -4)
  })

  it("are three at most, and one for each class and incumbent", () => {
    const classes = ["chat", "code", "math", "extraction"] as const
    const segments = classes.map((promptClass, at) => segment({ promptClass, spentMicroUsd: (at + 1) * 1_000_000 }))
    const asked = choose(segments, [best, alternative("sim/a", 0.8, 0.5), alternative("sim/b", 0.8, 0.4)], margin, null)
    expect(asked.map(({ candidate, promptClass }) => [promptClass, candidate])).toEqual([
      ["extraction", "sim/b"],
      ["math", "sim/b"],
      ["code", "sim/b"]
    ])
  })

  it("are not about models of unknown or higher price, too few conversations, or models that were not named", () => {
    expect(
      choose([segment()], [best, alternative("sim/a", 0.9, null), alternative("sim/b", 0.9, 1.1)], margin, null)
    ).toEqual([])
    expect(choose([segment({ conversations: 19 })], [best, alternative("sim/a", 0.8, 0.5)], margin, null)).toEqual([])
    expect(choose([segment()], [best, alternative("sim/a", 0.8, 0.5)], margin, ["sim/b"])).toEqual([])
  })
})

describe("a quote", () => {
  const terms = {
    costs: { candidate: 1_300, incumbent: 6_500, judge: 5_370 },
    pairs: 300,
    agreement: 0,
    savingPerCallMicroUsd: 5_200,
    callsPerDay: 500
  }

  it("is what all calls of the question are likely to cost", () => {
    expect(quote(terms).costMicroUsd).toBe(300 * (1_300 + 6_500 + 4 * 5_370) + 80 * 5_370)
    expect(quote({ ...terms, agreement: 1 }).costMicroUsd).toBe(300 * 7_800 + 80 * 5_370)
  })

  it("says after how many calls it has paid for itself, and advises against what takes over 30 days", () => {
    const { costMicroUsd, isAdvised, paybackCalls, paybackDays } = quote(terms)
    expect(paybackCalls).toBe(Math.ceil(costMicroUsd / 5_200))
    expect(paybackDays).toBe((paybackCalls ?? 0) / 500)
    expect(isAdvised).toBe(true)
    expect(quote({ ...terms, callsPerDay: 10 }).isAdvised).toBe(false)
    expect(quote({ ...terms, savingPerCallMicroUsd: 0 })).toMatchObject({
      paybackCalls: null,
      paybackDays: null,
      isAdvised: false
    })
  })
})
