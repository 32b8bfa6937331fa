import { describe, expect, it } from "vitest"
import { areaOf, costOf, hullOf, qualityAt } from "../../../scripts/router/Curve.ts"
import type { GradedSet } from "../../../scripts/router/Data.ts"
import { evaluate } from "../../../scripts/router/Evaluation.ts"
import { leaveOneTaskOut } from "../../../scripts/router/LeaveOneOut.ts"
import { train } from "../../../scripts/router/Predictor.ts"
import { apgrOf } from "../../../scripts/router/Report.ts"

const words = ["river", "table", "engine", "garden", "window", "letter", "market", "bridge", "summer", "island"]

/** A cheap model that can only do sums, and one ten times as dear that can do everything. */
const set = (offset: number, count: number): GradedSet => ({
  name: "made",
  models: ["cheap", "dear"],
  prompts: Array.from({ length: count }, (_, at) => {
    const turn = offset + at
    const isSum = turn % 2 === 0
    const [a, b] = [words[turn % 10] ?? "", words[(turn * 3 + 1) % 10] ?? ""]
    return {
      id: `p${turn}`,
      task: isSum ? "sums" : "stories",
      label: isSum ? "sums" : "stories",
      text: isSum ? `What is ${turn} plus ${turn * 7}?` : `Write a long story about the ${a} and the ${b}.`,
      scores: isSum ? [1, 1] : [0, 1],
      costs: [1, 10],
      outputTokens: null
    }
  })
})

describe("The curve of cost and quality", () => {
  const points = [
    { cost: 1, quality: 0.5 },
    { cost: 2, quality: 0.55 },
    { cost: 3, quality: 0.9 },
    { cost: 5, quality: 0.8 }
  ]

  it("is the upper edge of the points, from cheap to dear", () => {
    expect(hullOf(points)).toEqual([points[0], points[2]])
  })

  it("is flat beyond its dearest point, and its area is its mean height", () => {
    const hull = hullOf(points)
    expect(qualityAt(hull, 2)).toBeCloseTo(0.7)
    expect(qualityAt(hull, 9)).toBe(0.9)
    expect(areaOf(hull, 1, 3)).toBeCloseTo(0.7)
    expect(areaOf(hull, 1, 5)).toBeCloseTo((0.7 * 2 + 0.9 * 2) / 4)
    expect(costOf(hull, 0.7)).toBeCloseTo(2)
    expect(costOf(hull, 0.95)).toBeNull()
  })
})

describe("An evaluation", () => {
  it("sees a router that tells the tasks apart reach the best quality at a fraction of the cost", () => {
    const { evaluation, predictions } = evaluate(set(0, 400), set(1_000, 100))
    expect(evaluation.zero_router.aiq).toBeCloseTo(0.75, 2)
    expect(evaluation.router.aiq).toBeGreaterThan(0.85)
    expect(evaluation.router.cost_at_100).toBeLessThan(0.7)
    expect(evaluation.apgr?.apgr).toBeGreaterThan(0.7)
    expect(predictions.quality).toHaveLength(100)
    expect(evaluation.microseconds_per_prompt.p50).toBeLessThan(1_000)
  })

  it("says what a router would reach that is told the kind of task, also one that was not in training", () => {
    const test = set(1_000, 100)
    const { evaluation } = evaluate(set(0, 400), test)
    // half of the calls are sums, for which the cheap model does
    expect(evaluation.told_label.max_quality).toBe(1)
    expect(evaluation.told_label.cost_at_100).toBeCloseTo(5.5 / 10, 5)
    expect(evaluation.told_label.apgr?.apgr).toBeCloseTo(0.755, 2)
    const unknown = { ...test, prompts: test.prompts.map((prompt) => ({ ...prompt, label: "unknown" })) }
    expect(evaluate(set(0, 400), unknown).evaluation.told_label.aiq).toBe(evaluation.zero_router.aiq)
  })

  it("is the same for the same files", () => {
    const [one, other] = [evaluate(set(0, 200), set(500, 50)), evaluate(set(0, 200), set(500, 50))]
    expect(other.predictions).toEqual(one.predictions)
  })

  it("measures a task by what was learned from the others alone", () => {
    const tasks = leaveOneTaskOut(set(0, 400), set(1_000, 100))
    expect(tasks.map(({ prompts, task }) => [task, prompts])).toEqual([
      ["stories", 50],
      ["sums", 50]
    ])
    const [stories, sums] = tasks
    // by sums alone both models are as good, so that nobody would pay for the dear one
    expect(stories?.aiq_zero_router).toBeCloseTo(0.5, 1)
    expect(stories?.aiq_averages).toBe(0)
    expect(stories?.aiq_router).toBe(0)
    expect(stories?.difference).toBeLessThan(-0.4)
    expect(sums?.aiq_averages).toBe(sums?.aiq_zero_router)
    expect(sums?.difference).toBe(0)
  })

  it("predicts the average of each model for a text that is like none of the training texts", () => {
    const { predict } = train(set(0, 400))
    const [sum, story, strange] = [
      "What is 12 plus 84?",
      "Write a long story about the river and the garden.",
      '```\n  (x) => { return x === "$" ? [1] : {2: x / 3} }\n```\n- $a$\n- $b$\nA. $\\alpha$\nB. $\\beta$\nWarum? Wieso?'
    ].map((text) => Array.from(predict(text).quality))
    // 0.65 of the way from the average to what the task scored
    expect(sum?.[0]).toBeCloseTo(0.825, 1)
    expect(story?.[0]).toBeCloseTo(0.175, 1)
    expect(strange?.[0]).toBeCloseTo(0.5, 2)
    expect(strange?.[1]).toBeCloseTo(1, 2)
  })

  it("lifts a model just below the hull of the averages above it, for a text that is like none, and no other", () => {
    const graded = set(0, 400)
    const prompts = graded.prompts.map((prompt, at) => ({
      ...prompt,
      // on average 0.5, 0.73 (the hull there is at 0.75), 1, and 0.65
      scores: [prompt.scores[0] ?? 0, at % 100 < 73 ? 1 : 0, 1, at % 100 < 65 ? 1 : 0],
      costs: [1, 2, 3, 2.5]
    }))
    const { predict } = train({ ...graded, models: ["small", "near", "large", "far"], prompts })
    const strange = "```\n(x) => [1]\n```\n- $a$\n- $b$\nWarum? Wieso?"
    expect(Array.from(predict(strange).quality, (quality) => Math.round(quality * 1_000))).toEqual([
      500, 753, 1_000, 650
    ])
  })

  it("gives a coin for predictions that say nothing, and all of the gap at once for those that know", () => {
    const graded = set(0, 200)
    const cost = graded.prompts.map(() => [1, 10])
    const blind = apgrOf(graded, { quality: graded.prompts.map(() => [0.5, 0.5]), cost })
    expect(blind.apgr).toBeCloseTo(0.5, 1)
    const knowing = apgrOf(graded, { quality: graded.prompts.map(({ scores }) => scores), cost })
    expect(knowing.apgr).toBeCloseTo(0.75, 1)
    expect(knowing.cpt_50).toBeCloseTo(0.25)
  })
})
