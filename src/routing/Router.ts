import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import type { Snapshot } from "../catalog/Catalog.ts"
import type { RoutingReason } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { Candidate } from "../domain/Candidate.ts"
import type { ChatRequest, Effort } from "../domain/Chat.ts"
import { ModelNotFound } from "../domain/GatewayError.ts"
import { claudeName, type Model } from "../domain/Model.ts"
import type { MicroUsd } from "../domain/Money.ts"
import type { PriceTerms } from "../domain/Prices.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import { type EffectivePolicy, excludedBy } from "../policy/EffectivePolicy.ts"
import { type Affinity, balance, diversify, stay } from "./Arrange.ts"
import { type Eligibility, filterEligible } from "./Eligibility.ts"
import { type Exploration, explore, unexplored } from "./Exploration.ts"
import type { RouteHealth } from "./Health.ts"
import { forbidsEffort } from "./LeftOut.ts"
import { depthNeedsModel, noneEligible, type RankFailure } from "./NoneEligible.ts"
import { candidatesOf } from "./RankedCandidates.ts"
import { effortOfMode } from "./ReasoningMode.ts"
import type { RequestFeatures } from "./RequestFeatures.ts"
import { isUnsupported } from "./Requirements.ts"
import { byHealthyRank, byRank, inOrder, reasoningFactor, type Scored, score, unit, weigh } from "./Score.ts"
import { termsAt } from "./Terms.ts"

/** What the ranking knows beside the features of the request. Immutable while it runs. */
export interface RankContext {
  readonly snapshot: Snapshot
  readonly policy: EffectivePolicy
  /** Predicted for this request, 0 to 1. */
  readonly quality: (model: Model) => number
  /** Of the snapshot of grades that `quality` is from; `null` or unset: there is none. */
  readonly qualityVersion?: number | null
  /** Expected length of a response without reasoning, in tokens. */
  readonly outputTokens: (model: Model) => number
  readonly health: (model: Model) => RouteHealth
  readonly nowMillis: number
  readonly billingMode: CallerShape["billingMode"]
  /** The project's credential for a model; unset where calls use those of the providers. */
  readonly credentialOf?: ((model: Model) => ProviderCredential | undefined) | undefined
  /** What the conversation has used before. */
  readonly affinity?: Affinity | undefined
  /** Attempts that are running at the route now. */
  readonly load?: ((model: Model) => number) | undefined
  /** 0 to 1: which two of equal routes are compared by their load. */
  readonly draw?: number | undefined
  /** What the project leaves to chance; unset: nothing. */
  readonly exploration?: Exploration | undefined
}

export interface RankInput extends RankContext {
  readonly request: ChatRequest
  /** Without pinned effort requirements for `auto`; see `featuresOf`. */
  readonly features: RequestFeatures
}

export interface Ranked {
  /** Best first; just one for a pinned model. */
  readonly candidates: Arr.NonEmptyReadonlyArray<Candidate>
  /** The ids of their models, in their order. */
  readonly models: Arr.NonEmptyReadonlyArray<string>
  readonly reason: RoutingReason
  /** The request names its model. */
  readonly pinned: boolean
  readonly fallbackEnabled: boolean
  /** How many models were not eligible, by reason. */
  readonly excluded: Readonly<Record<string, number>>
  readonly features: RequestFeatures
  /** How likely the first candidate was to come first: 1 where nothing was left to chance. */
  readonly propensity: number
  readonly qualityVersion: number | null
  /** Models that would have come before the first candidate if they had not failed so often, best first. */
  readonly resting: ReadonlyArray<string>
  /** Set when the circuit of every candidate is open: until the first of them can be tried. */
  readonly openUntilMillis?: number
}

/** The models that a key may see. */
export type Listable = ReadonlyArray<Model>

/** Whether a request names its model; `auto:<slug>` does not. */
export const isPinned = (requested: string): boolean => requested !== "auto" && !requested.startsWith("auto:")

/** Ranks the eligible models. Pure: the result does not depend on the order of the snapshot. */
export const rank = (input: RankInput): Either.Either<Ranked, RankFailure> => {
  const { features, policy, request } = input
  const pool = poolOf(request.model, input.snapshot)
  if (pool === null) return Either.left(new ModelNotFound({ model: request.model }))
  if (!pool.pinned && typeof request.effort === "number") return Either.left(depthNeedsModel())
  const { eligibility, explored, propensity, scored } = decide(
    pool.models,
    features,
    input,
    pool.pinned ? request.effort : undefined
  )
  if (!Arr.isNonEmptyArray(scored)) return Either.left(noneEligible(request, pool.pinned, eligibility))
  const [best] = scored
  const ranked = pool.pinned ? Arr.of(best) : scored
  return Either.right({
    candidates: candidatesOf(ranked, input, pool.pinned),
    models: Arr.map(ranked, ({ model }) => model.id),
    reason: explored ? "exploration" : reasonOf(scored, policy.alpha, pool.pinned, input.affinity),
    pinned: pool.pinned,
    fallbackEnabled: policy.fallbackEnabled && !pool.pinned,
    excluded: eligibility.excluded,
    features,
    propensity,
    qualityVersion: input.qualityVersion ?? null,
    resting: pool.pinned ? [] : restingBefore(scored, best),
    ...(best.tier >= 2 ? { openUntilMillis: earliestClose(scored) } : {})
  })
}

export interface Replayed {
  readonly model: Model
  /** 0 to 1. */
  readonly quality: number
  readonly expectedCost: MicroUsd
}

/** What `auto` would choose for a request of these features, best first; empty when no model is eligible. */
export const replay = (features: RequestFeatures, context: RankContext): ReadonlyArray<Replayed> =>
  decide(context.snapshot.listed, features, context, undefined).scored.map(({ cost, model, quality }) => ({
    model,
    quality: quality / unit,
    expectedCost: cost
  }))

/**
 * What `auto` would choose first for a request of these features at each of the alphas, where no conversation and no load decides;
 * `undefined` where no model is eligible.
 */
export const choicesAt = (
  features: RequestFeatures,
  context: RankContext,
  alphas: ReadonlyArray<number>
): ReadonlyArray<Replayed | undefined> => {
  const { assessed } = assessAll(context.snapshot.listed, features, context, undefined)
  return alphas.map((alpha) => {
    let first: Scored | undefined
    for (const one of weigh(assessed, alpha)) if (first === undefined || byRank(one, first) < 0) first = one
    return first && { model: first.model, quality: first.quality / unit, expectedCost: first.cost }
  })
}

interface Decision {
  readonly eligibility: Eligibility
  /** Best first, but for what chance, load and the conversation have put before the best. */
  readonly scored: Array<Scored>
  readonly propensity: number
  /** Chance has put another model before the best. */
  readonly explored: boolean
}

/** The decision, from the features alone. A conversation that stays leaves nothing to chance. */
const decide = (
  pool: ReadonlyArray<Model>,
  features: RequestFeatures,
  context: RankContext,
  pinnedEffort: Effort | number | undefined
): Decision => {
  const { affinity, exploration, policy } = context
  const { assessed, eligibility } = assessAll(pool, features, context, pinnedEffort)
  const scored = inOrder(weigh(assessed, policy.alpha))
  const drawn = balance(scored, context.draw, context.load)
  const stays = affinity !== undefined && stay(scored, affinity, policy.alpha)
  const explored = stays || exploration === undefined ? unexplored : explore(scored, exploration)
  const share = explored.isOther ? balance(scored, context.draw, context.load) : drawn
  diversify(scored)
  return {
    eligibility,
    scored,
    propensity: stays ? 1 : explored.propensity * share,
    explored: explored.isOther
  }
}

/** The eligible models with everything that does not depend on alpha. */
const assessAll = (
  pool: ReadonlyArray<Model>,
  features: RequestFeatures,
  context: RankContext,
  pinnedEffort: Effort | number | undefined
): { readonly eligibility: Eligibility; readonly assessed: Array<Scored> } => {
  const { affinity, billingMode, credentialOf, policy } = context
  const termsFor = (model: Model): PriceTerms => termsAt(model, features.terms, billingMode)
  const eligibility = filterEligible(pool, {
    policy,
    maxOutputTokens: features.maxOutputTokens,
    requirements: features.requirements,
    promptTokens: features.promptTokens,
    billingMode,
    termsOf: termsFor,
    costBound: features.costBound,
    reasons: (model) => reasoningFactor(model, effortFor(model, features, pinnedEffort)) > 1,
    credentialOf
  })
  const assessed = score(eligibility.eligible, {
    features,
    effortOf: (model) => effortFor(model, features, pinnedEffort),
    asksForEffort: asksForEffort(features, pinnedEffort),
    termsOf: termsFor,
    qualityOf: context.quality,
    outputTokensOf: context.outputTokens,
    cachedTokensOf:
      affinity === undefined ? nothingCached : ({ id }) => (id === affinity.modelId ? affinity.cachedTokens : 0),
    health: context.health,
    nowMillis: context.nowMillis
  })
  return { eligibility, assessed }
}

const nothingCached = (): number => 0

/** The models of `GET /v1/models`: health, balance and limits do not change them. */
export const listable = (
  snapshot: Snapshot,
  policy: EffectivePolicy,
  billingMode: CallerShape["billingMode"] = "managed"
): Listable =>
  snapshot.listed.filter(
    (model) => excludedBy(policy, model, 0) === null && (model.prices !== null || billingMode === "byok")
  )

/** The models that a request names, as far as the policy allows them. */
export const named = (
  requested: string,
  snapshot: Snapshot,
  policy: EffectivePolicy
): Either.Either<ReadonlyArray<Model>, ModelNotFound> => {
  const pool = poolOf(requested, snapshot)
  const models = pool?.models.filter((model) => excludedBy(policy, model, 0) === null) ?? []
  return models.length === 0 ? Either.left(new ModelNotFound({ model: requested })) : Either.right(models)
}

interface Pool {
  readonly models: ReadonlyArray<Model>
  readonly pinned: boolean
}

/** An `auto:<slug>` was resolved to its configuration at admission; here it is `auto`. */
const poolOf = (requested: string, snapshot: Snapshot): Pool | null => {
  if (!isPinned(requested)) {
    return { models: snapshot.listed, pinned: false }
  }
  const one = snapshot.byId.get(requested)
  if (one !== undefined) return { models: [one], pinned: true }
  const routes = snapshot.byAlias.get(requested) ?? snapshot.byClaudeName.get(claudeName(requested) ?? "")
  if (routes === undefined) return null
  const listed = routes.filter(isListed)
  return { models: listed.length > 0 ? listed : routes, pinned: true }
}

const isListed = (model: Model): boolean => model.listed

const reasonOf = (
  scored: Arr.NonEmptyReadonlyArray<Scored>,
  alpha: number,
  pinned: boolean,
  affinity: Affinity | undefined
): RoutingReason => {
  if (pinned) return "pinned_model"
  const [first] = scored
  if (scored.length === 1) return "only_candidate"
  if (affinity?.modelId === first.model.id) {
    if (affinity.inToolLoop) return "sticky_session"
    if (affinity.cachedTokens > 0 || scored.some((one) => byRank(one, first) < 0)) return "cache_affinity"
  }
  if (scored.some((one) => byHealthyRank(one, first) < 0)) return "health_demotion"
  return alpha === 0 ? "cheapest_eligible" : alpha === 1 ? "highest_quality" : "quality_cost_tradeoff"
}

const asksForEffort = ({ reasoning }: RequestFeatures, pinnedEffort: Effort | number | undefined): boolean =>
  pinnedEffort !== undefined || reasoning?.mode !== undefined

/** `auto` uses the effort of each model's profile; some models reject an effort together with tools. */
const effortFor = (
  model: Model,
  features: RequestFeatures,
  pinnedEffort: Effort | number | undefined
): Effort | number | undefined => {
  if (model.profile.effort === null && !asksForEffort(features, pinnedEffort)) return undefined
  if (isUnsupported(model, "reasoning_effort")) return undefined
  const isNone = pinnedEffort === "none"
  // a model that takes `none` without listing it reasons no more than with nothing
  if (isNone && model.reasoning?.efforts.includes("none") !== true) return undefined
  if (forbidsEffort(model, features.tools)) return isNone && model.toolsForbidEffort ? "none" : undefined
  return pinnedEffort ?? effortOfMode(model, features) ?? model.profile.effort ?? undefined
}

const restingBefore = (scored: ReadonlyArray<Scored>, best: Scored): ReadonlyArray<string> =>
  best.tier >= 2
    ? []
    : scored
        .filter((one) => one.tier > best.tier && byHealthyRank(one, best) < 0)
        .sort(byHealthyRank)
        .map(({ model }) => model.id)

const earliestClose = (scored: Arr.NonEmptyReadonlyArray<Scored>): number => {
  let earliest = Number.POSITIVE_INFINITY
  for (const { openUntilMillis } of scored) earliest = Math.min(earliest, openUntilMillis)
  return earliest
}
