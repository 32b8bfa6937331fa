import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import type { Snapshot } from "../catalog/Catalog.ts"
import type { RoutingReason } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { Candidates } from "../domain/Candidate.ts"
import type { ChatRequest, Effort } from "../domain/Chat.ts"
import { ModelNotFound } from "../domain/GatewayError.ts"
import type { Model } from "../domain/Model.ts"
import { type MicroUsd, microUsd } from "../domain/Money.ts"
import type { PriceTerms } from "../domain/Prices.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import type { EffectivePolicy } from "../policy/EffectivePolicy.ts"
import { type Affinity, balance, diversify, stay } from "./Arrange.ts"
import { type Eligibility, filterEligible } from "./Eligibility.ts"
import { type Exploration, explore, unexplored } from "./Exploration.ts"
import { forbidsEffort } from "./LeftOut.ts"
import { poolOf } from "./ModelPool.ts"
import { type ModelFigures, type ModelTable, tableOf } from "./ModelTable.ts"
import { depthNeedsModel, noneEligible, type RankFailure } from "./NoneEligible.ts"
import { candidatesOf } from "./RankedCandidates.ts"
import { reasoningFactor } from "./ReasoningFactor.ts"
import { effortOfMode, listedEffort, reasonsUnlessTold } from "./ReasoningMode.ts"
import type { RequestFeatures } from "./RequestFeatures.ts"
import { isUnsupported } from "./Requirements.ts"
import type { RouteHealth } from "./RouteHealth.ts"
import { bestOf, byHealthyRank, byRank, inOrder, type Scores, score, unit, weigh } from "./Score.ts"
import { termsAt } from "./Terms.ts"

/** What the ranking knows beside the features of the request. Immutable while it runs. */
export interface RankContext {
  readonly snapshot: Snapshot
  readonly policy: EffectivePolicy
  /** Predicted for this request, 0 to 1. */
  readonly quality: ModelFigures
  /** Of the snapshot of grades that `quality` is from; `null` or unset: there is none. */
  readonly qualityVersion?: number | null
  /** Expected length of a response without reasoning, in tokens. */
  readonly outputTokens: ModelFigures
  readonly health: (model: Model) => RouteHealth
  /** The places of the routes that `health` says anything of; unset or `null`: of all. */
  readonly knownIn?: ((places: ModelTable["places"]) => ReadonlyArray<number> | null) | undefined
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
  /** Just one for a pinned model. */
  readonly candidates: Candidates
  /** The ids of their models, in their order; the same array as of the ranking before where the order is the same. */
  readonly models: Arr.NonEmptyReadonlyArray<string>
  /** The place in them of the one of the highest quality; of equals the first. */
  readonly highestQuality: number
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

/** Ranks the eligible models. Pure: the result does not depend on the order of the snapshot. */
export const rank = (input: RankInput): Either.Either<Ranked, RankFailure> => {
  const { features, policy, request } = input
  const pool = poolOf(request.model, input.snapshot)
  if (pool === null) return Either.left(new ModelNotFound({ model: request.model }))
  if (!pool.pinned && typeof request.effort === "number") return Either.left(depthNeedsModel())
  const { eligibility, explored, order, propensity, scores } = decide(
    pool.models,
    features,
    input,
    pool.pinned ? request.effort : undefined
  )
  if (!Arr.isNonEmptyArray(order)) return Either.left(noneEligible(request, pool.pinned, eligibility))
  const [best] = order
  const ranked = pool.pinned ? Arr.of(best) : order
  const bestTier = scores.tiers[best] ?? 0
  return Either.right({
    candidates: candidatesOf(scores, ranked, input, pool.pinned),
    models: idsOf(scores.table, ranked),
    highestQuality: highestOf(scores.qualities, ranked),
    reason: explored ? "exploration" : reasonOf(scores, order, policy.alpha, pool.pinned, input.affinity),
    pinned: pool.pinned,
    fallbackEnabled: policy.fallbackEnabled && !pool.pinned,
    excluded: eligibility.excluded,
    features,
    propensity,
    qualityVersion: input.qualityVersion ?? null,
    resting: pool.pinned || scores.areWell || bestTier >= 2 ? nothingResting : restingBefore(scores, order, best),
    ...(bestTier >= 2 ? { openUntilMillis: earliestClose(scores, order) } : {})
  })
}

export interface Replayed {
  readonly model: Model
  /** 0 to 1. */
  readonly quality: number
  readonly expectedCost: MicroUsd
}

/** What `auto` would choose for a request of these features, best first; empty when no model is eligible. */
export const replay = (features: RequestFeatures, context: RankContext): ReadonlyArray<Replayed> => {
  const { order, scores } = decide(context.snapshot.listed, features, context, undefined)
  return order.flatMap((at) => replayedAt(scores, at) ?? [])
}

/**
 * What `auto` would choose first for a request of these features at each of the alphas, where no conversation and no load decides;
 * `undefined` where no model is eligible.
 */
export const choicesAt = (
  features: RequestFeatures,
  context: RankContext,
  alphas: ReadonlyArray<number>
): ReadonlyArray<Replayed | undefined> => {
  const { eligibility, scores } = assessAll(context.snapshot.listed, features, context, undefined)
  return alphas.map((alpha) => {
    weigh(scores, eligibility.eligible, alpha)
    const first = bestOf(scores, eligibility.eligible)
    return first === undefined ? undefined : replayedAt(scores, first)
  })
}

const replayedAt = ({ costs, qualities, table }: Scores, at: number): Replayed | undefined => {
  const model = table.models[at]
  return model && { model, quality: (qualities[at] ?? 0) / unit, expectedCost: microUsd(costs[at] ?? 0) }
}

interface Decision {
  readonly eligibility: Eligibility
  readonly scores: Scores
  /** The places of the eligible models, best first, but for what chance, load and the conversation have put before the best. */
  readonly order: Array<number>
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
  const { eligibility, scores } = assessAll(pool, features, context, pinnedEffort)
  weigh(scores, eligibility.eligible, policy.alpha)
  const order = inOrder(scores, eligibility.eligible)
  const drawn = balance(scores, order, context.draw, context.load)
  const stays = affinity !== undefined && stay(scores, order, affinity, policy.alpha)
  const explored = stays || exploration === undefined ? unexplored : explore(scores, order, exploration)
  const share = explored.isOther ? balance(scores, order, context.draw, context.load) : drawn
  diversify(scores, order)
  return {
    eligibility,
    scores,
    order,
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
): { readonly eligibility: Eligibility; readonly scores: Scores } => {
  const { affinity, billingMode, credentialOf, policy } = context
  const table = tableOf(pool)
  const termsFor = (model: Model): PriceTerms => termsAt(model, features.terms, billingMode)
  const eligibility = filterEligible(table, {
    policy,
    maxOutputTokens: features.maxOutputTokens,
    requirements: features.requirements,
    promptTokens: features.promptTokens,
    imagesAndFiles: features.imagesAndFiles,
    billingMode,
    terms: features.terms,
    termsOf: termsFor,
    costBound: features.costBound,
    reasons: (model) => reasoningFactor(model, effortFor(model, features, pinnedEffort)) > 1,
    credentialOf
  })
  const scores = score(table, eligibility.eligible, {
    features,
    effortOf: (model) => effortFor(model, features, pinnedEffort),
    asksForEffort: asksForEffort(features, pinnedEffort),
    termsOf: termsFor,
    quality: context.quality,
    outputTokens: context.outputTokens,
    cached: affinity && { modelId: affinity.modelId, tokens: affinity.cachedTokens },
    health: context.health,
    known: context.knownIn?.(table.places) ?? null,
    nowMillis: context.nowMillis
  })
  return { eligibility, scores }
}

interface Listing {
  readonly order: ReadonlyArray<number>
  readonly ids: Arr.NonEmptyReadonlyArray<string>
}

const lastListings = new WeakMap<ModelTable, Listing>()

/** Mostly the order is that of the ranking before: a hundred names for each call would be most of what it keeps. */
const idsOf = (table: ModelTable, order: Arr.NonEmptyReadonlyArray<number>): Arr.NonEmptyReadonlyArray<string> => {
  const last = lastListings.get(table)
  if (last !== undefined && isSame(last.order, order)) return last.ids
  // later calls are told the same list
  const ids = Object.freeze(Arr.map(order, (at) => table.models[at]?.id ?? ""))
  lastListings.set(table, { order, ids })
  return ids
}

const isSame = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): boolean => {
  if (a.length !== b.length) return false
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false
  return true
}

const highestOf = (qualities: Float64Array, order: ReadonlyArray<number>): number => {
  let highest = 0
  for (let rank = 1; rank < order.length; rank++) {
    if ((qualities[order[rank] ?? 0] ?? 0) > (qualities[order[highest] ?? 0] ?? 0)) highest = rank
  }
  return highest
}

const reasonOf = (
  scores: Scores,
  order: Arr.NonEmptyReadonlyArray<number>,
  alpha: number,
  pinned: boolean,
  affinity: Affinity | undefined
): RoutingReason => {
  if (pinned) return "pinned_model"
  const [first] = order
  if (order.length === 1) return "only_candidate"
  if (affinity !== undefined && scores.table.places.get(affinity.modelId) === first) {
    if (affinity.inToolLoop) return "sticky_session"
    if (affinity.cachedTokens > 0 || order.some((at) => byRank(scores, at, first) < 0)) return "cache_affinity"
  }
  if (!scores.areWell && order.some((at) => byHealthyRank(scores, at, first) < 0)) return "health_demotion"
  return alpha === 0 ? "cheapest_eligible" : alpha === 1 ? "highest_quality" : "quality_cost_tradeoff"
}

const asksForEffort = ({ reasoning }: RequestFeatures, pinnedEffort: Effort | number | undefined): boolean =>
  pinnedEffort !== undefined || reasoning?.mode !== undefined

/** `auto` uses the effort of each model's profile; some models reject an effort other than `none` together with tools. */
const effortFor = (
  model: Model,
  features: RequestFeatures,
  pinnedEffort: Effort | number | undefined
): Effort | number | undefined => {
  const isTold = features.tools !== "none" && reasonsUnlessTold(model)
  if (model.profile.effort === null && !isTold && !asksForEffort(features, pinnedEffort)) return undefined
  if (isUnsupported(model, "reasoning_effort")) return undefined
  if (isTold) return "none"
  const isNone = pinnedEffort === "none"
  // a model that takes `none` without listing it reasons no more than with nothing
  if (isNone && model.reasoning?.efforts.includes("none") !== true) return undefined
  if (forbidsEffort(model, features.tools)) return isNone && model.toolsForbidEffort ? "none" : undefined
  if (pinnedEffort !== undefined) return listedEffort(model, pinnedEffort)
  return effortOfMode(model, features) ?? model.profile.effort ?? undefined
}

const nothingResting: ReadonlyArray<string> = []

const restingBefore = (scores: Scores, order: ReadonlyArray<number>, best: number): ReadonlyArray<string> => {
  const { table, tiers } = scores
  const bestTier = tiers[best] ?? 0
  const resting = order.filter((at) => (tiers[at] ?? 0) > bestTier && byHealthyRank(scores, at, best) < 0)
  return resting.length === 0
    ? nothingResting
    : resting.sort((a, b) => byHealthyRank(scores, a, b)).map((at) => table.models[at]?.id ?? "")
}

const earliestClose = ({ openUntilMillis }: Scores, order: ReadonlyArray<number>): number => {
  let earliest = Number.POSITIVE_INFINITY
  for (const at of order) earliest = Math.min(earliest, openUntilMillis[at] ?? 0)
  return earliest
}
