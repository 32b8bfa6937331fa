import { type Effort, efforts } from "../domain/Chat.ts"
import type { Capability, Model, Profile, Reasoning } from "../domain/Model.ts"
import { requiredFields } from "../domain/ModelRules.ts"
import type { PriceList, Prices, PriceTier } from "../domain/Prices.ts"
import type { ProtocolId, SupportTable } from "../domain/Support.ts"
import { withoutEffect } from "./WithoutEffect.ts"

/** A model of the operator's configuration; missing fields have the defaults of `config/ConfiguredModel.ts`. */
export interface ConfiguredModel extends ModelPatch {
  /** `<provider>/<model>`. */
  readonly id: string
  /** Of the prompt. */
  readonly inputPriceMicroUsdPerMillion: number
  /** Of the completion. */
  readonly outputPriceMicroUsdPerMillion: number
  /** Prompt and completion together. */
  readonly contextTokens: number
  /** Of one completion. */
  readonly outputTokens: number
}

/** Replaces the given fields of a model. A list replaces the complete list. */
export interface ModelPatch {
  /** The provider's name for the model. */
  readonly upstreamModel?: string | undefined
  /** For people. */
  readonly displayName?: string | undefined
  /** Of the prompt. */
  readonly inputPriceMicroUsdPerMillion?: number | undefined
  /** Of the completion. */
  readonly outputPriceMicroUsdPerMillion?: number | undefined
  /** Of prompt tokens that are read from a cache; `null`: unknown. */
  readonly cacheReadPriceMicroUsdPerMillion?: number | null | undefined
  /** Of prompt tokens that are written to a cache; `null`: unknown. */
  readonly cacheWritePriceMicroUsdPerMillion?: number | null | undefined
  /** Rates of long prompts. */
  readonly priceTiers?: ReadonlyArray<TierPatch> | undefined
  /** Of audio in the prompt; `null`: unknown. */
  readonly audioInputPriceMicroUsdPerMillion?: number | null | undefined
  /** Of audio in the completion; `null`: unknown. */
  readonly audioOutputPriceMicroUsdPerMillion?: number | null | undefined
  /** Rates of other service tiers. */
  readonly serviceTierPrices?: ReadonlyArray<ServiceTierPatch> | undefined
  /** What web search adds to one call; `null`: unknown. */
  readonly webSearchPriceMicroUsd?: number | null | undefined
  /** Prompt and completion together. */
  readonly contextTokens?: number | undefined
  /** Of the prompt alone; `null`: not documented. */
  readonly inputTokens?: number | null | undefined
  /** Of one completion. */
  readonly outputTokens?: number | undefined
  /** Tokens of one image, file or page of a PDF in a hold. */
  readonly imageTokens?: number | undefined
  /** Prior estimate of answer quality, 0 to 1. */
  readonly quality?: number | undefined
  /** What the model can do. */
  readonly capabilities?: ReadonlyArray<Capability> | undefined
  /** Efforts that a client may request. */
  readonly reasoningEfforts?: ReadonlyArray<Effort> | undefined
  /** The range of integer depths; `null`: none. */
  readonly reasoningDepth?: { readonly min: number; readonly max: number } | null | undefined
  /** An effort is left out when tools are sent. */
  readonly toolsForbidEffort?: boolean | undefined
  /** Parameters that are sent when the client sets none. */
  readonly profile?: { readonly [Part in keyof Profile]?: Profile[Part] | undefined } | undefined
}

interface RatesPatch {
  /** Of the prompt. */
  readonly inputPriceMicroUsdPerMillion: number
  /** Of the completion. */
  readonly outputPriceMicroUsdPerMillion: number
  /** Of prompt tokens that are read from a cache; `null`: unknown. */
  readonly cacheReadPriceMicroUsdPerMillion?: number | null | undefined
  /** Of prompt tokens that are written to a cache; `null`: unknown. */
  readonly cacheWritePriceMicroUsdPerMillion?: number | null | undefined
  /** Of audio in the prompt; `null`: unknown. */
  readonly audioInputPriceMicroUsdPerMillion?: number | null | undefined
  /** Of audio in the completion; `null`: unknown. */
  readonly audioOutputPriceMicroUsdPerMillion?: number | null | undefined
}

/** Rates of prompts that are longer than this. */
export interface TierPatch extends RatesPatch {
  /** Longer prompts have these rates. */
  readonly abovePromptTokens: number
}

/** Rates of a service tier. */
export interface ServiceTierPatch extends RatesPatch {
  /** As requests name it. */
  readonly serviceTier: string
  /** Rates of long prompts. */
  readonly priceTiers?: ReadonlyArray<TierPatch> | undefined
}

/** Whether the patch has the fields that a model outside the catalog needs. */
export const isComplete = (patch: ModelPatch): patch is Omit<ConfiguredModel, "id"> =>
  requiredFields.every((field) => patch[field] !== undefined)

/** A patch of the upstream name leaves the alias as it is: clients use it. */
export const patched = (model: Model, patch: ModelPatch): Model => ({
  ...model,
  upstreamModel: patch.upstreamModel ?? model.upstreamModel,
  displayName: patch.displayName ?? model.displayName,
  prices: patchedPrices(model.prices, patch),
  contextTokens: patch.contextTokens ?? model.contextTokens,
  inputTokens: patch.inputTokens === undefined ? model.inputTokens : patch.inputTokens,
  outputTokens: patch.outputTokens ?? model.outputTokens,
  imageTokens: patch.imageTokens ?? model.imageTokens,
  quality: patch.quality ?? model.quality,
  qualityEvidence: patch.quality === undefined ? model.qualityEvidence : undefined,
  capabilities:
    patch.capabilities === undefined ? model.capabilities : capabilitiesOf(model.protocol, patch.capabilities),
  reasoning: patchedReasoning(model.reasoning, patch),
  reasonsByDefault: patch.reasoningEfforts?.length === 0 ? false : model.reasonsByDefault,
  toolsForbidEffort: patch.toolsForbidEffort ?? model.toolsForbidEffort,
  profile: {
    effort: patch.profile?.effort === undefined ? model.profile.effort : patch.profile.effort,
    maxOutputTokens:
      patch.profile?.maxOutputTokens === undefined ? model.profile.maxOutputTokens : patch.profile.maxOutputTokens,
    apiVersion: patch.profile?.apiVersion === undefined ? model.profile.apiVersion : patch.profile.apiVersion
  },
  support: patchedSupport(model, patch)
})

/** What has a price is sent: servers of OpenAI's protocol differ in these fields. Of the other protocols it is known what they take. */
const patchedSupport = ({ protocol, support }: Model, patch: ModelPatch): SupportTable => {
  if (protocol !== "openai-chat") return support
  const isPriced = (price: number | null | undefined) => typeof price === "number"
  return {
    ...support,
    ...((patch.serviceTierPrices ?? []).length > 0 && { service_tier: "native" }),
    ...(isPriced(patch.webSearchPriceMicroUsd) && { web_search_options: "native" }),
    ...(isPriced(patch.audioOutputPriceMicroUsdPerMillion) && { modalities: "native", audio: "native" })
  }
}

/** New base rates do not change the rates of long prompts. */
const patchedPrices = (prices: Prices | null, patch: ModelPatch): Prices | null => {
  const input = patch.inputPriceMicroUsdPerMillion ?? prices?.input
  const output = patch.outputPriceMicroUsdPerMillion ?? prices?.output
  if (input === undefined || output === undefined) return null
  return {
    input,
    output,
    cacheRead: patchedPrice(prices?.cacheRead, patch.cacheReadPriceMicroUsdPerMillion),
    cacheWrite: patchedPrice(prices?.cacheWrite, patch.cacheWritePriceMicroUsdPerMillion),
    audioInput: patchedPrice(prices?.audioInput, patch.audioInputPriceMicroUsdPerMillion),
    audioOutput: patchedPrice(prices?.audioOutput, patch.audioOutputPriceMicroUsdPerMillion),
    tiers: patch.priceTiers?.map(tierOf) ?? prices?.tiers ?? [],
    serviceTiers:
      patch.serviceTierPrices === undefined
        ? (prices?.serviceTiers ?? {})
        : Object.fromEntries(patch.serviceTierPrices.map((tier) => [tier.serviceTier, listOf(tier)])),
    webSearchMicroUsd: patchedPrice(prices?.webSearchMicroUsd, patch.webSearchPriceMicroUsd)
  }
}

const patchedPrice = (price: number | null | undefined, patch: number | null | undefined): number | null =>
  patch === undefined ? (price ?? null) : patch

const ratesOf = (rates: RatesPatch) => ({
  input: rates.inputPriceMicroUsdPerMillion,
  output: rates.outputPriceMicroUsdPerMillion,
  cacheRead: rates.cacheReadPriceMicroUsdPerMillion ?? null,
  cacheWrite: rates.cacheWritePriceMicroUsdPerMillion ?? null,
  audioInput: rates.audioInputPriceMicroUsdPerMillion ?? null,
  audioOutput: rates.audioOutputPriceMicroUsdPerMillion ?? null
})

const tierOf = (tier: TierPatch): PriceTier => ({ abovePromptTokens: tier.abovePromptTokens, ...ratesOf(tier) })

const listOf = (tier: ServiceTierPatch): PriceList => ({
  ...ratesOf(tier),
  tiers: tier.priceTiers?.map(tierOf) ?? []
})

/** A model that was not known to reason gets the style `effort`; without efforts and depth it does not reason. */
const patchedReasoning = (reasoning: Reasoning | null, patch: ModelPatch): Reasoning | null => {
  if (patch.reasoningEfforts === undefined && patch.reasoningDepth === undefined) return reasoning
  const asked = patch.reasoningEfforts ?? reasoning?.efforts ?? []
  const taken = efforts.filter((effort) => asked.includes(effort))
  const depth = patch.reasoningDepth === undefined ? (reasoning?.depth ?? null) : patch.reasoningDepth
  if (taken.length === 0 && depth === null) return null
  const base = reasoning ?? { budget: null, defaultEffort: null, mandatory: false }
  const style = reasoning === null || reasoning.style === "fixed" ? "effort" : reasoning.style
  return { ...base, style, efforts: taken, depth }
}

export const capabilitiesOf = (
  protocol: ProtocolId,
  listed: ReadonlyArray<Capability>
): Readonly<Record<Capability, boolean>> => {
  const has = (capability: Capability) =>
    listed.includes(capability) && !withoutEffect[protocol].capabilities.includes(capability)
  return {
    tools: has("tools"),
    vision: has("vision"),
    "structured-output": has("structured-output"),
    sampling: has("sampling"),
    logprobs: has("logprobs"),
    "audio-input": has("audio-input"),
    "file-input": has("file-input"),
    "image-url": has("image-url") || (has("vision") && urlProtocols.includes(protocol))
  }
}

/** Gemini and Bedrock accept bytes only, and the gateway never fetches a user's URL. */
export const urlProtocols: ReadonlyArray<ProtocolId> = ["openai-chat", "anthropic-messages", "simulated"]
