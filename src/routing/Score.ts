import type { Effort } from "../domain/Chat.ts"
import type { Model } from "../domain/Model.ts"
import { feeOf, listOf, type PriceTerms, plainTerms, ratesFor } from "../domain/Prices.ts"
import { priorFailure } from "./Breaker.ts"
import type { ModelFigures, ModelTable } from "./ModelTable.ts"
import { reasoningFactor } from "./ReasoningFactor.ts"
import type { RequestFeatures } from "./RequestFeatures.ts"
import type { RouteHealth } from "./RouteHealth.ts"

/**
 * The scores of the eligible routes of a pool, each at the place of its model. The utility of a route is
 * `alpha * quality - (1 - alpha) * 0.25 * L`, where `L` from 0 to 1 is the position of its cost between the lowest and the highest on
 * a log scale. Quality, cost and alpha are whole units, so that the sums are exact: then the expected cost of the best route never
 * falls as alpha rises, whatever the pool.
 */
export interface Scores {
  readonly table: ModelTable
  /** Some of the efforts may be set. */
  hasEfforts: boolean
  readonly efforts: Array<Effort | number | undefined>
  /** Expected, in micro-USD. */
  readonly costs: Float64Array
  /** 0 ready, 1 mostly failing, 2 circuit open, 3 both. */
  readonly tiers: Float64Array
  /** Quality reduced by the probability of failure, in units. */
  readonly qualities: Float64Array
  readonly healthyQualities: Float64Array
  /** The position of its cost times its weight, in units. */
  readonly dearness: Float64Array
  /** At the alpha of the last `weigh`. */
  readonly utilities: Float64Array
  /** The utilities without failures. */
  readonly healthyUtilities: Float64Array
  /** Binary logarithm of the latency; a route without data comes first, so that it is measured. */
  readonly latencies: Float64Array
  readonly openUntilMillis: Float64Array
  /** No circuit is open and none fails more than is assumed: the ranks are those without failures. */
  areWell: boolean
  /** Expected tokens of an answer without reasoning. */
  readonly answerTokens: Float64Array
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

/** What the costs and the scores of the eligible models are told from. */
export interface Expectations {
  readonly features: RequestFeatures
  /** Asked for models that have an effort of their own, or all if the request asks for one. */
  readonly effortOf: (model: Model) => Effort | number | undefined
  readonly asksForEffort: boolean
  readonly termsOf: (model: Model) => PriceTerms
  /** 0 to 1. */
  readonly quality: ModelFigures
  /** Expected length of a response without reasoning, in tokens. */
  readonly outputTokens: ModelFigures
  /** Tokens of the prompt that are likely in the cache of the model with this id. */
  readonly cached: { readonly modelId: string; readonly tokens: number } | undefined
  readonly health: (model: Model) => RouteHealth
  /** The places of the routes that `health` is asked about; `null`: of all. */
  readonly known: ReadonlyArray<number> | null
  readonly nowMillis: number
}

/** One ranking at a time is made, synchronously: its scores are those of the next one in the pool. */
const scoresOfPools = new WeakMap<ModelTable, Scores>()

const scoresFor = (table: ModelTable): Scores => {
  const known = scoresOfPools.get(table)
  if (known !== undefined) return known
  const size = table.models.length
  const scores: Scores = {
    table,
    hasEfforts: false,
    efforts: new Array<undefined>(size).fill(undefined),
    costs: new Float64Array(size),
    tiers: new Float64Array(size),
    qualities: new Float64Array(size),
    healthyQualities: new Float64Array(size),
    dearness: new Float64Array(size),
    utilities: new Float64Array(size),
    healthyUtilities: new Float64Array(size),
    latencies: new Float64Array(size),
    openUntilMillis: new Float64Array(size),
    areWell: true,
    answerTokens: new Float64Array(size)
  }
  scoresOfPools.set(table, scores)
  return scores
}

/**
 * Everything of the scores but the utilities, which depend on alpha. A route without prices gets the highest cost of the others.
 * They hold until the next ranking in the pool: what is kept of them is copied.
 */
export const score = (table: ModelTable, eligible: ReadonlyArray<number>, expectations: Expectations): Scores => {
  const scores = scoresFor(table)
  expectations.quality.fill(table, scores.healthyQualities)
  expectations.outputTokens.fill(table, scores.answerTokens)
  setHealth(scores, expectations.known ?? eligible, expectations)
  scores.hasEfforts = table.hasEfforts || expectations.asksForEffort
  if (scores.hasEfforts) setEfforts(scores, eligible, expectations)
  setCosts(scores, eligible, expectations)
  return scores
}

const setEfforts = (
  { efforts, table }: Scores,
  eligible: ReadonlyArray<number>,
  { asksForEffort, effortOf }: Expectations
): void => {
  for (const at of eligible) {
    const model = table.models[at]
    efforts[at] = model !== undefined && (table.hasEffort[at] === 1 || asksForEffort) ? effortOf(model) : undefined
  }
}

/** What is the same for all is read before the loop, whose share of a ranking is the largest. */
const setCosts = (
  { answerTokens, costs, dearness, efforts, hasEfforts, table }: Scores,
  eligible: ReadonlyArray<number>,
  { cached, features, termsOf }: Expectations
): void => {
  const { factors, imageTokens, inputRates, isPriced, isTiered, maxOutputTokens, models, outputRates } = table
  const { imagesAndFiles, promptTokens: textTokens, terms } = features
  const cap = features.maxOutputTokens ?? Number.POSITIVE_INFINITY
  const hasPlainTerms = terms === plainTerms
  const cachedAt = cached === undefined ? undefined : table.places.get(cached.modelId)
  let lowest = Number.POSITIVE_INFINITY
  let highest = 0
  for (const at of eligible) {
    if (isPriced[at] === 0) continue
    const model = models[at]
    if (model === undefined) continue
    const effort = hasEfforts ? efforts[at] : undefined
    const factor = effort === undefined ? (factors[at] ?? 1) : reasoningFactor(model, effort)
    const outputTokens = Math.min(Math.round((answerTokens[at] ?? 0) * factor), cap, maxOutputTokens[at] ?? cap)
    const promptTokens = textTokens + imagesAndFiles * (imageTokens[at] ?? 0)
    const product =
      hasPlainTerms && isTiered[at] === 0 && at !== cachedAt
        ? promptTokens * (inputRates[at] ?? 0) + outputTokens * (outputRates[at] ?? 0)
        : productOf(model, termsOf(model), promptTokens, at === cachedAt ? (cached?.tokens ?? 0) : 0, outputTokens)
    const cost = product < Number.MAX_SAFE_INTEGER ? Math.ceil(product / 1_000_000) : Number.MAX_SAFE_INTEGER
    costs[at] = cost
    if (cost < lowest) lowest = cost
    if (cost > highest) highest = cost
  }
  const floor = Math.log1p(Math.max(Math.min(lowest, highest), highest / maxCostRatio))
  const span = Math.log1p(highest) - floor
  for (const at of eligible) {
    if (isPriced[at] === 0) costs[at] = highest
    const position = span === 0 ? 0 : Math.max(0, logOf(costs[at] ?? 0) - floor) / span
    dearness[at] = Math.round(position * costWeight * unit)
  }
}

const logPlaces = 1_024
const logCosts = new Float64Array(logPlaces).fill(-1)
const logs = new Float64Array(logPlaces)

/** `Math.log1p` of a cost. Most costs are small numbers that come again: their logarithms were two thirds of the time of the costs. */
const logOf = (cost: number): number => {
  const place = cost & (logPlaces - 1)
  if (logCosts[place] !== cost) {
    logCosts[place] = cost
    logs[place] = Math.log1p(cost)
  }
  return logs[place] ?? 0
}

/** Of all routes of the pool; nothing is against those that nothing is known of. */
const setHealth = (
  scores: Scores,
  known: ReadonlyArray<number>,
  { health, nowMillis }: Pick<Expectations, "health" | "nowMillis">
): void => {
  const { healthyQualities, latencies, openUntilMillis, qualities, table, tiers } = scores
  scores.areWell = true
  tiers.fill(0)
  latencies.fill(-1)
  openUntilMillis.fill(0)
  for (let at = 0; at < qualities.length; at++) {
    const quality = Math.round((healthyQualities[at] ?? 0) * unit)
    healthyQualities[at] = quality
    qualities[at] = quality
  }
  for (const at of known) {
    const model = table.models[at]
    if (model === undefined) continue
    const state = health(model)
    const isOpen = state.openUntilMillis > nowMillis
    // Only failure beyond the prior is evidence: otherwise a route in use would beat a better one without data.
    const excess = Math.max(0, Math.min(1, (state.failure - priorFailure) / (1 - priorFailure)))
    if (isOpen || excess > 0) scores.areWell = false
    tiers[at] = (isOpen ? 2 : 0) + (state.failure > mostlyFailing ? 1 : 0)
    if (excess > 0) qualities[at] = Math.round((healthyQualities[at] ?? 0) * (1 - excess))
    latencies[at] = state.latencyMillis === null ? -1 : 31 - Math.clz32(Math.max(1, state.latencyMillis))
    openUntilMillis[at] = isOpen ? state.openUntilMillis : 0
  }
}

/** Tokens times rates, whatever the request and the length of its prompt say about the rates. */
const productOf = (
  { prices }: Model,
  terms: PriceTerms,
  promptTokens: number,
  cachedTokens: number,
  outputTokens: number
): number => {
  if (prices === null) return 0
  const rates = ratesFor(listOf(prices, terms), promptTokens)
  const cached = Math.min(promptTokens, cachedTokens)
  return (
    (promptTokens - cached) * rates.input +
    cached * (rates.cacheRead ?? rates.input) +
    outputTokens * rates.output +
    feeOf(prices, terms) * 1_000_000
  )
}

/** Sets the utilities of these routes at an alpha. */
export const weigh = (scores: Scores, eligible: ReadonlyArray<number>, alpha: number): void => {
  const forQuality = Math.round(alpha * unit)
  const forCost = unit - forQuality
  const { dearness, healthyQualities, healthyUtilities, qualities, utilities } = scores
  for (const at of eligible) {
    const penalty = forCost * (dearness[at] ?? 0)
    utilities[at] = forQuality * (qualities[at] ?? 0) - penalty
    healthyUtilities[at] = forQuality * (healthyQualities[at] ?? 0) - penalty
  }
}

/** The order of the last ranking of the same routes, from which the next one is sorted. */
const lastOrders = new WeakMap<ReadonlyArray<number>, Array<number>>()

/** Moves by which an order may be sorted one by one, for each of its routes: one that is far from the last is sorted anew. */
const maxMovesEach = 8

/** Best first. Mostly that is nearly the order of the ranking before: sorted from there, each is compared about once. */
export const inOrder = (scores: Scores, eligible: ReadonlyArray<number>): Array<number> => {
  if (eligible.length < 2) return eligible.slice()
  const order = lastOrderOf(eligible)
  let moves = order.length * maxMovesEach
  for (let end = 1; end < order.length; end++) {
    const moved = order[end] ?? 0
    let to = end
    while (to > 0 && byRank(scores, moved, order[to - 1] ?? 0) < 0) {
      order[to] = order[to - 1] ?? 0
      to -= 1
      moves -= 1
    }
    order[to] = moved
    if (moves < 0) {
      order.sort((a, b) => byRank(scores, a, b))
      break
    }
  }
  return order.slice()
}

/** The first of the order, without the others. */
export const bestOf = (scores: Scores, eligible: ReadonlyArray<number>): number | undefined => {
  const { tiers, utilities } = scores
  let [best] = eligible
  if (best === undefined) return undefined
  for (const at of eligible) {
    // most are told apart here, at each of many alphas
    if (tiers[at] === tiers[best] && (utilities[at] ?? 0) < (utilities[best] ?? 0)) continue
    if (byRank(scores, at, best) < 0) best = at
  }
  return best
}

/** In any order where there was no ranking before. */
const lastOrderOf = (eligible: ReadonlyArray<number>): Array<number> => {
  const last = lastOrders.get(eligible)
  if (last !== undefined) return last
  const first = [...eligible]
  lastOrders.set(eligible, first)
  return first
}

/**
 * A total order of the routes at two places: tier, utility, then tie breakers; cost before latency, so that of equals the cheapest is
 * first.
 */
export const byRank = (scores: Scores, a: number, b: number): number => {
  const { tiers, utilities } = scores
  // most are told apart here, hundreds of times in a ranking
  const [one, other] = [utilities[a] ?? 0, utilities[b] ?? 0]
  if (tiers[a] === tiers[b] && one !== other) return one > other ? -1 : 1
  return ascending(tiers, a, b) || byTie(scores, scores.qualities, a, b)
}

/** The same order without failures and open circuits. */
export const byHealthyRank = (scores: Scores, a: number, b: number): number =>
  ascending(scores.healthyUtilities, b, a) || byTie(scores, scores.healthyQualities, a, b)

const byTie = ({ costs, latencies, table }: Scores, qualities: Float64Array, a: number, b: number): number =>
  ascending(costs, a, b) || ascending(qualities, b, a) || ascending(latencies, a, b) || ascending(table.idOrder, a, b)

/** Only the sign: a difference would be a number on the heap, hundreds of times in a sort. */
const ascending = (values: Float64Array, a: number, b: number): number => {
  const [one, other] = [values[a] ?? 0, values[b] ?? 0]
  return one < other ? -1 : one > other ? 1 : 0
}
