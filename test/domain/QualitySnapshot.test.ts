import { describe, expect, it } from "@effect/vitest"
import { ProjectId } from "../../src/domain/Ids.ts"
import { type GradedEvidence, gradedQuality, minGrades, qualityRows } from "../../src/domain/QualitySnapshot.ts"

const day = 86_400_000
const now = Date.UTC(2100, 0, 31)

const graded = (grades: number, mean: number, gradedAtMillis = now): GradedEvidence => ({
  projectId: ProjectId.make("01890000-0000-7000-8000-000000000001"),
  promptClass: "code",
  model: "sim/small",
  source: "feedback",
  sourceId: `${grades} ${mean} ${gradedAtMillis}`,
  mean,
  grades,
  comparison: null,
  gradedAtMillis
})

describe("quality snapshots", () => {
  it("say nothing of a model with fewer grades than the floor", () => {
    expect(qualityRows([graded(minGrades - 1, 1)], now)).toEqual({})
    expect(qualityRows([graded(minGrades - 1, 1), graded(1, 0)], now).code?.["sim/small"]?.n).toBe(minGrades)
  })

  it("halve the weight of grades every 30 days, so that newer ones decide", () => {
    const row = qualityRows([graded(100, 0, now - 30 * day), graded(50, 1)], now).code?.["sim/small"]
    expect(row).toEqual({ mean: 0.5, n: 100 })
  })

  it("keep classes and models apart", () => {
    const rows = qualityRows([graded(30, 1), { ...graded(40, 0.5), promptClass: "chat", model: "sim/best" }], now)
    expect(rows).toEqual({ code: { "sim/small": { mean: 1, n: 30 } }, chat: { "sim/best": { mean: 0.5, n: 40 } } })
  })

  it("move the assumed quality by the weight of the grades against that of 20", () => {
    expect(gradedQuality(0.4, undefined)).toBe(0.4)
    expect(gradedQuality(0.4, { mean: 0.8, n: 20 })).toBeCloseTo(0.6, 12)
    expect(gradedQuality(0.4, { mean: 0.8, n: 1e9 })).toBeCloseTo(0.8, 6)
  })
})
