import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as RecentTexts from "../../../src/routing/quality/RecentTexts.ts"

const of = (value: number) => Float64Array.of(value, value + 0.5)

describe("What was computed of recent texts", () => {
  it("is read again for the same text, and for no other", () => {
    const result = new Float64Array(2)
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.integer(), fc.nat(59), (text, value, at) => {
        const recent = RecentTexts.make(4, 2)
        expect(recent.read(text, result)).toBe(false)
        recent.keep(of(value))
        expect(recent.read(text, result)).toBe(true)
        expect(result).toEqual(of(value))
        const other = `${text.slice(0, at)}\u0000${text.slice(at + 1)}`.toWellFormed()
        if (other !== text) expect(recent.read(other, result)).toBe(false)
      })
    )
  })

  it("tells apart texts that differ in some bits at two places", () => {
    const result = new Float64Array(2)
    const bits = fc.integer({ min: 0, max: 6 })
    fc.assert(
      fc.property(
        fc.stringMatching(/^[ -~]{24}$/),
        fc.nat(23),
        bits,
        fc.nat(23),
        bits,
        (text, at, bit, otherAt, otherBit) => {
          const codes = Array.from(text, (character) => character.charCodeAt(0))
          codes[at] = (codes[at] ?? 0) ^ (1 << bit)
          codes[otherAt] = (codes[otherAt] ?? 0) ^ (1 << otherBit)
          const other = String.fromCharCode(...codes)
          const recent = RecentTexts.make(4, 2)
          recent.read(text, result)
          recent.keep(of(1))
          expect(recent.read(other, result)).toBe(other === text)
        }
      ),
      { numRuns: 2000 }
    )
  })

  it("is nothing at first, not even of the empty text", () => {
    const result = of(7)
    for (let made = 0; made < 100; made++) expect(RecentTexts.make(4, 2).read("", result)).toBe(false)
    expect(result).toEqual(of(7))
  })

  it("takes no more room than was given: newer texts replace older ones", () => {
    const places = 16
    const recent = RecentTexts.make(places, 2)
    const result = new Float64Array(2)
    const texts = Array.from({ length: 200 }, (_, at) => `text ${at}`)
    for (const [at, text] of texts.entries()) {
      recent.read(text, result)
      recent.keep(of(at))
    }
    const kept = texts.filter((text) => recent.read(text, result))
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length).toBeLessThanOrEqual(places)
    expect(kept).toContain(texts.at(-1))
  })
})
