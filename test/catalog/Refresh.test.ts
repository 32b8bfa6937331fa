import { describe, expect, it } from "vitest"
import { catalogOf, type Fact } from "../../scripts/catalog/derive.mjs"
import { qualities } from "../../scripts/catalog/quality.mjs"

const fact = (change: Partial<Fact>): Fact => ({
  id: "openai/gpt-9",
  provider: "openai",
  providerModel: "gpt-9",
  upstreamModel: "gpt-9",
  displayName: "GPT-9",
  releaseDate: "2026-01",
  knowledge: null,
  priceMicroUsdPerMillion: { input: 1_000_000, output: 4_000_000, cacheRead: null, cacheWrite: null },
  priceTiers: null,
  limits: { context: 100_000, input: null, output: 100_000 },
  modalities: { input: ["text"], output: ["text"] },
  capabilities: { tools: true, reasoning: false, structuredOutput: null, temperature: true },
  reasoning: null,
  benchmarks: null,
  ...change
})

const derived = (change: Partial<Fact>) => {
  const [entry] = catalogOf({ source: {}, models: [fact(change)] }).models
  if (entry === undefined) throw new Error("nothing was derived")
  return entry
}

describe("refreshing the catalog", () => {
  it("gives the same file for the same facts in any order", () => {
    const scores = [1, 2, 3, 4, 5, 6].map((score) =>
      fact({
        id: `openai/m-${score}`,
        upstreamModel: `m-${score}`,
        releaseDate: `2025-0${score}-01`,
        benchmarks: [{ name: "A", metric: "x", score: score * 10 }]
      })
    )
    const forward = JSON.stringify(catalogOf({ source: {}, models: scores }))
    expect(JSON.stringify(catalogOf({ source: {}, models: [...scores].reverse() }))).toBe(forward)
  })

  it("takes a month as its first day and no date as unknown", () => {
    expect(derived({}).createdSeconds).toBe(Date.UTC(2026, 0, 1) / 1000)
    expect(derived({ releaseDate: null }).createdSeconds).toBe(0)
  })

  it("leaves a model without prices unpriced", () => {
    const priceMicroUsdPerMillion = { input: null, output: 1, cacheRead: null, cacheWrite: null }
    expect(derived({ priceMicroUsdPerMillion }).prices).toBeNull()
  })

  it("has rates of long prompts that the source lacks", () => {
    const alibaba = (priceTiers: Fact["priceTiers"]) =>
      derived({ id: "alibaba/qwen3-max", priceTiers }).prices?.tiers.map((tier) => [tier.abovePromptTokens, tier.input])
    expect(alibaba(null)).toEqual([
      [32_000, 2_400_000],
      [128_000, 3_000_000]
    ])
    expect(alibaba([{ tier: { size: 100 }, input: 2, output: 4 }])).toEqual([[100, 2]])
  })

  it("sorts price tiers and keeps their unknown rates unknown", () => {
    const priceTiers = [
      { tier: { size: 200 }, input: 3, output: 6 },
      { tier: { size: 100 }, input: 2, output: 4, cache_read: 1, cache_write: 2 }
    ]
    expect(derived({ priceTiers }).prices?.tiers).toEqual([
      { abovePromptTokens: 100, input: 2, output: 4, cacheRead: 1, cacheWrite: 2 },
      { abovePromptTokens: 200, input: 3, output: 6, cacheRead: null, cacheWrite: null }
    ])
  })

  it("caps answers that would fill the window", () => {
    expect(derived({}).profile.maxOutputTokens).toBe(25_000)
    expect(derived({ limits: { context: 100_000, input: null, output: 8_000 } }).profile.maxOutputTokens).toBeNull()
  })

  it("never lets an input limit exceed the window", () => {
    expect(derived({ limits: { context: 1000, input: 2000, output: 10 } }).inputTokens).toBe(1000)
  })

  it.each([
    [{ efforts: ["high", "low", "default"], budget: null, toggle: false }, "effort", ["low", "high"]],
    [{ efforts: ["max"], budget: { min: 1 }, toggle: true }, "effort", ["none", "max"]],
    [{ efforts: null, budget: {}, toggle: false }, "budget", ["low", "medium", "high"]],
    [{ efforts: null, budget: null, toggle: true }, "toggle", ["none", "high"]],
    [{ efforts: null, budget: null, toggle: false }, "fixed", []],
    [null, "fixed", []]
  ] as const)("translates %j", (reasoning, style, efforts) => {
    const capabilities = { tools: true, reasoning: true, structuredOutput: null, temperature: true }
    expect(derived({ capabilities, reasoning }).reasoning).toMatchObject({ style, efforts })
  })

  it("moves a model up for better scores, and ignores a benchmark that too few models share", () => {
    const at = (score: number, models: number) =>
      qualities(
        Array.from({ length: models }, (_, index) => ({
          alias: index === 0 ? "subject" : `other-${index}`,
          releaseMillis: Date.UTC(2025, index, 1),
          blendedPriceMicroUsd: null,
          scores: [{ name: "A", metric: "x", score: index === 0 ? score : index * 10 }]
        }))
      ).get("subject")?.quality ?? 0
    expect(at(40, 8)).toBeGreaterThan(at(5, 8))
    expect(at(40, 4)).toBe(at(5, 4))
  })
})
