// @ts-check
import {
  defaultEffort,
  followsSchemas,
  reasonsOnRequest,
  responsesOnly,
  thinksByBudget,
  tiersOf,
  toolsForbidEffort
} from "./known.mjs"
import { qualities } from "./quality.mjs"

/**
 * Turns a file of public facts about models into our catalog file. Pure and deterministic: the same facts, in any order, give
 * the same bytes. A fact that is missing stays missing (`null`); what is derived says here how.
 *
 * @typedef {{ input: number, output: number, cache_read?: number, cache_write?: number, tier: { size: number } }} FactTier
 * @typedef {{ efforts: ReadonlyArray<string> | null, budget: { min?: number, max?: number } | null, toggle: boolean }} FactReasoning
 * @typedef {object} Fact
 * @property {string} id
 * @property {string} provider
 * @property {string} providerModel
 * @property {string} upstreamModel
 * @property {string} displayName
 * @property {string | null} releaseDate
 * @property {string | null} knowledge
 * @property {{ input: number | null, output: number | null, cacheRead: number | null, cacheWrite: number | null, inputAudio?: number | null }} priceMicroUsdPerMillion
 * @property {ReadonlyArray<FactTier> | null} priceTiers
 * @property {{ context: number | null, input: number | null, output: number | null }} limits
 * @property {{ input: ReadonlyArray<string>, output: ReadonlyArray<string> }} modalities
 * @property {{ tools: boolean | null, reasoning: boolean | null, structuredOutput: boolean | null, temperature: boolean | null }} capabilities
 * @property {FactReasoning | null} reasoning
 * @property {ReadonlyArray<{ name: string, metric: string, score: number }> | null} benchmarks
 * @typedef {{ source: Record<string, string>, models: ReadonlyArray<Fact> }} Facts
 * @typedef {ReturnType<typeof entryOf>} Entry
 */

/** Vendors that do not speak chat completions natively, or for which the native protocol carries more. */
const protocols = new Map([
  ["anthropic", "anthropic-messages"],
  ["google", "gemini"],
  ["amazon-bedrock", "bedrock-converse"]
])

const effortOrder = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]

/** @param {Facts} facts */
export const catalogOf = (facts) => {
  const quality = qualities(facts.models.map(evidenceOf))
  const providers = [...new Set(facts.models.map((fact) => fact.provider))].sort()
  return {
    version: 1,
    source: { ...facts.source, contents: "facts only; quality, efforts and caps are derived by scripts/catalog" },
    providers: providers.map((id) => ({ id, protocol: protocols.get(id) ?? "openai-chat" })),
    models: facts.models
      .filter((fact) => !isResponsesOnly(fact))
      .map((fact) => entryOf(fact, quality.get(fact.upstreamModel) ?? { quality: 0.5, prior: 0.5, benchmarks: 0 }))
      .sort(byId)
  }
}

/** @param {Fact} fact */
const isResponsesOnly = ({ provider, upstreamModel }) => provider === "openai" && responsesOnly.has(upstreamModel)

/** @param {Fact} fact @param {import("./quality.mjs").Quality} known */
const entryOf = (fact, known) => {
  const reasoning = reasoningOf(fact)
  return {
    id: fact.id,
    upstreamModel: fact.providerModel,
    alias: fact.upstreamModel,
    displayName: fact.displayName,
    createdSeconds: Math.floor((millisOf(fact.releaseDate) ?? 0) / 1000),
    knowledgeCutoff: fact.knowledge,
    prices: pricesOf(fact),
    contextTokens: fact.limits.context,
    inputTokens: inputTokensOf(fact),
    outputTokens: fact.limits.output,
    imageTokens: imageTokensOf(fact),
    cache: cacheOf({
      provider: fact.provider,
      name: fact.upstreamModel,
      readRate: fact.priceMicroUsdPerMillion.cacheRead
    }),
    quality: known.quality,
    qualityPrior: known.prior,
    benchmarks: known.benchmarks,
    capabilities: {
      tools: fact.capabilities.tools,
      vision: fact.modalities.input.includes("image"),
      "structured-output": structuredOutputOf(fact),
      sampling: fact.capabilities.temperature,
      logprobs: logprobsOf(fact),
      "audio-input": fact.modalities.input.includes("audio"),
      "file-input": fact.modalities.input.includes("pdf")
    },
    reasoning,
    reasonsByDefault: reasoning !== null && reasonsByDefaultOf(fact),
    toolsForbidEffort: fact.provider === "openai" && toolsForbidEffort.has(fact.upstreamModel),
    profile: { effort: null, maxOutputTokens: outputCapOf(fact), apiVersion: apiVersionOf(fact) }
  }
}

/**
 * The rules of the providers' documentation; `null` without a rate for reads, since no saving can be computed then.
 *
 * @param {{ provider: string, name: string, readRate: number | null }} model
 */
export const cacheOf = ({ name, provider, readRate }) => {
  if (readRate === null) return null
  if (name.includes("claude") && (provider === "anthropic" || provider === "amazon-bedrock")) {
    const minTokens = /opus-4[-.][56]|haiku-4[-.]5/.test(name) ? 4096 : 1024
    const longTtl = { seconds: 3600, writeFactor: 2 }
    return { mode: "explicit", minTokens, stepTokens: 1, ttlSeconds: 300, longTtl, guaranteed: true }
  }
  if (provider === "openai") {
    return { mode: "auto", minTokens: 1024, stepTokens: 128, ttlSeconds: 300, longTtl: null, guaranteed: true }
  }
  if (provider === "google") {
    const minTokens = name.includes("pro") ? 4096 : 1024
    return { mode: "auto", minTokens, stepTokens: 1, ttlSeconds: 300, longTtl: null, guaranteed: false }
  }
  return null
}

/**
 * Where the source has cached tokens for nothing of a prompt that has a price, they cost what all others do (Cerebras, prompt caching).
 *
 * @param {Fact["priceMicroUsdPerMillion"]} price
 */
const cacheRatesOf = ({ cacheRead, cacheWrite, input }) =>
  cacheRead === 0 && input !== 0 ? { cacheRead: null, cacheWrite: null } : { cacheRead, cacheWrite }

/** @param {Fact} fact */
const pricesOf = ({ id, priceMicroUsdPerMillion: price, priceTiers }) =>
  price.input === null || price.output === null
    ? null
    : {
        input: price.input,
        output: price.output,
        ...cacheRatesOf(price),
        ...(typeof price.inputAudio === "number" && { audioInput: price.inputAudio }),
        tiers: (priceTiers ?? tiersOf.get(id) ?? [])
          .map((tier) => ({
            abovePromptTokens: tier.tier.size,
            input: tier.input,
            output: tier.output,
            cacheRead: tier.cache_read ?? null,
            cacheWrite: tier.cache_write ?? null
          }))
          .sort((a, b) => a.abovePromptTokens - b.abovePromptTokens)
      }

/** Some sources list an input limit of the model's own maker beside a smaller window of the provider: the window rules. */
/** @param {Fact} fact */
const inputTokensOf = ({ limits }) =>
  limits.input === null || limits.context === null ? limits.input : Math.min(limits.input, limits.context)

/**
 * What we can translate: named efforts as they are listed (names that are not ours are left out), a budget as low, medium and
 * high, a switch as none and high. Where a switch stands beside the others, none is added; asking for it in Anthropic's own
 * protocol is not asking for reasoning. `fixed` reasons without a choice.
 *
 * @param {Fact} fact
 */
const reasoningOf = (fact) => {
  if (fact.capabilities.reasoning !== true) return null
  const { efforts, budget, toggle } = fact.reasoning ?? { efforts: null, budget: null, toggle: false }
  const isNamed = efforts !== null && !thinksByBudget.has(fact.upstreamModel)
  const style = isNamed ? "effort" : budget !== null ? "budget" : toggle ? "toggle" : "fixed"
  const offered = { effort: efforts ?? [], budget: ["low", "medium", "high"], toggle: ["high"], fixed: [] }[style]
  const all = toggle || isOffUnlessAsked(fact) ? ["none", ...offered] : offered
  return {
    efforts: effortOrder.filter((effort) => all.includes(effort)),
    style,
    budget: style === "budget" ? { min: budget?.min ?? null, max: budget?.max ?? null } : null,
    defaultEffort: defaultEffort.get(fact.upstreamModel) ?? null,
    mandatory: !all.includes("none") && !reasonsOnRequest.has(fact.upstreamModel)
  }
}

/** @param {Fact} fact */
const isOffUnlessAsked = (fact) => fact.provider === "anthropic" && reasonsOnRequest.has(fact.upstreamModel)

/** @param {Fact} fact */
const structuredOutputOf = (fact) =>
  fact.capabilities.structuredOutput ??
  (fact.provider === "anthropic" && followsSchemas.has(fact.upstreamModel) ? true : null)

/** Where nothing is known it is assumed to reason: deadlines then allow for it. @param {Fact} fact */
const reasonsByDefaultOf = (fact) =>
  !reasonsOnRequest.has(fact.upstreamModel) && defaultEffort.get(fact.upstreamModel) !== "none"

/** Documented for the vendors' own protocols only. OpenAI refuses them while a model reasons. @param {Fact} fact */
const logprobsOf = (fact) => {
  if (fact.provider === "openai") return fact.capabilities.reasoning !== true
  return fact.provider === "anthropic" || fact.provider === "amazon-bedrock" ? false : null
}

/** OpenAI's models that count tiles: 768 pixels wide, at most 8 of them. Others count patches, of which the smallest models pay more. */
const countsTiles = /^(?:gpt-4o|gpt-4\.1|gpt-5|gpt-5\.[12]|o3)$/

/**
 * Upper bounds of what one image costs, from the vendors' own formulas: at most 1 445 tokens for OpenAI's tiles, 2 500 for the
 * patches of its large models and 3 779 for those of its smallest, 1 120 at Gemini, about 1 600 at Anthropic and 4 784 for the models
 * that see images at full resolution, which are those without a temperature. Unknown: 3 000.
 *
 * @param {Fact} fact
 */
const imageTokensOf = (fact) => {
  const name = fact.upstreamModel
  if (fact.provider === "google") return 1200
  if (fact.provider === "openai" && countsTiles.test(name)) return 1500
  if (fact.provider === "openai" && name.endsWith("-nano")) return 4000
  return name.includes("claude") && fact.capabilities.temperature === false ? 5000 : 3000
}

const defaultMaxTokens = { reasoning: 65_536, plain: 32_768 }

/**
 * Some sources give the whole window as the output limit, which would leave no room for a prompt, and a cap of hundreds of
 * thousands of tokens would hold far more money than any answer costs. Where the client names no cap, the service does.
 *
 * @param {Fact} fact
 */
const outputCapOf = ({ limits: { context, output }, capabilities: { reasoning } }) => {
  if (output === null) return null
  const quarter = context === null ? output : Math.floor(context / 4)
  const cap = Math.min(output, quarter, reasoning === true ? defaultMaxTokens.reasoning : defaultMaxTokens.plain)
  return cap < output ? cap : null
}

/** Anthropic dropped sampling parameters in its newer version; models that still take them need the older one. @param {Fact} fact */
const apiVersionOf = (fact) => {
  if (fact.provider !== "anthropic") return null
  return fact.capabilities.temperature === false ? "2026-10-21" : "2023-06-01"
}

/** @param {Fact} fact */
const evidenceOf = (fact) => {
  const { input, output } = fact.priceMicroUsdPerMillion
  return {
    alias: fact.upstreamModel,
    releaseMillis: millisOf(fact.releaseDate),
    blendedPriceMicroUsd: input === null || output === null ? null : (3 * input + output) / 4,
    scores: fact.benchmarks ?? []
  }
}

/** A day, or a month whose first day stands for it. @param {string | null} date */
const millisOf = (date) => {
  const [year, month, day] = (date ?? "").split("-").map(Number)
  return year === undefined || year === 0 || month === undefined ? null : Date.UTC(year, month - 1, day ?? 1)
}

/** @param {{ id: string }} a @param {{ id: string }} b */
const byId = (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
