import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import { builtInCatalog, decodeCatalogFile } from "../../src/catalog/CatalogFile.ts"
import { providerOf } from "../../src/domain/Model.ts"
import { costOf, ratesFor } from "../../src/domain/Prices.ts"
import { usage } from "../../src/domain/Usage.ts"

const entry = (id: string) => {
  const found = builtInCatalog.models.find((model) => model.id === id)
  if (found === undefined) throw new Error(`${id} is not in the catalog`)
  return found
}

describe("the catalog that ships", () => {
  it("describes 105 models of 16 providers, each once, in code-point order", () => {
    const ids = builtInCatalog.models.map((model) => model.id)
    expect(ids).toHaveLength(105)
    expect(builtInCatalog.providers).toHaveLength(16)
    expect(ids).toEqual([...new Set(ids)].sort())
    expect(new Set(ids.map(providerOf))).toEqual(new Set(builtInCatalog.providers.map((provider) => provider.id)))
  })

  it("names its source and licence", () => {
    expect(builtInCatalog.source).toMatchObject({ repository: "anomalyco/models.dev", licence: "MIT" })
    expect(builtInCatalog.source.commit).toMatch(/^[0-9a-f]{40}$/)
  })

  it.each(builtInCatalog.models.map((model) => [model.id, model] as const))("%s can be routed to", (_, model) => {
    expect(model.prices).not.toBeNull()
    expect(model.contextTokens).not.toBeNull()
    expect(model.outputTokens).not.toBeNull()
    expect(model.capabilities.tools).not.toBeNull()
    expect(model.capabilities.vision).not.toBeNull()
    expect(model.quality).toBeGreaterThan(0.3)
    expect(model.quality).toBeLessThanOrEqual(0.95)
    expect(model.imageTokens).toBeGreaterThanOrEqual(1000)
    expect(model.imageTokens).toBeLessThanOrEqual(5000)
    // Without a client's cap the answer must leave most of the window to the prompt.
    const cap = model.profile.maxOutputTokens ?? model.outputTokens ?? 0
    expect(cap).toBeGreaterThan(0)
    expect(cap).toBeLessThanOrEqual((model.contextTokens ?? 0) / 2)
    expect(model.inputTokens ?? 0).toBeLessThanOrEqual(model.contextTokens ?? 0)
  })

  it.each(builtInCatalog.models.flatMap((model) => (model.prices === null ? [] : [[model.id, model.prices] as const])))(
    "%s is priced in micro-USD per million tokens, long prompts never cheaper",
    (_, prices) => {
      // The dearest model known costs 50 dollars a million; a unit error would be a factor of a thousand or a million.
      for (const rates of [prices, ...prices.tiers]) {
        expect(rates.output).toBeLessThanOrEqual(100_000_000)
        expect(rates.output).toBeGreaterThanOrEqual(rates.input)
        expect(rates.cacheRead ?? 0).toBeLessThanOrEqual(rates.input)
        if (rates.output > 0) expect(rates.output).toBeGreaterThanOrEqual(10_000)
      }
      let below: { readonly abovePromptTokens: number; readonly input: number; readonly output: number } = {
        ...prices,
        abovePromptTokens: 0
      }
      for (const tier of prices.tiers) {
        expect(tier.abovePromptTokens).toBeGreaterThan(below.abovePromptTokens)
        expect(tier.input).toBeGreaterThanOrEqual(below.input)
        expect(tier.output).toBeGreaterThanOrEqual(below.output)
        below = tier
      }
    }
  )

  it("charges long prompts at the tier they fall into", () => {
    const prices = entry("openai/gpt-5.4").prices
    if (prices === null) throw new Error("gpt-5.4 has no prices")
    expect(ratesFor(prices, 272_000)).toMatchObject({ input: 2_500_000, output: 15_000_000 })
    expect(ratesFor(prices, 272_001)).toMatchObject({ input: 5_000_000, output: 22_500_000, cacheRead: 500_000 })
    expect(costOf(prices, usage({ inputTokens: 1_000_000, outputTokens: 1_000_000 }))).toBe(27_500_000)
    expect(entry("alibaba/qwen3.6-plus").prices?.tiers).toEqual([
      { abovePromptTokens: 256_000, input: 2_000_000, output: 6_000_000, cacheRead: 200_000, cacheWrite: 2_500_000 }
    ])
  })

  it("bounds an image by what the provider counts at most, which depends on the model", () => {
    const tokensOf = (id: string) => entry(id).imageTokens
    expect(tokensOf("anthropic/claude-haiku-4-5")).toBe(3000)
    for (const id of ["anthropic/claude-opus-4-7", "amazon-bedrock/us.anthropic.claude-sonnet-5"])
      expect([id, tokensOf(id)]).toEqual([id, 5000])
    for (const id of ["openai/gpt-4o", "openai/gpt-5.2"]) expect([id, tokensOf(id)]).toEqual([id, 1500])
    for (const id of ["openai/gpt-5.5", "openai/gpt-5-mini"]) expect([id, tokensOf(id)]).toEqual([id, 3000])
    expect(tokensOf("openai/gpt-5-nano")).toBe(4000)
    expect(tokensOf("google/gemini-2.5-pro")).toBe(1200)
  })

  it("keeps what the source does not say as unknown, never as false or zero", () => {
    expect(entry("alibaba/qwen-flash").capabilities["structured-output"]).toBeNull()
    expect(entry("openai/gpt-4o").prices?.cacheWrite).toBeNull()
    expect(entry("zai/glm-4.7").prices?.cacheWrite).toBe(0)
    // cached tokens are charged as all others there
    expect(entry("cerebras/zai-glm-4.7").prices?.cacheRead).toBeNull()
    expect(entry("xai/grok-4.3").knowledgeCutoff).toBeNull()
  })

  it("advertises only efforts that can be translated", () => {
    for (const { id, reasoning } of builtInCatalog.models) {
      if (reasoning === null) continue
      const { efforts, style, mandatory } = reasoning
      if (style === "fixed") expect([id, efforts]).toEqual([id, []])
      if (style === "toggle") expect([id, efforts]).toEqual([id, ["none", "high"]])
      if (style === "budget")
        expect([id, efforts.filter((one) => one !== "none")]).toEqual([id, ["low", "medium", "high"]])
      if (style === "effort") expect([id, efforts.length > 0]).toEqual([id, true])
      expect([id, reasoning.budget !== null]).toEqual([id, style === "budget"])
      if (efforts.includes("none")) expect([id, mandatory]).toEqual([id, false])
    }
    expect(entry("openai/gpt-5").reasoning).toMatchObject({ style: "effort", mandatory: true, defaultEffort: "medium" })
    expect(entry("groq/qwen/qwen3-32b").reasoning?.efforts).toEqual(["none"])
    expect(entry("google/gemini-2.5-flash").reasoning?.budget).toEqual({ min: 0, max: 24_576 })
    expect(entry("openai/gpt-4o").reasoning).toBeNull()
  })

  it("gives the same model the same quality at every provider, and flagships more than small models", () => {
    const byAlias = new Map<string, Set<number>>()
    for (const { alias, quality } of builtInCatalog.models) {
      byAlias.set(alias, (byAlias.get(alias) ?? new Set()).add(quality))
    }
    for (const [alias, values] of byAlias) expect([alias, values.size]).toEqual([alias, 1])
    expect(builtInCatalog.models.filter((model) => model.alias === "gpt-oss-120b")).toHaveLength(5)
    const quality = (id: string) => entry(id).quality
    expect(quality("anthropic/claude-opus-4-8")).toBeGreaterThan(quality("anthropic/claude-sonnet-4-6"))
    expect(quality("anthropic/claude-sonnet-4-6")).toBeGreaterThan(quality("anthropic/claude-haiku-4-5"))
    expect(quality("openai/gpt-5.5")).toBeGreaterThan(quality("openai/gpt-5"))
    expect(quality("openai/gpt-5")).toBeGreaterThan(quality("openai/gpt-5-mini"))
    expect(quality("openai/gpt-5-mini")).toBeGreaterThan(quality("openai/gpt-5-nano"))
    expect(quality("mistral/mistral-medium-2604")).toBeGreaterThan(quality("mistral/ministral-3b-latest"))
  })

  it("speaks to Anthropic in the version that the model's sampling needs", () => {
    expect(entry("anthropic/claude-haiku-4-5").profile.apiVersion).toBe("2023-06-01")
    expect(entry("anthropic/claude-opus-4-8").profile.apiVersion).toBe("2026-10-21")
    expect(entry("openai/gpt-5").profile.apiVersion).toBeNull()
  })

  it("has each Claude think the way that it can, and not think where that is possible", () => {
    const reasoningOf = (name: string) => {
      const { reasoning } = entry(`anthropic/${name}`)
      return [reasoning?.style, reasoning?.efforts.includes("none")]
    }
    for (const name of ["haiku-4-5", "sonnet-4-5", "opus-4-5"])
      expect(reasoningOf(`claude-${name}`)).toEqual(["budget", true])
    for (const name of ["opus-4-6", "sonnet-4-6", "opus-4-8", "sonnet-5"]) {
      expect(reasoningOf(`claude-${name}`)).toEqual(["effort", true])
    }
    expect(reasoningOf("claude-fable-5")).toEqual(["effort", false])
    expect(entry("anthropic/claude-fable-5").reasoning?.mandatory).toBe(true)
  })

  it("leaves out what OpenAI does not serve by chat completions", () => {
    expect(builtInCatalog.models.map((model) => model.id)).not.toContain("openai/gpt-5.3-codex")
  })

  it("marks models that refuse tools together with an effort", () => {
    expect(builtInCatalog.models.filter((model) => model.toolsForbidEffort).map((model) => model.id)).toEqual([
      "openai/gpt-5.4",
      "openai/gpt-5.4-mini",
      "openai/gpt-5.4-nano",
      "openai/gpt-5.5"
    ])
  })

  it("refuses a file with an unknown field or a fractional price", () => {
    const [first] = builtInCatalog.models
    expect(Either.isRight(decodeCatalogFile({ ...builtInCatalog, models: [first] }))).toBe(true)
    expect(Either.isLeft(decodeCatalogFile({ ...builtInCatalog, models: [{ ...first, price: 1 }] }))).toBe(true)
    const prices = { ...first?.prices, input: 0.5 }
    expect(Either.isLeft(decodeCatalogFile({ ...builtInCatalog, models: [{ ...first, prices }] }))).toBe(true)
  })
})
