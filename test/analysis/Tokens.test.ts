import * as fc from "fast-check"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { describe, expect, it } from "vitest"
import { countsOf, pieces } from "../../src/analysis/Tokens.ts"

describe("tokens", () => {
  it("of text with separators are those of o200k", () => {
    const text = "The quick brown fox jumps over the lazy dog. ".repeat(60)
    expect(countsOf(text).tokens).toBe(countTokens(text))
  })

  it("of a special token's spelling are those of its text", () => {
    expect(countsOf("<|endoftext|>").tokens).toBeGreaterThan(1)
  })

  it("come with what other tokenizers count otherwise", () => {
    expect(countsOf("plain words of a sentence")).toMatchObject({ fragments: 0, digits: 0, symbols: 0, breaks: 0 })
    expect(countsOf('{\n  "id": 12345\n}')).toMatchObject({ digits: 5, symbols: 5, breaks: 2 })
    const { fragments, tokens } = countsOf("aGVsbG8gd29ybGQhIHRoaXMgaXMgbm90aGluZw")
    expect(fragments).toBeGreaterThan(tokens / 3)
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
