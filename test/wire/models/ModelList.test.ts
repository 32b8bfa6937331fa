import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import OpenAI from "openai"
import type { Model } from "../../../src/domain/Model.ts"
import { listedPrices, usdPerToken } from "../../../src/wire/models/ListedPrices.ts"
import type { RoutingEntry } from "../../../src/wire/models/Listing.ts"
import { modelList } from "../../../src/wire/models/ModelList.ts"
import { ModelList } from "../../../src/wire/models/ModelListSchema.ts"
import { model, reasoning } from "./ModelFixtures.ts"

const strict = Schema.decodeUnknownSync(ModelList, { onExcessProperty: "error" })
const listOf = (models: ReadonlyArray<Model>, configurations: ReadonlyArray<RoutingEntry> = []) =>
  strict(JSON.parse(modelList(models, configurations, "/v1/models")))
const entryOf = (more: Partial<Model>) => listOf([model("acme/large", more)]).data[1]

describe("the model list", () => {
  it("begins with auto, then auto:<slug> by slug, then ids, all by code point", () => {
    const ids = ["b/z", "a/\u{10000}", "a/\uffee", "a/b", "B/a"]
    const models = ids.map((id) => model(id))
    const configurations = ["fast", "cheap", "Big"].map((slug) => ({ slug, pool: models }))
    const list = listOf(models, configurations)
    expect(list.data.map((entry) => entry.id)).toEqual([
      ...["auto", "auto:Big", "auto:cheap", "auto:fast"],
      ...["B/a", "a/b", "a/\uffee", "a/\u{10000}", "b/z"]
    ])
    expect(list.total_count).toBe(9)
  })

  it("has no auto when nothing is eligible, but every configuration", () => {
    expect(listOf([]).data).toEqual([])
    expect(listOf([], [{ slug: "cheap", pool: [] }]).data.map((entry) => entry.id)).toEqual(["auto:cheap"])
  })

  it("describes a model for clients of either list", () => {
    expect(entryOf({ reasoning: reasoning(), reasonsByDefault: true, knowledgeCutoff: "2026-01" })).toStrictEqual({
      id: "acme/large",
      object: "model",
      created: 1_795_000_000,
      owned_by: "acme",
      canonical_slug: "acme/large",
      name: "The acme/large",
      context_length: 200_000,
      architecture: {
        modality: "text+image->text",
        input_modalities: ["text", "image"],
        output_modalities: ["text"],
        tokenizer: "Other",
        instruct_type: null
      },
      pricing: { prompt: "0.0000025", completion: "0.00001", input_cache_read: "0.00000025" },
      top_provider: { is_moderated: false, context_length: 200_000, max_completion_tokens: 64_000 },
      per_request_limits: null,
      default_parameters: null,
      supported_voices: null,
      supported_parameters: [
        ...["max_tokens", "max_completion_tokens", "temperature", "top_p", "stop", "frequency_penalty"],
        ...["presence_penalty", "seed", "tools", "tool_choice", "parallel_tool_calls", "response_format", "prediction"],
        ...["structured_outputs", "reasoning", "include_reasoning", "reasoning_effort"]
      ],
      links: { details: "/v1/models" },
      knowledge_cutoff: "2026-01",
      reasoning: {
        mandatory: false,
        supported_efforts: ["high", "medium", "low", "none"],
        default_effort: "medium",
        default_enabled: true
      },
      reasoning_options: [{ type: "effort", values: ["low", "medium", "high"] }],
      opencode: {
        variants: {
          low: { reasoning_effort: "low" },
          medium: { reasoning_effort: "medium" },
          high: { reasoning_effort: "high" }
        }
      }
    })
  })

  it("states a limit, price or ability only where it is known", () => {
    const entry = entryOf({
      contextTokens: null,
      outputTokens: null,
      prices: null,
      capabilities: {
        ...model("a/b").capabilities,
        tools: null,
        sampling: null,
        vision: null,
        "structured-output": null
      }
    })
    expect(entry?.context_length).toBeNull()
    expect(entry?.top_provider).toStrictEqual({ is_moderated: false, context_length: null })
    expect(entry?.pricing).toStrictEqual({ prompt: "-1", completion: "-1" })
    expect(entry?.architecture.modality).toBe("text->text")
    expect(entry?.supported_parameters).not.toContain("tools")
    expect(entry?.supported_parameters).not.toContain("structured_outputs")
    expect(entry?.supported_parameters).toContain("temperature")
    const objects = entryOf({ support: { ...model("a/b").support, "response_format.json_schema": "refused" } })
    expect(objects?.supported_parameters).toContain("response_format")
    expect(objects?.supported_parameters).not.toContain("structured_outputs")
    const unsampled = entryOf({ capabilities: { ...model("a/b").capabilities, sampling: false } })
    for (const name of ["temperature", "top_p", "frequency_penalty"])
      expect(unsampled?.supported_parameters).not.toContain(name)
  })

  it("offers a reasoning choice only where there is one, in the way the model takes it", () => {
    expect(entryOf({ reasoning: null })).not.toHaveProperty("reasoning_options")
    const fixed = entryOf({ reasoning: reasoning({ efforts: [], style: "fixed" }) })
    expect(fixed?.reasoning_options).toEqual([])
    expect(fixed).not.toHaveProperty("reasoning")
    expect(fixed).not.toHaveProperty("opencode")
    expect(fixed?.supported_parameters).not.toContain("reasoning")

    const toggle = entryOf({ reasoning: reasoning({ efforts: ["none", "high"], style: "toggle" }) })
    expect(toggle?.reasoning_options).toEqual([{ type: "toggle" }])
    expect(toggle?.opencode?.variants).toEqual({ high: { reasoning_effort: "high" } })

    const budget = reasoning({
      efforts: ["low", "high"],
      style: "budget",
      budget: { min: 1_024, max: null },
      mandatory: true
    })
    const budgeted = entryOf({ reasoning: budget })
    expect(budgeted?.reasoning).toMatchObject({
      mandatory: true,
      supports_max_tokens: true,
      supported_efforts: ["high", "low"]
    })
    expect(budgeted?.reasoning_options).toEqual([
      { type: "effort", values: ["low", "high"] },
      { type: "budget_tokens", min: 1_024 }
    ])

    const deep = entryOf({ reasoning: reasoning({ efforts: [], depth: { min: 1, max: 100 } }) })
    expect(deep?.reasoning?.depth).toEqual({ min: 1, max: 100 })
    expect(deep?.supported_parameters).toContain("reasoning_effort")
  })

  it("gives auto portable parameters, no price, no reasoning, and the limits of its narrowest member", () => {
    const wide = model("acme/wide", { contextTokens: 1_000_000, outputTokens: null, reasoning: reasoning() })
    const blind = model("b/blind", { capabilities: { ...wide.capabilities, vision: false } })
    const [auto, narrow] = listOf([wide, blind], [{ slug: "s", pool: [blind] }]).data
    expect(auto).toMatchObject({
      pricing: { prompt: "-1", completion: "-1" },
      supported_parameters: [
        "max_tokens",
        "max_completion_tokens",
        "temperature",
        "top_p",
        "stop",
        "tools",
        "tool_choice"
      ],
      context_length: 200_000,
      owned_by: "gateway"
    })
    expect(auto?.architecture.input_modalities).toEqual(["text", "image"])
    expect(auto?.top_provider).not.toHaveProperty("max_completion_tokens")
    for (const key of ["reasoning", "reasoning_options", "opencode"]) expect(auto).not.toHaveProperty(key)
    expect(narrow?.architecture.input_modalities).toEqual(["text"])
    expect(narrow?.top_provider.max_completion_tokens).toBe(64_000)
    expect(listOf([wide, model("c/d", { contextTokens: null })]).data[0]?.context_length).toBeNull()
  })

  it("is read by the official client", async () => {
    const client = new OpenAI({
      apiKey: "k",
      baseURL: "http://gateway.test/v1",
      fetch: async () =>
        new Response(modelList([model("acme/large")], [], "/v1/models"), {
          headers: { "content-type": "application/json" }
        })
    })
    const page = await client.models.list()
    expect(page.data.map((entry) => [entry.id, entry.object, entry.owned_by])).toEqual([
      ["auto", "model", "gateway"],
      ["acme/large", "model", "acme"]
    ])
  })
})

describe("a price", () => {
  it("is the exact decimal of USD per token, without an exponent", () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeNat(), fc.nat(20_000_000)), (rate) => {
        const text = usdPerToken(rate)
        expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
        const [whole = "0", fraction = ""] = text.split(".")
        expect(BigInt(whole) * 10n ** 12n + BigInt(fraction.padEnd(12, "0"))).toBe(BigInt(rate))
      }),
      { numRuns: 1_000 }
    )
    expect(usdPerToken(0)).toBe("0")
    expect(usdPerToken(0.5)).toBe("0.0000000000005")
    expect(usdPerToken(1e-7)).toBe("0.0000000000000000001")
    expect(usdPerToken(1e21)).toBe("1000000000")
  })

  it("of a cache is listed where it is known", () => {
    const rates = { input: 1_000_000, output: 2_000_000, cacheRead: null, cacheWrite: 1_250_000, tiers: [] }
    expect(listedPrices(rates)).toEqual({ prompt: "0.000001", completion: "0.000002", input_cache_write: "0.00000125" })
  })
})
