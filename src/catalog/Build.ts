import { byCodePoint } from "../domain/CodePointOrder.ts"
import { type Capability, type Model, providerOf, type Reasoning } from "../domain/Model.ts"
import type { ParameterRules } from "../domain/ParameterRules.ts"
import type { ProtocolId, SupportTable } from "../domain/Support.ts"
import type { UnavailableModel } from "./Catalog.ts"
import type { CatalogEntry, CatalogFile } from "./CatalogFile.ts"
import { type ConfiguredModel, capabilitiesOf, isComplete, type ModelPatch, patched, urlProtocols } from "./Patch.ts"

/** What the catalog needs of a provider that can be called. */
export interface Vendor {
  readonly id: string
  readonly protocol: ProtocolId
  readonly support: SupportTable
  /** Absent: none are known. */
  readonly rules?: ParameterRules | undefined
  readonly billsAbortedCalls: boolean
  /** Overrides the capabilities of all of its models, for what the provider's API itself adds or lacks. */
  readonly capabilities?: Partial<Record<Capability, boolean | null>>
  /** The reasoning styles that can be translated for it; default all. A model with another style becomes `fixed`. */
  readonly reasoningStyles?: ReadonlyArray<Reasoning["style"]>
}

/** A configured provider with its models. */
export interface OwnVendor extends Vendor {
  readonly models: ReadonlyArray<ConfiguredModel>
}

export interface BuildInput {
  readonly data: CatalogFile
  /** The built-in providers that can be called; entries of others stay out. */
  readonly vendors: ReadonlyArray<Vendor>
  readonly configured: ReadonlyArray<OwnVendor>
  /** Complete models that are not in the data, such as the simulated ones. */
  readonly ready?: ReadonlyArray<Model>
  /** By model id; `null` removes the model. */
  readonly patches: Readonly<Record<string, ModelPatch | null>>
}

/**
 * All models that can be called, by id in code-point order. Of several models with one id the last wins, in the order data,
 * ready, configured. A patch for an unknown id adds the model when its provider can be called and the patch is complete, and
 * has no effect otherwise: `issuesOfPatchedId` refuses those.
 */
export const buildModels = (input: BuildInput): ReadonlyArray<Model> => {
  const callable = new Map([...input.vendors, ...input.configured].map((vendor) => [vendor.id, vendor]))
  const models = new Map<string, Model>()
  for (const entry of input.data.models) {
    const vendor = callable.get(providerOf(entry.id))
    if (vendor !== undefined) models.set(entry.id, fromEntry(vendor, entry))
  }
  for (const model of input.ready ?? []) models.set(model.id, model)
  for (const vendor of input.configured) {
    for (const model of vendor.models) models.set(model.id, fromConfigured(vendor, model))
  }
  for (const [id, patch] of Object.entries(input.patches)) {
    const model = models.get(id)
    const vendor = callable.get(providerOf(id))
    if (patch === null) models.delete(id)
    else if (model !== undefined) models.set(id, patched(model, patch))
    else if (vendor !== undefined && isComplete(patch)) models.set(id, fromConfigured(vendor, { ...patch, id }))
  }
  return [...models.values()].sort((a, b) => byCodePoint(a.id, b.id))
}

/** The models of the data whose vendors only lack a credential; a patch with `null` removes them too. */
export const unavailableModels = (
  data: CatalogFile,
  patches: BuildInput["patches"],
  usable: ReadonlySet<string>,
  needsOf: (vendorId: string) => ReadonlyArray<string>
): ReadonlyArray<UnavailableModel> =>
  data.models.flatMap(({ alias, id, prices }) => {
    const providerId = providerOf(id)
    const needs = usable.has(providerId) || patches[id] === null ? [] : needsOf(providerId)
    return needs.length === 0 ? [] : [{ id, alias, providerId, prices, needs }]
  })

const fromEntry = (vendor: Vendor, entry: CatalogEntry): Model => ({
  id: entry.id,
  providerId: vendor.id,
  upstreamModel: entry.upstreamModel,
  alias: entry.alias,
  displayName: entry.displayName,
  createdSeconds: entry.createdSeconds,
  protocol: vendor.protocol,
  prices: entry.prices,
  contextTokens: entry.contextTokens,
  inputTokens: entry.inputTokens,
  outputTokens: entry.outputTokens,
  imageTokens: entry.imageTokens,
  cache: entry.cache,
  quality: entry.quality,
  qualityEvidence: { prior: entry.qualityPrior, benchmarks: entry.benchmarks },
  capabilities: {
    ...entry.capabilities,
    "image-url": takesImageUrls(vendor, entry.capabilities.vision),
    ...vendor.capabilities
  },
  reasoning: entry.reasoning === null ? null : translatable(vendor, { ...entry.reasoning, depth: null }),
  reasonsByDefault: entry.reasonsByDefault,
  toolsForbidEffort: entry.toolsForbidEffort,
  profile: entry.profile,
  support: vendor.support,
  rules: vendor.rules,
  billsAbortedCalls: vendor.billsAbortedCalls,
  listed: true,
  knowledgeCutoff: entry.knowledgeCutoff
})

const unknownQuality = 0.5
/** An image at full resolution, at the provider that counts the highest number of tokens for it. */
const unknownImageTokens = 3000
const defaultCapabilities: ReadonlyArray<Capability> = ["tools", "vision", "structured-output", "sampling"]

const fromConfigured = (vendor: Vendor, model: ConfiguredModel): Model => {
  const upstreamModel = model.upstreamModel ?? model.id.slice(vendor.id.length + 1)
  const bare: Model = {
    id: model.id,
    providerId: vendor.id,
    upstreamModel,
    alias: upstreamModel,
    displayName: upstreamModel,
    createdSeconds: 0,
    protocol: vendor.protocol,
    prices: {
      input: model.inputPriceMicroUsdPerMillion,
      output: model.outputPriceMicroUsdPerMillion,
      cacheRead: null,
      cacheWrite: null,
      tiers: []
    },
    contextTokens: model.contextTokens,
    inputTokens: null,
    outputTokens: model.outputTokens,
    imageTokens: unknownImageTokens,
    quality: unknownQuality,
    capabilities: capabilitiesOf(vendor.protocol, defaultCapabilities),
    reasoning: null,
    reasonsByDefault: false,
    toolsForbidEffort: false,
    profile: { effort: null, maxOutputTokens: null, apiVersion: null },
    support: vendor.support,
    rules: vendor.rules,
    billsAbortedCalls: vendor.billsAbortedCalls,
    listed: true,
    knowledgeCutoff: null
  }
  return patched(bare, model)
}

const translatable = (vendor: Vendor, reasoning: Reasoning): Reasoning =>
  vendor.reasoningStyles === undefined || vendor.reasoningStyles.includes(reasoning.style)
    ? reasoning
    : { ...reasoning, style: "fixed", efforts: [], budget: null }

const takesImageUrls = (vendor: Vendor, vision: boolean | null): boolean | null =>
  urlProtocols.includes(vendor.protocol) ? vision : false
