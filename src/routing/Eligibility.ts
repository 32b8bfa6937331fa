import type { CallerShape } from "../domain/Caller.ts"
import type { Model } from "../domain/Model.ts"
import type { PriceTerms } from "../domain/Prices.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import { type EffectivePolicy, excludedBy, isProjectExclusion } from "../policy/EffectivePolicy.ts"
import { type CostBound, withinCost } from "./CostBound.ts"
import { meets, type Requirement } from "./Requirements.ts"

interface EligibilityInput {
  readonly policy: EffectivePolicy
  /** The client's cap on completion tokens. */
  readonly maxOutputTokens: number | undefined
  readonly requirements: ReadonlyArray<Requirement>
  /** Estimated length of the prompt. */
  readonly promptTokens: number
  readonly billingMode: CallerShape["billingMode"]
  /** What is requested of this model that has a price of its own. */
  readonly termsOf: (model: Model) => PriceTerms
  readonly costBound?: CostBound | undefined
  /** Whether the model would reason about this request. */
  readonly reasons: (model: Model) => boolean
  /** The project's credential for a model; unset where calls use those of the providers. */
  readonly credentialOf?: ((model: Model) => ProviderCredential | undefined) | undefined
}

/** Every model of a pool is either eligible or counted once, under the first reason why it is not. */
export interface Eligibility {
  readonly eligible: ReadonlyArray<Model>
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

/** In stages: the policy, the requirements, the length of the prompt. */
export const filterEligible = (pool: ReadonlyArray<Model>, input: EligibilityInput): Eligibility => {
  const counts = new Map<string, number>()
  const byRequirement = new Map<Requirement, number>()
  const count = (reason: string): void => void counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const certain: Array<Model> = []
  const uncertain: Array<UnknownCapability> = []
  let byProject = 0
  let permitted = 0
  let capable = 0
  for (const model of pool) {
    const exclusion = excludedBy(input.policy, model, input.promptTokens, input.termsOf(model))
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
    const { unmet, unknown } = fitOf(model, input.requirements, input.billingMode)
    if (unmet !== null) {
      byRequirement.set(unmet, (byRequirement.get(unmet) ?? 0) + 1)
      count(unmet.reason)
      continue
    }
    capable++
    if (isTooLong(model, input.maxOutputTokens, input.promptTokens)) count("context_length")
    else if (unknown === null) certain.push(model)
    else uncertain.push({ model, unknown })
  }
  if (certain.length > 0) for (const { unknown } of uncertain) count(unknown.reason)
  const fitting = certain.length > 0 ? certain : uncertain.map(({ model }) => model)
  const paid = input.costBound === undefined ? null : withinCost(fitting, input.costBound, input)
  const eligible = paid?.models ?? fitting
  if (eligible.length < fitting.length) counts.set("request_max_cost", fitting.length - eligible.length)
  return {
    eligible,
    minCostMicroUsd: eligible.length === 0 ? (paid?.minMicroUsd ?? null) : null,
    excluded: Object.fromEntries(counts),
    byProject,
    permitted,
    capable,
    largestExclusion: largest(byRequirement, input.requirements)
  }
}

/** Whether prompt and requested output exceed the model's limits; an undocumented limit counts as none. */
const isTooLong = (model: Model, maxOutputTokens: number | undefined, promptTokens: number): boolean => {
  if (model.inputTokens !== null && promptTokens > model.inputTokens) return true
  return model.contextTokens !== null && promptTokens + minOutputTokens(model, maxOutputTokens) > model.contextTokens
}

/** A model that may or may not meet a requirement: eligible only when no other model certainly does. */
interface UnknownCapability {
  readonly model: Model
  readonly unknown: Requirement
}

interface Fit {
  readonly unmet: Requirement | null
  readonly unknown: Requirement | null
}

const fits: Fit = { unmet: null, unknown: null }

const fitOf = (
  model: Model,
  requirements: ReadonlyArray<Requirement>,
  billingMode: CallerShape["billingMode"]
): Fit => {
  let unknown: Requirement | null = null
  for (const requirement of requirements) {
    const met = meets(model, requirement, billingMode)
    if (met === false) return { unmet: requirement, unknown: null }
    if (met === null) unknown ??= requirement
  }
  return unknown === null ? fits : { unmet: null, unknown }
}

/** The client's output cap within the model's limit; without a cap one token must fit. */
const minOutputTokens = (model: Model, maxOutputTokens: number | undefined): number =>
  Math.min(maxOutputTokens ?? 1, model.outputTokens ?? Number.POSITIVE_INFINITY)

const largest = (
  byRequirement: ReadonlyMap<Requirement, number>,
  requirements: ReadonlyArray<Requirement>
): Requirement | null => {
  let found: Requirement | null = null
  let highest = 0
  for (const requirement of requirements) {
    const times = byRequirement.get(requirement) ?? 0
    if (times > highest) {
      found = requirement
      highest = times
    }
  }
  return found
}
