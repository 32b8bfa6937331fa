import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import type { Snapshot } from "../catalog/Catalog.ts"
import type { RoutingReason } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { Candidate } from "../domain/Candidate.ts"
import type { ChatRequest, Effort } from "../domain/Chat.ts"
import { InvalidRequest, ModelNotFound, NoEligibleModel } from "../domain/GatewayError.ts"
import type { Model } from "../domain/Model.ts"
import type { TuningParameter } from "../domain/Support.ts"
import { type Allowed, excludedBy } from "../policy/Narrow.ts"
import { type Sifted, sift } from "./Eligible.ts"
import type { RouteHealth } from "./Health.ts"
import { droppedBy, forbidsEffort, isRefused, needsOf, tuningOf } from "./Needs.ts"
import { byHealthyRank, byRank, nearUtility, rate, type Scored, score, unit } from "./Score.ts"

export interface RankInput {
  readonly snapshot: Snapshot
  readonly allowed: Allowed
  readonly request: ChatRequest
  /** An estimate of the prompt's length. */
  readonly promptTokens: number
  readonly health: (model: Model) => RouteHealth
  readonly nowMillis: number
  readonly billingMode: CallerShape["billingMode"]
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
  /** Set when every candidate rests: the first of them is ready again then. */
  readonly waitingUntilMillis?: number
}

export type RankFailure = ModelNotFound | NoEligibleModel | InvalidRequest

/** The models that a key may see. */
export type Listable = ReadonlyArray<Model>

/** Orders what may take the call. Pure: the same input has the same answer, whatever order the snapshot is in. */
export const rank = (input: RankInput): Either.Either<Ranked, RankFailure> => {
  const { allowed, request, snapshot } = input
  const pool = poolOf(request.model, snapshot)
  if (pool === null) return Either.left(new ModelNotFound({ model: request.model }))
  if (!pool.pinned && typeof request.effort === "number") return Either.left(depthNeedsModel())
  const sifted = sift(pool.models, {
    allowed,
    request,
    needs: needsOf(request, pool.pinned),
    promptTokens: input.promptTokens,
    billingMode: input.billingMode
  })
  const effortOf = (model: Model): Effort | number | undefined => effortFor(model, request, pool.pinned)
  const rated = rate(sifted.eligible, request, input.promptTokens, effortOf)
  const scored = score(rated, allowed.alpha, input.health, input.nowMillis).sort(byRank)
  if (!Arr.isNonEmptyArray(scored)) return Either.left(whyNone(request.model, pool.pinned, sifted))
  diversify(scored)
  const [best] = scored
  const tuning = tuningOf(request)
  const candidates = Arr.map(pool.pinned ? Arr.of(best) : scored, (one) =>
    toCandidate(one, request, tuning, pool.pinned)
  )
  return Either.right({
    candidates,
    reason: reasonOf(scored, allowed.alpha, pool.pinned),
    pinned: pool.pinned,
    fallbackEnabled: allowed.fallbackEnabled && !pool.pinned,
    excluded: sifted.excluded,
    ...(best.tier >= 2 ? { waitingUntilMillis: earliestEnd(scored) } : {})
  })
}

/** What `GET /v1/models` shows: health, balance and limits do not change it. */
export const listable = (
  snapshot: Snapshot,
  allowed: Allowed,
  billingMode: CallerShape["billingMode"] = "managed"
): Listable =>
  snapshot.models.filter(
    (model) =>
      model.listed && excludedBy(allowed, model, 0) === null && (model.prices !== null || billingMode === "byok")
  )

interface Pool {
  readonly models: ReadonlyArray<Model>
  readonly pinned: boolean
}

/** The gateway has resolved an `auto:<slug>` to its configuration; here it is `auto`. */
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
    message: "A numeric reasoning effort needs a concrete model that takes one.",
    param: "reasoning_effort"
  })

/** The stage that has left nothing says which error it is; what the project excludes does not exist for its keys. */
const whyNone = (requested: string, pinned: boolean, sifted: Sifted): RankFailure => {
  const { byProject, capable, excluded, permitted, worst } = sifted
  if (permitted === 0) {
    const total = Object.values(excluded).reduce((sum, count) => sum + count, 0)
    return pinned && byProject === total ? new ModelNotFound({ model: requested }) : new NoEligibleModel({ excluded })
  }
  if (capable === 0 && worst !== null) {
    return new InvalidRequest({
      code: "unsupported_for_provider",
      message: `${pinned ? `The model '${requested}' does` : "The models that could take this call do"} not support ${worst.what}.`,
      param: worst.param
    })
  }
  return new InvalidRequest({
    code: "context_length_exceeded",
    message: `Prompt and wanted output are longer than ${pinned ? `the model '${requested}' takes` : "every eligible model takes"}.`,
    param: "messages"
  })
}

/** A fallback on the same sick provider is wasted, so the second candidate is another provider's when one is near. */
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

/** `auto` runs each model by its own profile; some models take no effort next to tools. */
const effortFor = (model: Model, request: ChatRequest, pinned: boolean): Effort | number | undefined => {
  if (forbidsEffort(model, request) || isRefused(model, "reasoning_effort")) return undefined
  return (pinned ? request.effort : undefined) ?? model.profile.effort ?? undefined
}

const toCandidate = (
  scored: Scored,
  request: ChatRequest,
  tuning: ReadonlyArray<TuningParameter>,
  pinned: boolean
): Candidate => {
  const dropped = droppedBy(scored.model, request, tuning, scored.effort)
  const effortIgnored = request.effort !== undefined && (!pinned || scored.effort === undefined)
  return {
    model: scored.model,
    quality: scored.quality / unit,
    expectedCost: scored.cost,
    score: scored.utility / (unit * unit),
    effort: scored.effort,
    dropped: effortIgnored ? [...dropped, "reasoning_effort"] : dropped
  }
}

const earliestEnd = (scored: Arr.NonEmptyReadonlyArray<Scored>): number => {
  let earliest = Number.POSITIVE_INFINITY
  for (const { restingUntilMillis } of scored) earliest = Math.min(earliest, restingUntilMillis)
  return earliest
}
