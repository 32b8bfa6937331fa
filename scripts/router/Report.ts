import { areaOf, costOf, hullOf, type Point } from "./Curve.ts"
import type { GradedSet } from "./Data.ts"
import type { Predictor } from "./Predictor.ts"

/** What was predicted for each prompt of a set, in its order; one row of models each. */
export interface Predictions {
  readonly quality: ReadonlyArray<ReadonlyArray<number>>
  readonly cost: ReadonlyArray<ReadonlyArray<number>>
}

/** For every prompt of a set, in its order. */
export const predictAll = ({ prompts }: GradedSet, predict: Predictor["predict"]): Predictions => {
  const quality: Array<ReadonlyArray<number>> = []
  const cost: Array<ReadonlyArray<number>> = []
  for (const { text } of prompts) {
    const predicted = predict(text)
    quality.push(Array.from(predicted.quality, rounded))
    cost.push(Array.from(predicted.cost, rounded))
  }
  return { quality, cost }
}

export interface Figures {
  /** Mean height of the hull of cost and quality, from the cheapest model's average cost to the best one's. */
  readonly aiq: number
  /** The cost of reaching this percentage of the best single model's quality, as a share of its cost; null: out of reach. */
  readonly cost_at_90: number | null
  readonly cost_at_95: number | null
  readonly cost_at_100: number | null
  readonly max_quality: number
  /** As a share of the best single model's. */
  readonly max_quality_ratio: number
}

export interface Apgr {
  /** Average share of the gap between the weak and the strong model that is recovered; 0.5 is a coin. */
  readonly apgr: number
  /** Share of calls to the strong model that recovers half, and 80 %, of the gap. */
  readonly cpt_50: number | null
  readonly cpt_80: number | null
  readonly prompts: number
}

export interface Singles {
  readonly points: ReadonlyArray<Point>
  readonly best: Point
  readonly bestModel: string
  readonly cheapestCost: number
}

export const singlesOf = ({ models, prompts }: GradedSet): Singles => {
  const points = models.map((_, m) => averageOf(prompts, () => m))
  const best = points.reduce((a, b) => (b.quality > a.quality ? b : a))
  return {
    points,
    best,
    bestModel: models[points.indexOf(best)] ?? "",
    cheapestCost: Math.min(...points.map(({ cost }) => cost))
  }
}

export const figuresOf = (points: ReadonlyArray<Point>, { best, cheapestCost }: Singles): Figures => {
  const hull = hullOf(points)
  const share = (part: number): number | null => {
    const cost = costOf(hull, best.quality * part)
    return cost === null || best.cost === 0 ? null : rounded(cost / best.cost)
  }
  const highest = Math.max(...points.map(({ quality }) => quality))
  return {
    aiq: rounded(areaOf(hull, cheapestCost, best.cost)),
    cost_at_90: share(0.9),
    cost_at_95: share(0.95),
    cost_at_100: share(1),
    max_quality: rounded(highest),
    max_quality_ratio: rounded(highest / best.quality)
  }
}

/** What the routing by `quality − price · cost` costs and is worth, over all prices from 0 to unaffordable. */
export const linearCurve = (set: GradedSet, predictions: Predictions, bestCost: number): ReadonlyArray<Point> => {
  const prices = [0]
  for (let exponent = -10; exponent <= 8; exponent += 0.1) prices.push(2 ** exponent / Math.max(bestCost, 1e-9) / 10)
  prices.push(1e12)
  return prices.map((price) =>
    chosenBy(set, (at) => bestOf(predictions, at, (quality, cost) => quality - price * cost))
  )
}

export interface AlphaPoint extends Point {
  readonly alpha: number
}

/** The same by the router's own utility, for its alpha. */
export const alphaCurve = (set: GradedSet, predictions: Predictions, steps = 20): ReadonlyArray<AlphaPoint> =>
  Array.from({ length: steps + 1 }, (_, step) => {
    const alpha = step / steps
    const point = chosenBy(set, (at) => {
      const costs = predictions.cost[at] ?? []
      const low = Math.log1p(Math.min(...costs))
      const span = Math.log1p(Math.max(...costs)) - low
      return bestOf(predictions, at, (quality, cost) => {
        const place = span === 0 ? 0 : (Math.log1p(cost) - low) / span
        return alpha * quality - (1 - alpha) * 0.25 * place
      })
    })
    return { alpha, cost: rounded(point.cost), quality: rounded(point.quality) }
  })

/** For two models: calls go to the strong one in the order of the gain that is predicted. */
export const apgrOf = (set: GradedSet, predictions: Predictions, task?: string): Apgr => {
  const { points } = singlesOf(set)
  const strong = (points[1]?.quality ?? 0) >= (points[0]?.quality ?? 0) ? 1 : 0
  const weak = 1 - strong
  const places = set.prompts.flatMap((prompt, at) => (task === undefined || prompt.task === task ? [at] : []))
  const gain = (at: number): number => (predictions.quality[at]?.[strong] ?? 0) - (predictions.quality[at]?.[weak] ?? 0)
  const ordered = [...places].sort((a, b) => gain(b) - gain(a) || a - b)
  const scoreOf = (at: number, model: number): number => set.prompts[at]?.scores[model] ?? 0
  const low = places.reduce((sum, at) => sum + scoreOf(at, weak), 0)
  const gap = places.reduce((sum, at) => sum + scoreOf(at, strong), 0) - low
  let sum = 0
  let recovered = 0
  let cpt50: number | null = null
  let cpt80: number | null = null
  ordered.forEach((at, index) => {
    recovered += (scoreOf(at, strong) - scoreOf(at, weak)) / gap
    sum += recovered
    const calls = rounded((index + 1) / ordered.length)
    if (cpt50 === null && recovered >= 0.5) cpt50 = calls
    if (cpt80 === null && recovered >= 0.8) cpt80 = calls
  })
  return { apgr: rounded(sum / ordered.length), cpt_50: cpt50, cpt_80: cpt80, prompts: ordered.length }
}

const bestOf = (
  { cost, quality }: Predictions,
  at: number,
  utility: (quality: number, cost: number) => number
): number => {
  const qualities = quality[at] ?? []
  const costs = cost[at] ?? []
  let best = 0
  let highest = Number.NEGATIVE_INFINITY
  for (let m = 0; m < qualities.length; m++) {
    const value = utility(qualities[m] ?? 0, costs[m] ?? 0)
    if (value > highest || (value === highest && (costs[m] ?? 0) < (costs[best] ?? 0))) {
      highest = value
      best = m
    }
  }
  return best
}

const chosenBy = (set: GradedSet, choose: (at: number) => number): Point =>
  averageOf(set.prompts, (_, at) => choose(at))

const averageOf = (
  prompts: GradedSet["prompts"],
  choose: (prompt: GradedSet["prompts"][number], at: number) => number
): Point => {
  let cost = 0
  let quality = 0
  prompts.forEach((prompt, at) => {
    const model = choose(prompt, at)
    cost += prompt.costs[model] ?? 0
    quality += prompt.scores[model] ?? 0
  })
  return { cost: cost / prompts.length, quality: quality / prompts.length }
}

export const rounded = (value: number): number => Math.round(value * 1e5) / 1e5
