import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  costOf,
  highestInputRate,
  highestOutputRate,
  listOf,
  type Prices,
  plainTerms,
  servedTerms,
  snapshotOf
} from "../../src/domain/Prices.ts"
import { usage } from "../../src/domain/Usage.ts"

const prices: Prices = {
  input: 1_000_000,
  output: 4_000_000,
  cacheRead: 100_000,
  cacheWrite: null,
  audioInput: 3_000_000,
  audioOutput: 12_000_000,
  tiers: [],
  serviceTiers: { priority: { input: 2_000_000, output: 8_000_000, cacheRead: null, cacheWrite: null, tiers: [] } },
  webSearchMicroUsd: 10_000
}
const priority = { ...plainTerms, serviceTier: "priority" }

describe("The cost of a call", () => {
  it("tokens of audio cost their own rate, and the others theirs", () => {
    const used = usage({
      inputTokens: 100,
      cacheReadTokens: 10,
      outputTokens: 50,
      details: { inputAudioTokens: 40, outputAudioTokens: 20 }
    })
    expect(costOf(prices, used)).toBe(60 * 1 + 40 * 3 + 10 * 0.1 + 30 * 4 + 20 * 12)
  })

  it("audio without a rate of its own costs what text costs", () => {
    const { audioInput: _, ...others } = prices
    const used = usage({ inputTokens: 100, details: { inputAudioTokens: 40 } })
    expect(costOf(others, used)).toBe(100)
  })

  it("a service tier has its own rates, and web search a fee for each call", () => {
    const used = usage({ inputTokens: 100, cacheReadTokens: 10, outputTokens: 50 })
    expect(costOf(prices, used, priority)).toBe(110 * 2 + 50 * 8)
    expect(costOf(prices, used, { ...plainTerms, webSearch: true })).toBe(100 + 1 + 50 * 4 + 10_000)
  })

  it("a tier that every object has a property for is not a tier", () => {
    for (const serviceTier of ["constructor", "toString", "__proto__"]) {
      expect(listOf(prices, { ...plainTerms, serviceTier })).toBe(prices)
    }
  })

  it("a provider that serves the call in its standard tier is paid for that, and no other report counts", () => {
    expect(servedTerms(priority, "default")).toEqual(plainTerms)
    expect(servedTerms(priority, "priority")).toBe(priority)
    expect(servedTerms(priority, "scale")).toBe(priority)
    expect(servedTerms(priority, undefined)).toBe(priority)
    expect(servedTerms(plainTerms, "priority")).toBe(plainTerms)
  })

  it("is never above what the highest rates come to, in whichever tier it is served", () => {
    const count = fc.nat({ max: 10_000 })
    fc.assert(
      fc.property(count, count, count, fc.boolean(), fc.boolean(), (input, cached, output, asked, isStandard) => {
        const terms = asked ? priority : plainTerms
        const used = usage({ inputTokens: input, cacheReadTokens: cached, outputTokens: output })
        const bound =
          (input + cached) * highestInputRate(prices, input + cached, terms) +
          output * highestOutputRate(prices, input + cached, terms)
        const served = servedTerms(terms, isStandard ? "default" : undefined)
        expect(costOf(prices, used, served)).toBeLessThanOrEqual(Math.ceil(bound / 1_000_000))
      })
    )
  })
})

describe("The prices that are recorded with a call", () => {
  it("are those of its terms, without what is unknown, and one text for all calls", () => {
    const { audioInput, audioOutput, cacheRead, input, output } = prices
    expect(JSON.parse(snapshotOf(prices, plainTerms))).toEqual({ input, output, cacheRead, audioInput, audioOutput })
    expect(JSON.parse(snapshotOf(prices, priority))).toEqual({
      input: 2_000_000,
      output: 8_000_000,
      serviceTier: "priority"
    })
    expect(JSON.parse(snapshotOf(prices, { ...plainTerms, webSearch: true }))).toMatchObject({
      input,
      webSearchMicroUsd: 10_000
    })
    const tier = { ...prices, tiers: [{ ...prices, abovePromptTokens: 5, tiers: undefined }] }
    expect(JSON.parse(snapshotOf(tier, plainTerms))).toMatchObject({ tiers: [{ abovePromptTokens: 5, input }] })
  })
})
