import * as fc from "fast-check"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { describe, expect, it } from "vitest"
import { calibration } from "../../src/analysis/Calibration.ts"
import { pieces, tokensOf } from "../../src/analysis/Tokens.ts"

describe("tokens", () => {
  it("of text with separators are those of o200k", () => {
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(60)
    expect(tokensOf(text)).toBe(countTokens(text))
  })

  it("of a special token's spelling are those of its text", () => {
    expect(tokensOf("<|endoftext|>")).toBeGreaterThan(1)
  })

  it("are counted in pieces that lose nothing, none with a run of more than 500 characters", () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.constant("a".repeat(1_234)),
            fc.constant(" ".repeat(777)),
            fc.constant("😀".repeat(600))
          )
        ),
        (parts) => {
          const text = parts.join("")
          const cut = [...pieces(text)]
          expect(cut.join("")).toBe(text)
          for (const piece of cut) expect(/[^\s]{501}|\s{501}/u.test(piece)).toBe(false)
        }
      )
    ))
})

describe("calibration", () => {
  it("is the median of billed by counted tokens", () => {
    expect(
      calibration([
        { billed: 12, counted: 10 },
        { billed: 30, counted: 10 },
        { billed: 11, counted: 10 }
      ])
    ).toBe(1.2)
    expect(
      calibration([
        { billed: 12, counted: 10 },
        { billed: 14, counted: 10 }
      ])
    ).toBeCloseTo(1.3)
  })

  it("is unknown without calls that were billed", () => {
    expect(calibration([{ billed: 0, counted: 10 }])).toBeUndefined()
  })
})
