import type { CallerShape } from "../domain/Caller.ts"
import type { Model } from "../domain/Model.ts"
import { type PriceTerms, plainTerms } from "../domain/Prices.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import { type EffectivePolicy, excludedBy, isProjectExclusion } from "../policy/EffectivePolicy.ts"
import { type CostBound, withinCost } from "./CostBound.ts"
import type { ModelTable } from "./ModelTable.ts"
import { meets, type Requirement } from "./Requirements.ts"

interface EligibilityInput {
  readonly policy: EffectivePolicy
  /** The client's cap on completion tokens. */
  readonly maxOutputTokens: number | undefined
  readonly requirements: ReadonlyArray<Requirement>
  /** Estimated length of the prompt without its images and files. */
  readonly promptTokens: number
  /** How many it has. */
  readonly imagesAndFiles: number
  readonly billingMode: CallerShape["billingMode"]
  /** Service tier, web search and audio that the request asks for. */
  readonly terms: PriceTerms
  /** What of these is requested of this model. */
  readonly termsOf: (model: Model) => PriceTerms
  readonly costBound?: CostBound | undefined
  /** Whether the model would reason about this request. */
  readonly reasons: (model: Model) => boolean
  /** The project's credential for a model; unset where calls use those of the providers. */
  readonly credentialOf?: ((model: Model) => ProviderCredential | undefined) | undefined
}

/** Every model of a pool is either eligible or counted once, under the first reason why it is not. */
export interface Eligibility {
  /** The places of the eligible models; the same array for requests of which nothing but the text differs. */
  readonly eligible: ReadonlyArray<number>
  readonly excluded: Readonly<Record<string, number>>
  /** Models of the pool that the project's policy excludes. */
  readonly byProject: number
  /** Models that project, routing configuration, request and prices allow. */
  readonly permitted: number
  /** Those of them that meet every requirement. */
  readonly capable: number
  /** Set where models are left by everything but what the call may cost: what it would have to be allowed to, in micro-USD. */
  readonly minCostMicroUsd: number | null
  /** The requirement that excluded the largest number of models, the first of equals. */
  readonly largestExclusion: Requirement | null
}

/** In stages: the policy and the requirements, then the length of the prompt, then what the call may cost. */
export const filterEligible = (table: ModelTable, input: EligibilityInput): Eligibility => {
  const found = capableOnce(table, input)
  const certain = fittingOf(table, found.certain, input)
  const uncertain = fittingOf(table, found.uncertain, input)
  const fitting = certain.length > 0 ? certain : uncertain
  const bound = input.costBound === undefined ? null : boundBy(input.costBound, table, fitting, input)
  const eligible = bound?.eligible ?? fitting
  const isWhole = certain === found.certain && uncertain === found.uncertain && eligible.length === fitting.length
  return {
    eligible,
    excluded: isWhole ? found.excludedOfAll : excludedOf(found, certain, uncertain, fitting.length - eligible.length),
    byProject: found.byProject,
    permitted: found.permitted,
    capable: found.certain.length + found.uncertain.length,
    minCostMicroUsd: eligible.length === 0 ? (bound?.minMicroUsd ?? null) : null,
    largestExclusion: input.requirements[found.largestExclusion] ?? null
  }
}

/** The models that policy and requirements leave: what does not depend on the length of the prompt, but for price tiers. */
interface Capable {
  readonly certain: ReadonlyArray<number>
  /** These may or may not meet a requirement: eligible only when no other model certainly does. */
  readonly uncertain: ReadonlyArray<number>
  /** Why, by the places of the uncertain. */
  readonly unknown: ReadonlyMap<number, string>
  /** How many models are left out, by reason. */
  readonly excluded: Readonly<Record<string, number>>
  /** The same where none of the others is left out for the length of its prompt. */
  readonly excludedOfAll: Readonly<Record<string, number>>
  readonly byProject: number
  readonly permitted: number
  /** The index of the requirement; -1 where none has excluded anything. */
  readonly largestExclusion: number
}

const capableByRules = new WeakMap<ModelTable, Map<string, Capable>>()

/** Of rules that are not asked for again: those of earlier settings, and rare combinations of requirements. */
const maxRules = 64

/** Most calls differ in their text only: policy and requirements are applied to a pool once. */
const capableOnce = (table: ModelTable, input: EligibilityInput): Capable => {
  const rules = rulesOf(table, input)
  if (rules === null) return capableOf(table, input)
  let known = capableByRules.get(table)
  if (known === undefined) {
    known = new Map()
    capableByRules.set(table, known)
  }
  const before = known.get(rules)
  if (before !== undefined) return before
  const found = capableOf(table, input)
  if (known.size >= maxRules) known.clear()
  known.set(rules, found)
  return found
}

/** Equal for calls to which the same models are open; `null` where something of this one call decides. */
const rulesOf = (table: ModelTable, { billingMode, credentialOf, policy, requirements, terms }: EligibilityInput) => {
  if (credentialOf !== undefined || terms !== plainTerms) return null
  let rules: string = billingMode
  for (const layer of policy.layers) {
    if (layer.serial === null || (layer.capped && table.hasTiers)) return null
    rules += `,${layer.serial}`
  }
  for (const { effort, reason } of requirements) rules += `,${reason}${effort === null ? "" : `=${effort}`}`
  return rules
}

const capableOf = (table: ModelTable, input: EligibilityInput): Capable => {
  const counts = new Map<string, number>()
  const count = (reason: string): void => void counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const unmetTimes = input.requirements.map(() => 0)
  const certain: Array<number> = []
  const uncertain: Array<number> = []
  const unknown = new Map<number, string>()
  let byProject = 0
  let permitted = 0
  for (const [at, model] of table.models.entries()) {
    // the tier of prices is that of the whole prompt, as it is charged
    const promptTokens = input.promptTokens + input.imagesAndFiles * model.imageTokens
    const exclusion = excludedBy(input.policy, model, promptTokens, input.termsOf(model))
    if (exclusion !== null) {
      if (isProjectExclusion(exclusion)) byProject++
      count(exclusion)
      continue
    }
    if (model.prices === null && input.billingMode === "managed") {
      count("unpriced")
      continue
    }
    if (input.credentialOf !== undefined && input.credentialOf(model) === undefined) {
      count("no_credential")
      continue
    }
    permitted++
    const fit = fitOf(model, input.requirements, input.billingMode)
    if (fit.unmet >= 0) {
      unmetTimes[fit.unmet] = (unmetTimes[fit.unmet] ?? 0) + 1
      count(input.requirements[fit.unmet]?.reason ?? "")
      continue
    }
    if (fit.unknown === null) certain.push(at)
    else {
      uncertain.push(at)
      unknown.set(at, fit.unknown.reason)
    }
  }
  const found = {
    certain,
    uncertain,
    unknown,
    excluded: Object.fromEntries(counts),
    byProject,
    permitted,
    largestExclusion: largest(unmetTimes)
  }
  return { ...found, excludedOfAll: Object.freeze(excludedOf(found, certain, uncertain, 0)) }
}

const excludedOf = (
  found: Omit<Capable, "excludedOfAll">,
  certain: ReadonlyArray<number>,
  uncertain: ReadonlyArray<number>,
  tooExpensive: number
): Readonly<Record<string, number>> => {
  const excluded: Record<string, number> = { ...found.excluded }
  const count = (reason: string, times: number): void => {
    if (times > 0) excluded[reason] = (excluded[reason] ?? 0) + times
  }
  count("context_length", found.certain.length + found.uncertain.length - certain.length - uncertain.length)
  if (certain.length > 0) for (const at of uncertain) count(found.unknown.get(at) ?? "", 1)
  count("request_max_cost", tooExpensive)
  return excluded
}

/** Those whose limits prompt and requested output keep to; the same array where all do. */
const fittingOf = (
  table: ModelTable,
  places: ReadonlyArray<number>,
  input: Pick<EligibilityInput, "maxOutputTokens" | "promptTokens">
): ReadonlyArray<number> => {
  for (const at of places) if (isTooLong(table, at, input)) return places.filter((one) => !isTooLong(table, one, input))
  return places
}

/** Whether prompt and requested output exceed the model's limits; without a cap one token must fit. */
const isTooLong = (
  { contextTokens, inputTokens, outputTokens }: ModelTable,
  at: number,
  { maxOutputTokens, promptTokens }: Pick<EligibilityInput, "maxOutputTokens" | "promptTokens">
): boolean =>
  promptTokens > (inputTokens[at] ?? 0) ||
  promptTokens + Math.min(maxOutputTokens ?? 1, outputTokens[at] ?? 0) > (contextTokens[at] ?? 0)

const boundBy = (
  bound: CostBound,
  { models, places }: ModelTable,
  fitting: ReadonlyArray<number>,
  input: EligibilityInput
) => {
  const fittingModels = fitting.flatMap((at) => models[at] ?? [])
  const { minMicroUsd, models: affordable } = withinCost(fittingModels, bound, input)
  return { minMicroUsd, eligible: affordable.flatMap(({ id }) => places.get(id) ?? []) }
}

interface Fit {
  /** The index of the first requirement that the model does not meet, or -1. */
  readonly unmet: number
  readonly unknown: Requirement | null
}

const fitOf = (
  model: Model,
  requirements: ReadonlyArray<Requirement>,
  billingMode: CallerShape["billingMode"]
): Fit => {
  let unknown: Requirement | null = null
  for (const [index, requirement] of requirements.entries()) {
    const met = meets(model, requirement, billingMode)
    if (met === false) return { unmet: index, unknown: null }
    if (met === null) unknown ??= requirement
  }
  return { unmet: -1, unknown }
}

const largest = (times: ReadonlyArray<number>): number => {
  const most = Math.max(0, ...times)
  return most === 0 ? -1 : times.indexOf(most)
}
