import { type Effort, efforts } from "../domain/Chat.ts"
import type { Capability, Model, Profile, Reasoning } from "../domain/Model.ts"
import type { PriceList, Prices, PriceTier } from "../domain/Prices.ts"
import type { ProtocolId } from "../domain/Support.ts"

/** A model of the operator's configuration; missing fields have the defaults of `config/ConfiguredModel.ts`. */
export interface ConfiguredModel extends ModelPatch {
  readonly id: string
  readonly inputPriceMicroUsdPerMillion: number
  readonly outputPriceMicroUsdPerMillion: number
  readonly contextTokens: number
  readonly outputTokens: number
}

/** Replaces the given fields of a model. A list replaces the complete list. */
export interface ModelPatch {
  readonly upstreamModel?: string | undefined
  readonly displayName?: string | undefined
  readonly inputPriceMicroUsdPerMillion?: number | undefined
  readonly outputPriceMicroUsdPerMillion?: number | undefined
  readonly cacheReadPriceMicroUsdPerMillion?: number | null | undefined
  readonly cacheWritePriceMicroUsdPerMillion?: number | null | undefined
  readonly priceTiers?: ReadonlyArray<TierPatch> | undefined
  readonly audioInputPriceMicroUsdPerMillion?: number | null | undefined
  readonly audioOutputPriceMicroUsdPerMillion?: number | null | undefined
  readonly serviceTierPrices?: ReadonlyArray<ServiceTierPatch> | undefined
  readonly webSearchPriceMicroUsd?: number | null | undefined
  readonly contextTokens?: number | undefined
  readonly inputTokens?: number | null | undefined
  readonly outputTokens?: number | undefined
  readonly imageTokens?: number | undefined
  readonly quality?: number | undefined
  readonly capabilities?: ReadonlyArray<Capability> | undefined
  readonly reasoningEfforts?: ReadonlyArray<Effort> | undefined
  readonly reasoningDepth?: { readonly min: number; readonly max: number } | null | undefined
  readonly toolsForbidEffort?: boolean | undefined
  readonly profile?: { readonly [Part in keyof Profile]?: Profile[Part] | undefined } | undefined
}

interface RatesPatch {
  readonly inputPriceMicroUsdPerMillion: number
  readonly outputPriceMicroUsdPerMillion: number
  readonly cacheReadPriceMicroUsdPerMillion?: number | null | undefined
  readonly cacheWritePriceMicroUsdPerMillion?: number | null | undefined
  readonly audioInputPriceMicroUsdPerMillion?: number | null | undefined
  readonly audioOutputPriceMicroUsdPerMillion?: number | null | undefined
}

export interface TierPatch extends RatesPatch {
  readonly abovePromptTokens: number
}

export interface ServiceTierPatch extends RatesPatch {
  readonly serviceTier: string
  readonly priceTiers?: ReadonlyArray<TierPatch> | undefined
}

/** Whether the patch has the fields that a model outside the catalog needs. */
export const isComplete = (patch: ModelPatch): patch is Omit<ConfiguredModel, "id"> =>
  patch.inputPriceMicroUsdPerMillion !== undefined &&
  patch.outputPriceMicroUsdPerMillion !== undefined &&
  patch.contextTokens !== undefined &&
  patch.outputTokens !== undefined

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
  }
})

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
): Readonly<Record<Capability, boolean>> => ({
  tools: listed.includes("tools"),
  vision: listed.includes("vision"),
  "structured-output": listed.includes("structured-output"),
  sampling: listed.includes("sampling"),
  logprobs: listed.includes("logprobs"),
  "audio-input": listed.includes("audio-input"),
  "file-input": listed.includes("file-input"),
  "image-url": listed.includes("image-url") || (listed.includes("vision") && urlProtocols.includes(protocol))
})

/** Gemini and Bedrock accept bytes only, and the gateway never fetches a user's URL. */
export const urlProtocols: ReadonlyArray<ProtocolId> = ["openai-chat", "anthropic-messages", "simulated"]
