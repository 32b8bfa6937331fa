import type * as Arr from "effect/Array"
import type { CallerShape } from "../domain/Caller.ts"
import type { Candidate } from "../domain/Candidate.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { Model } from "../domain/Model.ts"
import { type MicroUsd, microUsd } from "../domain/Money.ts"
import type { PriceTerms } from "../domain/Prices.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import { addsUserTurn, extrasOf, type LeftOut, leftOutOf, losesCacheTtl, type RequestExtras } from "./LeftOut.ts"
import type { RequestFeatures } from "./RequestFeatures.ts"
import { type Scores, unit } from "./Score.ts"
import { isUnpriced, termsAt } from "./Terms.ts"

/** What candidates are derived from besides their scores. */
export interface CandidateContext {
  readonly request: ChatRequest
  readonly features: Pick<RequestFeatures, "terms">
  readonly billingMode: CallerShape["billingMode"]
  readonly credentialOf?: ((model: Model) => ProviderCredential | undefined) | undefined
}

/**
 * The candidates in the order of their scores, which they outlive. Of a hundred one or two are tried: each is a few words, and all
 * else about it is derived where it is asked for.
 */
export const candidatesOf = (
  scores: Scores,
  order: Arr.NonEmptyReadonlyArray<number>,
  context: CandidateContext,
  pinned: boolean
): Arr.NonEmptyReadonlyArray<Candidate> => {
  const { credentialOf, request } = context
  const { models } = scores.table
  const ranking: Ranking = {
    context,
    pinned,
    extras: extrasOf(request),
    costs: order.map((at) => scores.costs[at] ?? 0),
    qualities: order.map((at) => scores.qualities[at] ?? 0),
    utilities: order.map((at) => scores.utilities[at] ?? 0),
    efforts: order.map((at) => scores.efforts[at]),
    // which of several it is depends on the time
    credentials: credentialOf === undefined ? [] : order.map((at) => credentialOf(modelAt(models, at)))
  }
  const candidates: Arr.NonEmptyArray<Candidate> = [new RankedCandidate(modelAt(models, order[0]), ranking, 0)]
  for (let rank = 1; rank < order.length; rank++) {
    candidates.push(new RankedCandidate(modelAt(models, order[rank]), ranking, rank))
  }
  return candidates
}

const modelAt = (models: ReadonlyArray<Model>, at: number | undefined): Model => {
  const model = at === undefined ? undefined : models[at]
  if (model === undefined) throw new Error("a ranking names places of its pool")
  return model
}

/** Of all candidates of a request, each list in their order. */
interface Ranking {
  readonly context: CandidateContext
  readonly pinned: boolean
  readonly extras: RequestExtras
  readonly costs: ReadonlyArray<number>
  readonly qualities: ReadonlyArray<number>
  readonly utilities: ReadonlyArray<number>
  readonly efforts: ReadonlyArray<Candidate["effort"]>
  readonly credentials: ReadonlyArray<ProviderCredential | undefined>
}

class RankedCandidate implements Candidate {
  readonly model: Model
  readonly #ranking: Ranking
  readonly #at: number
  #leftOut: LeftOut | undefined

  constructor(model: Model, ranking: Ranking, at: number) {
    this.model = model
    this.#ranking = ranking
    this.#at = at
  }

  get quality(): number {
    return (this.#ranking.qualities[this.#at] ?? 0) / unit
  }

  get expectedCost(): MicroUsd {
    return microUsd(this.#ranking.costs[this.#at] ?? 0)
  }

  get score(): number {
    return (this.#ranking.utilities[this.#at] ?? 0) / (unit * unit)
  }

  get effort(): Candidate["effort"] {
    return this.#ranking.efforts[this.#at]
  }

  get terms(): PriceTerms {
    const { billingMode, features } = this.#ranking.context
    return termsAt(this.model, features.terms, billingMode)
  }

  get credential(): ProviderCredential | undefined {
    return this.#ranking.credentials[this.#at]
  }

  get dropped(): ReadonlyArray<string> {
    return this.readLeftOut().dropped
  }

  get altered(): ReadonlyArray<string> {
    return this.readLeftOut().altered
  }

  get notes(): Candidate["notes"] {
    return addsUserTurn(this.model, this.#ranking.context.request) ? userTurnAdded : noNotes
  }

  private readLeftOut(): LeftOut {
    this.#leftOut ??= leftOutOfCandidate(this.model, this.effort, this.#ranking)
    return this.#leftOut
  }
}

const userTurnAdded = ["user_turn_added"] as const
const noNotes: ReadonlyArray<never> = []

const leftOutOfCandidate = (
  model: Model,
  effort: Candidate["effort"],
  { context: { billingMode, features, request }, extras, pinned }: Ranking
): LeftOut => {
  const { altered, dropped } = leftOutOf(model, request, extras, effort, (name) =>
    isUnpriced(model, name, features.terms, billingMode)
  )
  const effortIgnored = request.effort !== undefined && (!pinned || effort === undefined)
  const { ignored } = request
  const isTtlLost = losesCacheTtl(model, request, dropped, billingMode)
  const known = isTtlLost ? [...dropped, "cache_control.ttl"] : dropped
  const noted = ignored === undefined || ignored.length === 0 ? known : [...known, ...ignored]
  return { dropped: effortIgnored ? [...noted, "reasoning_effort"] : noted, altered }
}
