import * as Arr from "effect/Array"
import type { CallerShape } from "../domain/Caller.ts"
import type { Candidate, Candidates } from "../domain/Candidate.ts"
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

/** The candidates in the order of their scores, which they outlive. All else about one is derived where it is asked for. */
export const candidatesOf = (
  scores: Scores,
  order: Arr.NonEmptyReadonlyArray<number>,
  context: CandidateContext,
  pinned: boolean
): Candidates => {
  const { credentialOf, request } = context
  const { models } = scores.table
  return new RankedCandidates({
    context,
    pinned,
    extras: extrasOf(request),
    models,
    order,
    costs: inOrder(order, scores.costs),
    qualities: inOrder(order, scores.qualities),
    utilities: inOrder(order, scores.utilities),
    efforts: scores.hasEfforts ? order.map((at) => scores.efforts[at]) : [],
    // which of several it is depends on the time
    credentials: credentialOf === undefined ? [] : order.map((at) => credentialOf(modelAt(models, at)))
  })
}

/** By a loop, 1.2 µs for the lists of 100 models against 3.5: what `map` makes is converted at the first number that is not small. */
const inOrder = (order: ReadonlyArray<number>, scores: Float64Array): ReadonlyArray<number> => {
  const ordered = new Array<number>(order.length)
  for (let rank = 0; rank < ordered.length; rank++) ordered[rank] = scores[order[rank] ?? 0] ?? 0
  return ordered
}

/** Of all candidates of a request; the lists but `models` are in their order. */
interface Ranking {
  readonly context: CandidateContext
  readonly pinned: boolean
  readonly extras: RequestExtras
  readonly models: ReadonlyArray<Model>
  /** Places in `models`. */
  readonly order: Arr.NonEmptyReadonlyArray<number>
  readonly costs: ReadonlyArray<number>
  readonly qualities: ReadonlyArray<number>
  readonly utilities: ReadonlyArray<number>
  readonly efforts: ReadonlyArray<Candidate["effort"]>
  readonly credentials: ReadonlyArray<ProviderCredential | undefined>
}

class RankedCandidates implements Candidates {
  readonly first: Candidate
  readonly size: number
  readonly #ranking: Ranking
  readonly #others: Array<Candidate | undefined> = []

  constructor(ranking: Ranking) {
    this.#ranking = ranking
    this.size = ranking.order.length
    this.first = new RankedCandidate(ranking, 0)
  }

  at(rank: number): Candidate | undefined {
    if (rank === 0) return this.first
    return rank > 0 && rank < this.size ? this.other(rank) : undefined
  }

  all(): Arr.NonEmptyReadonlyArray<Candidate> {
    return Arr.map(this.#ranking.order, (_, rank) => (rank === 0 ? this.first : this.other(rank)))
  }

  private other(rank: number): Candidate {
    const known = this.#others[rank]
    if (known !== undefined) return known
    const made = new RankedCandidate(this.#ranking, rank)
    this.#others[rank] = made
    return made
  }
}

const modelAt = (models: ReadonlyArray<Model>, at: number | undefined): Model => {
  const model = at === undefined ? undefined : models[at]
  if (model === undefined) throw new Error("a ranking names places of its pool")
  return model
}

class RankedCandidate implements Candidate {
  readonly model: Model
  readonly #ranking: Ranking
  readonly #at: number
  #leftOut: LeftOut | undefined

  constructor(ranking: Ranking, at: number) {
    this.model = modelAt(ranking.models, ranking.order[at])
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
  if (losesCacheTtl(model, request, dropped, billingMode)) dropped.push("cache_control.ttl")
  if (request.effort !== undefined) {
    if (effort === undefined) dropped.push("reasoning_effort")
    // the model's own is sent, or the nearest
    else if (!pinned || effort !== request.effort) altered.push("reasoning_effort")
  }
  return { dropped, altered }
}
