import { describe, expect, it } from "@effect/vitest"
import { wordCountsOf } from "../../../scripts/router/WordCounts.ts"
import { featuresOf } from "../../../src/routing/quality/Features.ts"

const fillers = ["river", "table", "engine", "garden", "window", "letter", "market"]

/** Texts of one kind with 0 to 7 steps, and with fillers in any order. */
const steps = (at: number) => (at * 5) % 8
const textOf = (at: number) =>
  [...Array.from({ length: steps(at) }, () => "then"), ...fillers.slice(at % 5, (at % 5) + 3)].join(" and ")
const texts = Array.from({ length: 600 }, (_, at) => textOf(at))

const predicted = (targets: ReadonlyArray<ReadonlyArray<number>>, text: string): ReadonlyArray<number> | undefined => {
  const counts = wordCountsOf(texts, targets)
  if (counts === undefined) return undefined
  const result = new Float64Array(2)
  counts.add(featuresOf(text), 1, result)
  return Array.from(result)
}

describe("what the numbers of words say within a class", () => {
  it("is that the cheap model fails where there is more to do", () => {
    const targets = texts.map((_, at) => [steps(at) > 3 ? -0.5 : 0.5, 0])
    const [few, many] = [predicted(targets, textOf(600)), predicted(targets, textOf(603))]
    expect((few?.[0] ?? 0) - (few?.[1] ?? 0)).toBeGreaterThan(0.2)
    expect((many?.[0] ?? 0) - (many?.[1] ?? 0)).toBeLessThan(-0.2)
  })

  it("is nothing where they explain next to nothing in texts that were held out", () => {
    const targets = texts.map((_, at) => [((at * 7919) % 13) / 13 - 0.5, 0])
    expect(predicted(targets, "then")).toBeUndefined()
  })

  it("is nothing where both models fail at the same texts", () => {
    const targets = texts.map((_, at) => (steps(at) > 3 ? [-0.5, -0.5] : [0.5, 0.5]))
    expect(predicted(targets, "then")).toBeUndefined()
  })

  it("is nothing in a class with few texts", () => {
    const few = texts.slice(0, 499)
    expect(
      wordCountsOf(
        few,
        few.map((_, at) => [steps(at) > 3 ? -0.5 : 0.5, 0])
      )
    ).toBeUndefined()
  })
})
