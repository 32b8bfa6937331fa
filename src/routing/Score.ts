import type { Effort } from "../domain/Chat.ts"
import { byCodePoint } from "../domain/CodePointOrder.ts"
import type { Model } from "../domain/Model.ts"
import { type MicroUsd, microUsd, perMillion, zero } from "../domain/Money.ts"
import { feeOf, listOf, type PriceTerms, plainTerms, ratesFor } from "../domain/Prices.ts"
import { priorFailure } from "./Breaker.ts"
import type { RouteHealth } from "./Health.ts"
import type { RequestFeatures } from "./RequestFeatures.ts"

/**
 * The scores of one eligible route. Its utility is `alpha * quality - (1 - alpha) * 0.25 * L`, where `L` from 0 to 1 is the
 * position of its cost between the lowest and the highest on a log scale. Quality, cost and alpha are whole units, so that the
 * sums are exact: then the expected cost of the best route never falls as alpha rises, whatever the pool.
 */
export interface Scored {
  model: Model
  facts: ModelFacts
  /** Its place among the eligible routes, whatever its rank. */
  readonly at: number
  effort: Effort | number | undefined
  /** Expected, as `dearness`: known once all routes are. */
  cost: MicroUsd
  /** 0 ready, 1 mostly failing, 2 circuit open, 3 both. */
  tier: number
  /** Quality reduced by the probability of failure, in units. */
  quality: number
  healthyQuality: number
  /** The position of its cost times its weight, in units. */
  dearness: number
  /** At the alpha of the last `weigh`. */
  utility: number
  /** The utility without failures. */
  healthyUtility: number
  /** Binary logarithm of the latency; a route without data comes first, so that it is measured. */
  latency: number
  openUntilMillis: number
}

export const unit = 1_000_000

/** Weight of the difference between lowest and highest cost against quality. */
const costWeight = 0.25

/** Costs below this share of the highest are all lowest: beside a free route all others would look equally dear. */
const maxCostRatio = 1_000

/** Utilities within this distance are equal for the choice of the second candidate. */
export const nearUtility = 0.02 * unit * unit

/** A conversation stays with its model while the utility of another is higher by no more than this. */
export const hysteresis = 0.02 * unit * unit

/** A route with a higher probability of failure ranks behind the others. */
const mostlyFailing = 0.5

/** A reasoning model writes a multiple of what others write. */
const reasoningFactors: Readonly<Record<Effort, number>> = {
  none: 1,
  minimal: 1.5,
  low: 2,
  medium: 4,
  high: 8,
  xhigh: 12,
  max: 16
}

/**
 * What a score needs of its model where the request asks for nothing special, in one object: a hundred models are a thousand
 * objects, which a busy processor no longer has in its cache.
 */
interface ModelFacts {
  readonly isPriced: boolean
  /** The rates depend on the length of the prompt. */
  readonly isTiered: boolean
  /** Rates of the provider's standard tier; 0 without prices. */
  readonly input: number
  readonly output: number
  /** Of prompt tokens that the provider has cached. */
  readonly cached: number
  /** `Infinity`: not limited. */
  readonly maxOutputTokens: number
  /** How many times as much the model writes as without reasoning, where no effort is sent. */
  readonly factor: number
  /** An effort is sent for it where the request asks for none. */
  readonly hasEffort: boolean
}

const known = new WeakMap<Model, ModelFacts>()

const factsOf = (model: Model): ModelFacts => {
  const before = known.get(model)
  if (before !== undefined) return before
  const { outputTokens, prices, profile } = model
  const facts: ModelFacts = {
    isPriced: prices !== null,
    isTiered: prices !== null && prices.tiers.length > 0,
    input: prices?.input ?? 0,
    output: prices?.output ?? 0,
    cached: prices?.cacheRead ?? prices?.input ?? 0,
    maxOutputTokens: Math.min(
      outputTokens ?? Number.POSITIVE_INFINITY,
      profile.maxOutputTokens ?? Number.POSITIVE_INFINITY
    ),
    factor: reasoningFactor(model, undefined),
    hasEffort: profile.effort !== null
  }
  known.set(model, facts)
  return facts
}

/** What the costs and the scores of the eligible models are told from. */
export interface Expectations {
  readonly features: RequestFeatures
  /** Asked for models that have an effort of their own, or all if the request asks for one. */
  readonly effortOf: (model: Model) => Effort | number | undefined
  readonly asksForEffort: boolean
  readonly termsOf: (model: Model) => PriceTerms
  /** 0 to 1. */
  readonly qualityOf: (model: Model) => number
  /** Expected length of a response without reasoning, in tokens. */
  readonly outputTokensOf: (model: Model) => number
  /** Tokens of the prompt that are likely in the route's cache. */
  readonly cachedTokensOf: (model: Model) => number
  readonly health: (model: Model) => RouteHealth
  readonly nowMillis: number
}

/**
 * Everything of the scores but the utilities, which depend on alpha. A route without prices gets the highest cost of the others. The
 * scores are those of the next call, too: what is kept of a ranking is copied from them.
 */
export const score = (models: ReadonlyArray<Model>, expectations: Expectations): Array<Scored> => {
  let lowest = Number.POSITIVE_INFINITY
  let highest: MicroUsd = zero
  const scored = models.map((model, at) => {
    const one = setScores(scoresAt(at, model), expectations)
    if (one.facts.isPriced) {
      if (one.cost < lowest) lowest = one.cost
      if (one.cost > highest) highest = one.cost
    }
    return one
  })
  const floor = Math.log1p(Math.max(Math.min(lowest, highest), highest / maxCostRatio))
  const span = Math.log1p(highest) - floor
  for (const one of scored) {
    if (!one.facts.isPriced) one.cost = highest
    const position = span === 0 ? 0 : Math.max(0, Math.log1p(one.cost) - floor) / span
    one.dearness = Math.round(position * costWeight * unit)
  }
  return scored
}

/** One ranking at a time is made, synchronously; those of a hundred models would be 17 KB of garbage a call. */
const scores: Array<Scored> = []

const scoresAt = (at: number, model: Model): Scored => {
  let one = scores[at]
  if (one === undefined) {
    one = newScores(at, model)
    scores[at] = one
  } else if (one.model !== model) {
    one.model = model
    one.facts = factsOf(model)
  }
  return one
}

const newScores = (at: number, model: Model): Scored => ({
  at,
  model,
  facts: factsOf(model),
  effort: undefined,
  cost: zero,
  tier: 0,
  quality: 0,
  healthyQuality: 0,
  dearness: 0,
  utility: 0,
  healthyUtility: 0,
  latency: -1,
  openUntilMillis: 0
})

const setScores = (one: Scored, expectations: Expectations): Scored => {
  const { facts, model } = one
  const effort = facts.hasEffort || expectations.asksForEffort ? expectations.effortOf(model) : undefined
  const { failure, latencyMillis, openUntilMillis } = expectations.health(model)
  const isOpen = openUntilMillis > expectations.nowMillis
  // Only failure beyond the prior is evidence: otherwise a route in use would beat a better one without data.
  const excess = Math.max(0, Math.min(1, (failure - priorFailure) / (1 - priorFailure)))
  const predicted = expectations.qualityOf(model)
  one.effort = effort
  one.cost = facts.isPriced ? expectedCost(one, expectations) : zero
  one.tier = (isOpen ? 2 : 0) + (failure > mostlyFailing ? 1 : 0)
  one.quality = Math.round(predicted * (1 - excess) * unit)
  one.healthyQuality = Math.round(predicted * unit)
  one.latency = latencyMillis === null ? -1 : 31 - Math.clz32(Math.max(1, latencyMillis))
  one.openUntilMillis = isOpen ? openUntilMillis : 0
  return one
}

/** Sets the utilities at an alpha, in place: 2,000 requests at 21 alphas would be four million objects. */
export const weigh = (scored: Array<Scored>, alpha: number): Array<Scored> => {
  const forQuality = Math.round(alpha * unit)
  const forCost = unit - forQuality
  for (const one of scored) {
    const penalty = forCost * one.dearness
    one.utility = forQuality * one.quality - penalty
    one.healthyUtility = forQuality * one.healthyQuality - penalty
  }
  return scored
}

/** The places of the last ranking of so many routes, best first. */
const orders = new Map<number, Array<number>>()
const maxOrders = 16

/** Best first. Mostly that is nearly the order of the ranking before: sorted from there, each is compared about once. */
export const inOrder = (scored: ReadonlyArray<Scored>): Array<Scored> => {
  let order = orders.get(scored.length)
  if (order === undefined) {
    if (orders.size >= maxOrders) orders.clear()
    order = scored.map(({ at }) => at)
    orders.set(scored.length, order)
  }
  const sorted: Array<Scored> = []
  for (const at of order) {
    const one = scored[at]
    if (one !== undefined) sorted.push(one)
  }
  sorted.sort(byRank)
  for (let rank = 0; rank < sorted.length; rank++) order[rank] = sorted[rank]?.at ?? rank
  return sorted
}

/** A total order: tier, utility, then tie breakers; cost before latency, so that of equals the cheapest is first. */
export const byRank = (a: Scored, b: Scored): number =>
  a.tier - b.tier ||
  descending(a.utility, b.utility) ||
  descending(b.cost, a.cost) ||
  b.quality - a.quality ||
  a.latency - b.latency ||
  byId(a, b)

/** The same order without failures and open circuits. */
export const byHealthyRank = (a: Scored, b: Scored): number =>
  descending(a.healthyUtility, b.healthyUtility) ||
  descending(b.cost, a.cost) ||
  b.healthyQuality - a.healthyQuality ||
  a.latency - b.latency ||
  byId(a, b)

/** A difference would be a number on the heap, hundreds of times in a sort. */
const descending = (a: number, b: number): number => (a > b ? -1 : a < b ? 1 : 0)

const byId = (a: Scored, b: Scored): number => byCodePoint(a.model.id, b.model.id)

const expectedCost = (
  { effort, facts, model }: Scored,
  { cachedTokensOf, features, outputTokensOf, termsOf }: Expectations
): MicroUsd => {
  const { maxOutputTokens, promptTokens, terms } = features
  const factor = effort === undefined ? facts.factor : reasoningFactor(model, effort)
  const outputTokens = Math.min(
    Math.round(outputTokensOf(model) * factor),
    maxOutputTokens ?? Number.POSITIVE_INFINITY,
    facts.maxOutputTokens
  )
  const cached = Math.min(promptTokens, cachedTokensOf(model))
  const isPlain = terms === plainTerms && !facts.isTiered
  const product = isPlain
    ? (promptTokens - cached) * facts.input + cached * facts.cached + outputTokens * facts.output
    : specialProduct(model, termsOf(model), promptTokens, cached, outputTokens)
  return product < Number.MAX_SAFE_INTEGER ? perMillion(product) : microUsd(Number.MAX_SAFE_INTEGER)
}

/** Tokens times rates, where the request or the length of its prompt decides about the rates. */
const specialProduct = (
  { prices }: Model,
  terms: PriceTerms,
  promptTokens: number,
  cached: number,
  outputTokens: number
): number => {
  if (prices === null) return 0
  const rates = ratesFor(listOf(prices, terms), promptTokens)
  return (
    (promptTokens - cached) * rates.input +
    cached * (rates.cacheRead ?? rates.input) +
    outputTokens * rates.output +
    feeOf(prices, terms) * 1_000_000
  )
}

/** How many times as much a model writes at this effort as without reasoning. */
export const reasoningFactor = (model: Model, effort: Effort | number | undefined): number => {
  if (typeof effort === "number") return 1 + effort * 0.15
  const likely = effort ?? model.reasoning?.defaultEffort ?? (model.reasonsByDefault ? "medium" : "none")
  return reasoningFactors[likely]
}
