import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import type { Snapshot } from "../catalog/Catalog.ts"
import type { RoutingReason } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { Candidate } from "../domain/Candidate.ts"
import type { ChatRequest, Effort } from "../domain/Chat.ts"
import { InvalidRequest, ModelNotFound, NoEligibleModel } from "../domain/GatewayError.ts"
import type { Model } from "../domain/Model.ts"
import type { PriceTerms } from "../domain/Prices.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import type { TuningParameter } from "../domain/Support.ts"
import { type EffectivePolicy, excludedBy } from "../policy/EffectivePolicy.ts"
import { type Eligibility, filterEligible } from "./Eligibility.ts"
import type { RouteHealth } from "./Health.ts"
import { addsUserTurn, forbidsEffort, leftOutOf } from "./LeftOut.ts"
import { isUnsupported, requirementsOf, tuningOf } from "./Requirements.ts"
import { byHealthyRank, byRank, nearUtility, rate, type Scored, score, unit } from "./Score.ts"
import { isUnpriced, termsAt, termsOf } from "./Terms.ts"

export interface RankInput {
  readonly snapshot: Snapshot
  readonly policy: EffectivePolicy
  readonly request: ChatRequest
  /** Estimated length of the prompt. */
  readonly promptTokens: number
  readonly health: (model: Model) => RouteHealth
  readonly nowMillis: number
  readonly billingMode: CallerShape["billingMode"]
  /** The project's credential for a model; unset where calls use those of the providers. */
  readonly credentialOf?: ((model: Model) => ProviderCredential | undefined) | undefined
}

export interface Ranked {
  /** Best first; just one for a pinned model. */
  readonly candidates: Arr.NonEmptyReadonlyArray<Candidate>
  readonly reason: RoutingReason
  /** The request names its model. */
  readonly pinned: boolean
  readonly fallbackEnabled: boolean
  /** How many models were not eligible, by reason. */
  readonly excluded: Readonly<Record<string, number>>
  /** Models that would have come before the first candidate if they had not failed so often, best first. */
  readonly resting: ReadonlyArray<string>
  /** Set when the circuit of every candidate is open: until the first of them can be tried. */
  readonly openUntilMillis?: number
}

export type RankFailure = ModelNotFound | NoEligibleModel | InvalidRequest

/** The models that a key may see. */
export type Listable = ReadonlyArray<Model>

/** Ranks the eligible models. Pure: the result does not depend on the order of the snapshot. */
export const rank = (input: RankInput): Either.Either<Ranked, RankFailure> => {
  const { policy, request, snapshot } = input
  const pool = poolOf(request.model, snapshot)
  if (pool === null) return Either.left(new ModelNotFound({ model: request.model }))
  if (!pool.pinned && typeof request.effort === "number") return Either.left(depthNeedsModel())
  const terms = termsOf(request)
  const termsFor = (model: Model): PriceTerms => termsAt(model, terms, input.billingMode)
  const eligibility = filterEligible(pool.models, {
    policy,
    request,
    requirements: requirementsOf(request, pool.pinned),
    promptTokens: input.promptTokens,
    billingMode: input.billingMode,
    termsOf: termsFor,
    credentialOf: input.credentialOf
  })
  const effortOf = (model: Model): Effort | number | undefined => effortFor(model, request, pool.pinned)
  const rated = rate(eligibility.eligible, request, input.promptTokens, effortOf, termsFor)
  const scored = score(rated, policy.alpha, input.health, input.nowMillis).sort(byRank)
  if (!Arr.isNonEmptyArray(scored)) return Either.left(noneEligible(request.model, pool.pinned, eligibility))
  diversify(scored)
  const [best] = scored
  const tuning = tuningOf(request)
  const candidates = Arr.map(pool.pinned ? Arr.of(best) : scored, (one) =>
    toCandidate(one, input, tuning, terms, pool.pinned)
  )
  return Either.right({
    candidates,
    reason: reasonOf(scored, policy.alpha, pool.pinned),
    pinned: pool.pinned,
    fallbackEnabled: policy.fallbackEnabled && !pool.pinned,
    excluded: eligibility.excluded,
    resting: pool.pinned ? [] : restingBefore(scored, best),
    ...(best.tier >= 2 ? { openUntilMillis: earliestClose(scored) } : {})
  })
}

/** The models of `GET /v1/models`: health, balance and limits do not change them. */
export const listable = (
  snapshot: Snapshot,
  policy: EffectivePolicy,
  billingMode: CallerShape["billingMode"] = "managed"
): Listable =>
  snapshot.models.filter(
    (model) =>
      model.listed && excludedBy(policy, model, 0) === null && (model.prices !== null || billingMode === "byok")
  )

interface Pool {
  readonly models: ReadonlyArray<Model>
  readonly pinned: boolean
}

/** An `auto:<slug>` was resolved to its configuration at admission; here it is `auto`. */
const poolOf = (requested: string, snapshot: Snapshot): Pool | null => {
  if (requested === "auto" || requested.startsWith("auto:")) {
    return { models: snapshot.models.filter(isListed), pinned: false }
  }
  const one = snapshot.byId.get(requested)
  if (one !== undefined) return { models: [one], pinned: true }
  const routes = snapshot.byAlias.get(requested)
  if (routes === undefined) return null
  const listed = routes.filter(isListed)
  return { models: listed.length > 0 ? listed : routes, pinned: true }
}

const isListed = (model: Model): boolean => model.listed

const depthNeedsModel = (): InvalidRequest =>
  new InvalidRequest({
    code: "unsupported_value",
    message: "A numeric reasoning effort requires a concrete model that supports one.",
    param: "reasoning_effort"
  })

/** The first stage without a model decides the error; to a project's keys, models that the project excludes do not exist. */
const noneEligible = (requested: string, pinned: boolean, sifted: Eligibility): RankFailure => {
  const { byProject, capable, excluded, largestExclusion, permitted } = sifted
  if (permitted === 0) {
    const total = Object.values(excluded).reduce((sum, count) => sum + count, 0)
    return pinned && byProject === total ? new ModelNotFound({ model: requested }) : new NoEligibleModel({ excluded })
  }
  if (capable === 0 && largestExclusion !== null) {
    return new InvalidRequest({
      code: "unsupported_for_provider",
      message: `${pinned ? `The model '${requested}' does` : "The models that could take this call do"} not support ${largestExclusion.what}.`,
      param: largestExclusion.param
    })
  }
  return new InvalidRequest({
    code: "context_length_exceeded",
    message: `Prompt and requested output are longer than ${pinned ? `the model '${requested}' supports` : "any eligible model supports"}.`,
    param: "messages"
  })
}

/** A failing provider often fails for all its models, so the second candidate is another provider's when one is near in utility. */
const diversify = (scored: Array<Scored>): void => {
  const [first, second] = scored
  if (first === undefined || second === undefined || second.model.providerId !== first.model.providerId) return
  for (let at = 2; at < scored.length; at++) {
    const other = scored[at]
    if (other === undefined || other.tier !== second.tier || second.utility - other.utility > nearUtility) return
    if (other.model.providerId !== first.model.providerId) {
      scored.splice(at, 1)
      scored.splice(1, 0, other)
      return
    }
  }
}

const reasonOf = (scored: Arr.NonEmptyReadonlyArray<Scored>, alpha: number, pinned: boolean): RoutingReason => {
  if (pinned) return "pinned_model"
  const [first] = scored
  if (scored.length === 1) return "only_candidate"
  if (scored.some((one) => byHealthyRank(one, first) < 0)) return "health_demotion"
  return alpha === 0 ? "cheapest_eligible" : alpha === 1 ? "highest_quality" : "quality_cost_tradeoff"
}

/** `auto` uses the effort of each model's profile; some models reject an effort together with tools. */
const effortFor = (model: Model, request: ChatRequest, pinned: boolean): Effort | number | undefined => {
  if (isUnsupported(model, "reasoning_effort")) return undefined
  const isNone = pinned && request.effort === "none"
  // a model that takes `none` without listing it reasons no more than with nothing
  if (isNone && model.reasoning?.efforts.includes("none") !== true) return undefined
  if (forbidsEffort(model, request)) return isNone && model.toolsForbidEffort ? "none" : undefined
  return (pinned ? request.effort : undefined) ?? model.profile.effort ?? undefined
}

const toCandidate = (
  scored: Scored,
  { billingMode, credentialOf, request }: RankInput,
  tuning: ReadonlyArray<TuningParameter>,
  terms: PriceTerms,
  pinned: boolean
): Candidate => {
  const { model } = scored
  const { altered, dropped } = leftOutOf(model, request, tuning, scored.effort, (name) =>
    isUnpriced(model, name, terms, billingMode)
  )
  const effortIgnored = request.effort !== undefined && (!pinned || scored.effort === undefined)
  const { ignored } = request
  const noted = ignored === undefined || ignored.length === 0 ? dropped : [...dropped, ...ignored]
  return {
    model,
    quality: scored.quality / unit,
    expectedCost: scored.cost,
    score: scored.utility / (unit * unit),
    effort: scored.effort,
    dropped: effortIgnored ? [...noted, "reasoning_effort"] : noted,
    altered,
    notes: addsUserTurn(model, request) ? userTurnAdded : noNotes,
    terms: termsAt(model, terms, billingMode),
    credential: credentialOf?.(model)
  }
}

const restingBefore = (scored: ReadonlyArray<Scored>, best: Scored): ReadonlyArray<string> =>
  best.tier >= 2
    ? []
    : scored
        .filter((one) => one.tier > best.tier && byHealthyRank(one, best) < 0)
        .sort(byHealthyRank)
        .map(({ model }) => model.id)

const userTurnAdded = ["user_turn_added"] as const
const noNotes: ReadonlyArray<never> = []

const earliestClose = (scored: Arr.NonEmptyReadonlyArray<Scored>): number => {
  let earliest = Number.POSITIVE_INFINITY
  for (const { openUntilMillis } of scored) earliest = Math.min(earliest, openUntilMillis)
  return earliest
}
