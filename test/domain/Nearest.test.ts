import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { nearest } from "../../src/domain/Nearest.ts"

describe("the nearest known name", () => {
  it.each([
    ["Auto", ["sim/fast", "auto"], "auto"],
    ["auto:chaep", ["auto", "auto:cheap", "auto:dear"], "auto:cheap"],
    ["opnai/gpt-5", ["openai/gpt-5", "openai/gpt-4"], "openai/gpt-5"],
    ["OPENAI_KEY", ["OPENAI_API_KEY", "OPENROUTER_API_KEY"], undefined],
    ["acmee", ["acme", "openai"], "acme"],
    ["x", ["y", "zz"], "y"],
    ["gemini", ["openai", "groq"], undefined],
    ["", ["a"], undefined]
  ])("of %s among %j is %s", (text, known, expected) => {
    expect(nearest(text, known)).toBe(expected)
  })

  it("finds every name again after one typing error", () => {
    const name = fc.stringMatching(/^[a-z]{4,20}$/)
    fc.assert(
      fc.property(name, fc.nat(), fc.constantFrom("cut", "double", "swap"), (known, seed, kind) => {
        const at = seed % (known.length - 1)
        const [before, one, two, after] = [
          known.slice(0, at),
          known.charAt(at),
          known.charAt(at + 1),
          known.slice(at + 2)
        ]
        const typed = before + (kind === "cut" ? two : kind === "double" ? one + one + two : two + one) + after
        expect(nearest(typed, [known])).toBe(known)
      })
    )
  })

  it("does not depend on what is far away", () => {
    expect(nearest("y".repeat(101), ["y".repeat(101)])).toBeUndefined()
  })
})
