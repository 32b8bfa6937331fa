import * as FastCheck from "fast-check"
import { describe, expect, it } from "vitest"
import { type BuildInput, buildModels, type OwnVendor, type Vendor } from "../../src/catalog/Build.ts"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import { builtInCatalog } from "../../src/catalog/CatalogFile.ts"
import type { ConfiguredModel, ModelPatch } from "../../src/catalog/Patch.ts"
import type { Model } from "../../src/domain/Model.ts"
import { type SupportTable, shapingParameters, tuningParameters } from "../../src/domain/Support.ts"

const support = Object.fromEntries(
  [...shapingParameters, ...tuningParameters].map((parameter) => [parameter, "native"])
) as SupportTable

const vendors: ReadonlyArray<Vendor> = builtInCatalog.providers.map((provider) => ({
  ...provider,
  support,
  billsAbortedCalls: false
}))

const large: ConfiguredModel = {
  id: "acme/large",
  inputPriceMicroUsdPerMillion: 2_500_000,
  outputPriceMicroUsdPerMillion: 10_000_000,
  contextTokens: 200_000,
  outputTokens: 64_000
}

const acme = (...models: ReadonlyArray<ConfiguredModel>): OwnVendor => ({
  id: "acme",
  protocol: "openai-chat",
  support,
  billsAbortedCalls: true,
  models
})

const build = (input: Partial<BuildInput>): ReadonlyMap<string, Model> =>
  makeSnapshot(buildModels({ data: builtInCatalog, vendors: [], configured: [], patches: {}, ...input })).byId

const one = (input: Partial<BuildInput>, id: string): Model => {
  const model = build(input).get(id)
  if (model === undefined) throw new Error(`${id} was not built`)
  return model
}

describe("which models there are", () => {
  it("lists the models of usable providers only", () => {
    const openai = vendors.filter((vendor) => vendor.id === "openai")
    const ids = [...build({ vendors: openai }).keys()]
    expect(ids).toHaveLength(16)
    expect(ids.every((id) => id.startsWith("openai/"))).toBe(true)
    expect(build({ vendors }).size).toBe(105)
    expect(build({}).size).toBe(0)
  })

  it("offers one model at several providers under its bare name", () => {
    const snapshot = makeSnapshot(buildModels({ data: builtInCatalog, vendors, configured: [], patches: {} }))
    expect(snapshot.byAlias.get("gpt-oss-120b")?.map((model) => model.id)).toEqual([
      "amazon-bedrock/openai.gpt-oss-120b-1:0",
      "cerebras/gpt-oss-120b",
      "fireworks-ai/accounts/fireworks/models/gpt-oss-120b",
      "groq/openai/gpt-oss-120b",
      "togetherai/openai/gpt-oss-120b"
    ])
  })

  it("keeps models that are complete already, unlisted ones too, and lets them be patched", () => {
    const ready: Model = { ...one({ configured: [acme(large)] }, "acme/large"), id: "sim/broken", listed: false }
    expect(one({ ready: [ready] }, "sim/broken")).toEqual(ready)
    expect(one({ ready: [ready], patches: { "sim/broken": { quality: 0.1 } } }, "sim/broken")).toEqual({
      ...ready,
      quality: 0.1
    })
  })

  it("does not depend on the order of its inputs", () => {
    const all = { data: builtInCatalog, vendors, configured: [acme(large, { ...large, id: "acme/small" })] }
    const patches: Record<string, ModelPatch | null> = {
      "openai/gpt-5": { quality: 0.9 },
      "openai/o3": null,
      "acme/new": large,
      "acme/large": { imageTokens: 7 }
    }
    const expected = JSON.stringify(buildModels({ ...all, patches }))
    FastCheck.assert(
      FastCheck.property(
        FastCheck.shuffledSubarray([...builtInCatalog.models], { minLength: builtInCatalog.models.length }),
        FastCheck.shuffledSubarray([...vendors], { minLength: vendors.length }),
        FastCheck.shuffledSubarray(Object.entries(patches), { minLength: 4 }),
        (models, shuffledVendors, entries) => {
          const data = { ...builtInCatalog, models }
          const configured = all.configured.map((vendor) => ({ ...vendor, models: [...vendor.models].reverse() }))
          const built = buildModels({
            data,
            vendors: shuffledVendors,
            configured,
            patches: Object.fromEntries(entries)
          })
          expect(JSON.stringify(built)).toBe(expected)
        }
      ),
      { numRuns: 30 }
    )
  })
})

describe("what a provider's interface changes", () => {
  it("takes image URLs where the protocol carries them", () => {
    const models = build({ vendors })
    expect(models.get("openai/gpt-4o")?.capabilities["image-url"]).toBe(true)
    expect(models.get("anthropic/claude-haiku-4-5")?.capabilities["image-url"]).toBe(true)
    expect(models.get("google/gemini-2.5-flash")?.capabilities).toMatchObject({ vision: true, "image-url": false })
    expect(models.get("amazon-bedrock/amazon.nova-lite-v1:0")?.capabilities).toMatchObject({
      vision: true,
      "image-url": false
    })
    expect(models.get("deepseek/deepseek-v4-pro")?.capabilities["image-url"]).toBe(false)
  })

  it("lets the provider's own limits rule over what the model could do", () => {
    const groq: Vendor = {
      id: "groq",
      protocol: "openai-chat",
      support,
      billsAbortedCalls: true,
      capabilities: { logprobs: false },
      reasoningStyles: ["toggle"]
    }
    const model = one({ vendors: [groq] }, "groq/openai/gpt-oss-120b")
    expect(model.capabilities.logprobs).toBe(false)
    expect(model.capabilities.tools).toBe(true)
    expect(model.reasoning).toMatchObject({ style: "fixed", efforts: [], mandatory: true })
    expect(model.billsAbortedCalls).toBe(true)
  })
})

/** Prices of a model for which nothing but tokens of text has one. */
const unknown = { audioInput: null, audioOutput: null, serviceTiers: {}, webSearchMicroUsd: null }

describe("configured models", () => {
  it("have the defaults of the contract", () => {
    expect(one({ configured: [acme(large)] }, "acme/large")).toEqual({
      id: "acme/large",
      providerId: "acme",
      upstreamModel: "large",
      alias: "large",
      displayName: "large",
      createdSeconds: 0,
      protocol: "openai-chat",
      prices: { input: 2_500_000, output: 10_000_000, cacheRead: null, cacheWrite: null, tiers: [], ...unknown },
      contextTokens: 200_000,
      inputTokens: null,
      outputTokens: 64_000,
      imageTokens: 3000,
      quality: 0.5,
      capabilities: {
        tools: true,
        vision: true,
        "structured-output": true,
        sampling: true,
        logprobs: false,
        "audio-input": false,
        "file-input": false,
        "image-url": true
      },
      reasoning: null,
      reasonsByDefault: false,
      toolsForbidEffort: false,
      profile: { effort: null, maxOutputTokens: null, apiVersion: null },
      billsAbortedCalls: true,
      support,
      listed: true,
      knowledgeCutoff: null
    } satisfies Model)
  })

  it.each([
    ["openai-chat", true],
    ["gemini", true],
    ["anthropic-messages", false],
    ["bedrock-converse", false]
  ] as const)("take audio only where their protocol has a field for it: %s", (protocol, expected) => {
    const provider = { ...acme({ ...large, capabilities: ["audio-input"] }), protocol }
    const { capabilities } = one({ configured: [provider] }, "acme/large")
    expect(capabilities["audio-input"]).toBe(expected)
  })

  it("take what they have a price for, of the fields that servers of one protocol differ in", () => {
    const dropped: SupportTable = {
      ...support,
      service_tier: "dropped",
      web_search_options: "dropped",
      modalities: "refused",
      audio: "refused"
    }
    const plain = { ...acme(large), support: dropped }
    expect(one({ configured: [plain] }, "acme/large").support).toEqual(dropped)
    const { inputPriceMicroUsdPerMillion, outputPriceMicroUsdPerMillion } = large
    const prices = {
      serviceTierPrices: [{ serviceTier: "priority", inputPriceMicroUsdPerMillion, outputPriceMicroUsdPerMillion }],
      webSearchPriceMicroUsd: 0,
      audioOutputPriceMicroUsdPerMillion: 20_000_000
    } satisfies ModelPatch
    const priced = { ...acme({ ...large, ...prices }), support: dropped }
    expect(one({ configured: [priced] }, "acme/large").support).toEqual(support)
    expect(one({ configured: [plain], patches: { "acme/large": prices } }, "acme/large").support).toEqual(support)
    const none = { serviceTierPrices: [], webSearchPriceMicroUsd: null, audioOutputPriceMicroUsdPerMillion: null }
    const unpriced = { ...acme({ ...large, ...none }), support: dropped }
    expect(one({ configured: [unpriced] }, "acme/large").support).toEqual(dropped)
    // no field in which it could be sent
    const other = { ...priced, protocol: "gemini" as const }
    expect(one({ configured: [other] }, "acme/large").support).toEqual(dropped)
  })

  it("carry everything that the operator says", () => {
    const model = one(
      {
        configured: [
          acme({
            ...large,
            upstreamModel: "big-1",
            displayName: "Large",
            cacheReadPriceMicroUsdPerMillion: 250_000,
            cacheWritePriceMicroUsdPerMillion: 0,
            priceTiers: [
              {
                abovePromptTokens: 100_000,
                inputPriceMicroUsdPerMillion: 5_000_000,
                outputPriceMicroUsdPerMillion: 20_000_000,
                cacheReadPriceMicroUsdPerMillion: 500_000
              }
            ],
            inputTokens: 150_000,
            imageTokens: 0,
            quality: 0,
            capabilities: ["logprobs"],
            reasoningEfforts: ["high", "none", "low"],
            reasoningDepth: { min: 1, max: 100 },
            toolsForbidEffort: true,
            profile: { effort: "low", maxOutputTokens: 1000 }
          })
        ]
      },
      "acme/large"
    )
    expect(model).toMatchObject({
      upstreamModel: "big-1",
      alias: "big-1",
      displayName: "Large",
      prices: {
        cacheRead: 250_000,
        cacheWrite: 0,
        tiers: [
          { abovePromptTokens: 100_000, input: 5_000_000, output: 20_000_000, cacheRead: 500_000, cacheWrite: null }
        ]
      },
      inputTokens: 150_000,
      imageTokens: 0,
      quality: 0,
      reasoning: { efforts: ["none", "low", "high"], style: "effort", depth: { min: 1, max: 100 }, mandatory: false },
      toolsForbidEffort: true,
      profile: { effort: "low", maxOutputTokens: 1000, apiVersion: null }
    })
    expect(Object.entries(model.capabilities).flatMap(([name, has]) => (has === true ? [name] : []))).toEqual([
      "logprobs"
    ])
  })
})

describe("patches", () => {
  it("replace what they name and leave the rest", () => {
    const before = one({ vendors }, "openai/gpt-5")
    const patches = {
      "openai/gpt-5": { quality: 0.9, inputPriceMicroUsdPerMillion: 1, profile: { effort: "low" as const } }
    }
    expect(one({ vendors, patches }, "openai/gpt-5")).toEqual({
      ...before,
      quality: 0.9,
      qualityEvidence: undefined,
      prices: { ...before.prices, ...unknown, input: 1 },
      profile: { ...before.profile, effort: "low" }
    })
  })

  it("take null as removing the model, or as unknown where a field is named", () => {
    const patches = {
      "openai/o3": null,
      "openai/gpt-5": { inputTokens: null, cacheReadPriceMicroUsdPerMillion: null, profile: { maxOutputTokens: null } }
    }
    const models = build({ vendors, patches })
    expect(models.has("openai/o3")).toBe(false)
    expect(models.size).toBe(104)
    expect(models.get("openai/gpt-5")).toMatchObject({
      inputTokens: null,
      prices: { cacheRead: null, input: 1_250_000 },
      profile: { maxOutputTokens: null }
    })
  })

  it("keep the bare name that clients know when the upstream name changes", () => {
    const patches = { "openai/gpt-5": { upstreamModel: "gpt-5-2025-08-07" } }
    expect(one({ vendors, patches }, "openai/gpt-5")).toMatchObject({
      upstreamModel: "gpt-5-2025-08-07",
      alias: "gpt-5"
    })
  })

  it("change efforts without changing how they are sent; none left means no reasoning", () => {
    const budget = { "anthropic/claude-haiku-4-5": { reasoningEfforts: ["high" as const] } }
    expect(one({ vendors, patches: budget }, "anthropic/claude-haiku-4-5").reasoning).toMatchObject({
      style: "budget",
      efforts: ["high"],
      budget: { min: 1024, max: null }
    })
    const off = { "openai/gpt-5": { reasoningEfforts: [] } }
    expect(one({ vendors, patches: off }, "openai/gpt-5")).toMatchObject({ reasoning: null, reasonsByDefault: false })
  })

  it("price a model whose prices are unknown only when both are given", () => {
    const data = {
      ...builtInCatalog,
      models: builtInCatalog.models.map((entry) => (entry.id === "openai/gpt-5" ? { ...entry, prices: null } : entry))
    }
    const patched = (patch: ModelPatch) =>
      one({ data, vendors, patches: { "openai/gpt-5": patch } }, "openai/gpt-5").prices
    expect(patched({})).toBeNull()
    expect(patched({ inputPriceMicroUsdPerMillion: 1 })).toBeNull()
    expect(patched({ inputPriceMicroUsdPerMillion: 1, outputPriceMicroUsdPerMillion: 2 })).toEqual({
      input: 1,
      output: 2,
      cacheRead: null,
      cacheWrite: null,
      tiers: [],
      ...unknown
    })
  })

  it("set the prices of audio, service tiers and web search", () => {
    const { prices } = one(
      {
        vendors,
        patches: {
          "openai/gpt-5": {
            audioInputPriceMicroUsdPerMillion: 3,
            audioOutputPriceMicroUsdPerMillion: 4,
            webSearchPriceMicroUsd: 10_000,
            serviceTierPrices: [
              {
                serviceTier: "priority",
                inputPriceMicroUsdPerMillion: 5,
                outputPriceMicroUsdPerMillion: 6,
                cacheReadPriceMicroUsdPerMillion: 1,
                priceTiers: [
                  { abovePromptTokens: 9, inputPriceMicroUsdPerMillion: 7, outputPriceMicroUsdPerMillion: 8 }
                ]
              }
            ]
          }
        }
      },
      "openai/gpt-5"
    )
    const noAudio = { audioInput: null, audioOutput: null }
    expect(prices).toMatchObject({
      input: 1_250_000,
      audioInput: 3,
      audioOutput: 4,
      webSearchMicroUsd: 10_000,
      serviceTiers: {
        priority: {
          ...noAudio,
          input: 5,
          output: 6,
          cacheRead: 1,
          cacheWrite: null,
          tiers: [{ ...noAudio, abovePromptTokens: 9, input: 7, output: 8, cacheRead: null, cacheWrite: null }]
        }
      }
    })
  })

  it("add a model to a usable provider when they are complete, and nothing otherwise", () => {
    const { id: _, ...complete } = large
    const patches = {
      "openai/new": complete,
      "openai/partial": { quality: 0.5 },
      "elsewhere/new": complete
    }
    const models = build({ vendors, patches })
    expect(models.get("openai/new")).toMatchObject({ providerId: "openai", upstreamModel: "new", alias: "new" })
    expect(models.has("openai/partial")).toBe(false)
    expect(models.has("elsewhere/new")).toBe(false)
  })
})
