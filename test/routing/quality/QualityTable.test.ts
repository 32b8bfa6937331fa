import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { classIndex, promptClasses } from "../../../src/domain/PromptClass.ts"
import { tableOf } from "../../../src/routing/ModelTable.ts"
import { expectedOutputTokens, provenanceOf, qualityFor, rowOf } from "../../../src/routing/quality/QualityTable.ts"
import { model } from "../models.ts"

const only = (name: (typeof promptClasses)[number]) => promptClasses.map((other) => (other === name ? 1_000 : 0))

describe("The predicted quality of a model", () => {
  it("is within 0 and 1, and never lower for an abler model, for any prompt", () => {
    const parts = fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 10, maxLength: 10 })
    const quality = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(parts, quality, quality, (raw, a, b) => {
        const sum = Math.max(
          1,
          raw.reduce((total, part) => total + part, 0)
        )
        const classes = raw.map((part) => Math.floor((part * 1_000) / sum))
        const [low, high] = [Math.min(a, b), Math.max(a, b)]
        const predicted = qualityFor(classes)
        const [less, more] = [
          predicted.of(model("a/low", { quality: low })),
          predicted.of(model("a/high", { quality: high }))
        ]
        expect(less).toBeGreaterThanOrEqual(0)
        expect(more).toBeLessThanOrEqual(1)
        expect(less).toBeLessThanOrEqual(more)
      })
    )
  })

  it("differs more between models where the task is hard", () => {
    const [weak, strong] = [model("a/weak", { quality: 0.45 }), model("a/strong", { quality: 0.9 })]
    const gap = (name: (typeof promptClasses)[number]) =>
      qualityFor(only(name)).of(strong) - qualityFor(only(name)).of(weak)
    expect(gap("code")).toBeGreaterThan(gap("translation"))
    expect(gap("reasoning")).toBeGreaterThan(gap("chat"))
  })

  it("counts benchmarks fully for code, and half for anything else; what is known from where is told", () => {
    const known = { prior: 0.6, benchmarks: 5 }
    const [plain, better] = [
      model("a/plain", { quality: 0.6 }),
      model("a/better", { quality: 0.8, qualityEvidence: known })
    ]
    const gain = (name: (typeof promptClasses)[number]) => {
      const at = classIndex[name]
      const full = rowOf(model("a/full", { quality: 0.8 }))[at] ?? 0
      return ((rowOf(better)[at] ?? 0) - (rowOf(plain)[at] ?? 0)) / (full - (rowOf(plain)[at] ?? 0))
    }
    expect(gain("code")).toBeCloseTo(1)
    expect(gain("knowledge")).toBeCloseTo(0.5)
    expect(provenanceOf(better, classIndex.code).from).toBe("benchmarks")
    expect(provenanceOf(better, classIndex.chat).from).toBe("tier")
    expect(provenanceOf(plain, classIndex.chat).from).toBe("configured")
  })

  it("is that of the evidence where there is some", () => {
    const graded = {
      of: (id: string, at: number) => (id === "a/plain" && at === classIndex.math ? 0.11 : undefined)
    }
    const plain = model("a/plain", { quality: 0.9 })
    expect(qualityFor(only("math"), graded).of(plain)).toBeCloseTo(0.11)
    expect(qualityFor(only("code"), graded).of(plain)).toBeGreaterThan(0.5)
    expect(provenanceOf(plain, classIndex.math, graded)).toEqual({ from: "graded", quality: 0.11 })
  })

  it("is the same for a whole pool at once, with grades and without", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1_000 }), {
          minLength: promptClasses.length,
          maxLength: promptClasses.length
        }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        (classes, qualities, isGraded) => {
          const pool = qualities.map((quality, at) => model(`a/${at}`, { quality }))
          const graded = isGraded ? { of: (id: string, at: number) => (id === "a/0" ? at / 10 : undefined) } : undefined
          const predicted = qualityFor(classes, graded)
          const filled = new Float64Array(pool.length)
          predicted.fill(tableOf(pool), filled)
          expect([...filled]).toEqual(pool.map(predicted.of))
        }
      )
    )
  })

  it("goes with a length of the response that depends on the class", () => {
    expect(expectedOutputTokens(only("code"))).toBeGreaterThan(expectedOutputTokens(only("tool_use")))
    expect(expectedOutputTokens([])).toBe(400)
  })
})
