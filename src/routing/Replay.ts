import type { Snapshot } from "../catalog/Catalog.ts"
import type { CallerShape } from "../domain/Caller.ts"
import { intersectPolicies } from "../policy/EffectivePolicy.ts"
import type { ProjectPolicy, RoutingConfiguration } from "../policy/ProjectPolicy.ts"
import { sameFigure } from "./ModelTable.ts"
import type { OutputLengthsShape } from "./quality/OutputLengths.ts"
import { expectedOutputTokens, type GradedQuality, qualityFor } from "./quality/QualityTable.ts"
import type { RequestFeatures } from "./RequestFeatures.ts"
import { unknownHealth } from "./RouteHealth.ts"
import { choicesAt, type RankContext, type Replayed } from "./Router.ts"

/** A call of the past, as far as it can be ranked again. */
export interface PastCall {
  readonly features: RequestFeatures
  /** Slug of the routing configuration that was used. */
  readonly routingConfig: string | null
}

/** What calls are ranked by again. */
export interface Rules {
  /** The models that the project can use. */
  readonly snapshot: Snapshot
  readonly project: ProjectPolicy
  readonly configurations: ReadonlyArray<RoutingConfiguration>
  readonly billingMode: CallerShape["billingMode"]
  /** The grades of the project. */
  readonly graded?: GradedQuality | undefined
  /** How long answers have been; unset: as long as is assumed. */
  readonly outputLengths?: Pick<OutputLengthsShape, "expectedFor"> | undefined
}

/** Where calls would go, and what that would cost. */
export interface Outcome {
  /** Expected cost of all calls together, in micro-USD. */
  costMicroUsd: number
  /** Sum of their predicted qualities. */
  quality: number
  /** Calls that no model could take. */
  withoutModel: number
  /** Calls by model id. */
  readonly models: Map<string, number>
}

export const emptyOutcome = (): Outcome => ({ costMicroUsd: 0, quality: 0, withoutModel: 0, models: new Map() })

export const add = (outcome: Outcome, choice: Replayed | undefined): void => {
  if (choice === undefined) {
    outcome.withoutModel += 1
    return
  }
  outcome.costMicroUsd += choice.expectedCost
  outcome.quality += choice.quality
  outcome.models.set(choice.model.id, (outcome.models.get(choice.model.id) ?? 0) + 1)
}

/** The first choice for a call at the alpha that would be its own, then at each of `alphas`; `undefined` without a model. */
export interface Choices {
  readonly own: Replayed | undefined
  readonly at: ReadonlyArray<Replayed | undefined>
}

/**
 * What `auto` would choose, with all routes healthy and no conversation before; `null` for a call whose routing configuration is
 * gone.
 */
export const choose = (call: PastCall, rules: Rules, alphas: ReadonlyArray<number>): Choices | null => {
  const context = contextOf(call, rules)
  if (context === null) return null
  const [own, ...at] = choicesAt(call.features, context, [context.policy.alpha, ...alphas])
  return { own, at }
}

export const contextOf = ({ features, routingConfig }: PastCall, rules: Rules): RankContext | null => {
  const configuration = routingConfig === null ? null : rules.configurations.find(({ slug }) => slug === routingConfig)
  if (configuration === undefined) return null
  return {
    snapshot: rules.snapshot,
    policy: intersectPolicies(rules.project, configuration, features.controls),
    quality: qualityFor(features.classes, rules.graded),
    outputTokens:
      rules.outputLengths?.expectedFor(features.classes) ?? sameFigure(expectedOutputTokens(features.classes)),
    health: () => unknownHealth,
    knownIn: () => [],
    nowMillis: 0,
    billingMode: rules.billingMode
  }
}
