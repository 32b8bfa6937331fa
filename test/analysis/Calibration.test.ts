import { describe, expect, it } from "vitest"
import { type CountedPrompt, calibrate, calibration, onlyTokens, tokensWith } from "../../src/analysis/Calibration.ts"
import { random } from "../../src/analysis/Decompose.ts"
import { countsOf } from "../../src/analysis/Tokens.ts"

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const next = random(3)
const base64 = (length: number) => Array.from({ length }, () => alphabet.charAt(Math.floor(64 * next()))).join("")
const words = "account before the contract was signed by all people of that city there were nine letters".split(" ")
const prose = (count: number) => Array.from({ length: count }, () => words[Math.floor(words.length * next())]).join(" ")

/** A tokenizer for which a word is two tokens, and a run of other characters one for two of them. */
const billedOf = (text: string): number =>
  text.split(/\s+/u).reduce((sum, word) => sum + (word.length > 24 ? word.length / 2 : 2), 0)

/** Conversations whose results of tools are prose, or half of it base64. */
const promptsOf = (texts: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<CountedPrompt> =>
  texts.flatMap((turns, conversation) =>
    turns.map((_, turn) => {
      const prompt = turns.slice(0, turn + 1)
      return {
        conversation,
        billed: prompt.reduce((sum, text) => sum + billedOf(text), 0),
        blocks: prompt.map(countsOf)
      }
    })
  )
const mixed = Array.from({ length: 6 }, () => [
  prose(900),
  ...Array.from({ length: 8 }, (_, turn) => (turn % 3 === 0 ? `${prose(60)}\n${base64(2_000)}` : prose(200)))
])

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

  it("knows each kind of text from the bills of prompts that mix them", () => {
    const learned = calibrate(promptsOf(mixed))
    const factor =
      calibration(promptsOf(mixed).map(({ billed, blocks }) => ({ billed, counted: tokensOf(blocks) }))) ?? 1
    for (const text of [prose(300), base64(3_000)]) {
      expect(tokensWith(learned, countsOf(text)) / billedOf(text)).toBeGreaterThan(0.93)
      expect(tokensWith(learned, countsOf(text)) / billedOf(text)).toBeLessThan(1.07)
    }
    // which one factor for all text does not
    const encoded = base64(3_000)
    expect((factor * countsOf(encoded).tokens) / billedOf(encoded)).toBeGreaterThan(1.5)
  })

  it("stays at one factor for kinds of text that no bill tells of", () => {
    const learned = calibrate(promptsOf(Array.from({ length: 4 }, () => [prose(900), prose(100), prose(300)])))
    expect(learned.tokens).toBeGreaterThan(1.8)
    expect(learned.tokens).toBeLessThan(2.2)
    expect(learned).toMatchObject({ digits: 0, symbols: 0 })
    expect(calibrate([])).toMatchObject({ tokens: 1, fragments: 0, breaks: 0 })
  })

  it("does not follow prompts with images, whose tokens are in no text", () => {
    const prompts = promptsOf(mixed)
    const withImages = prompts.map((prompt, at) =>
      at % 13 === 5 ? { ...prompt, billed: prompt.billed + 1_500 } : prompt
    )
    const [plain, learned] = [calibrate(prompts), calibrate(withImages)]
    const text = countsOf(prose(300))
    expect(tokensWith(learned, text) / tokensWith(plain, text)).toBeCloseTo(1, 1)
  })

  it("of texts of which only the length is known is one factor", () => {
    const prompts = [400, 700, 900].map((length, conversation) => ({
      conversation,
      billed: 1.5 * length,
      blocks: [onlyTokens(length)]
    }))
    expect(tokensWith(calibrate(prompts), onlyTokens(1_000))).toBeCloseTo(1_500)
  })
})

const tokensOf = (blocks: ReadonlyArray<{ readonly tokens: number }>) =>
  blocks.reduce((sum, { tokens }) => sum + tokens, 0)
