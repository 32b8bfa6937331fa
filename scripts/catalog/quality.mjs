// @ts-check
/**
 * A first estimate of how good each model's answers are, 0 to 1, before any call has been measured. It orders models that
 * nobody has data on yet; routing replaces it by evidence.
 *
 *  1. A prior from what the name, the release and the price say: the size class that vendors put in names, the makers that
 *     lead public leaderboards, newer is better, dearer is a little better. Bounded so that no single hint decides.
 *  2. Where benchmark scores exist, each benchmark is fitted to the priors by least squares over the models it lists (only
 *     with five or more, only if better scores mean a better prior), and the model moves towards what its scores predict:
 *     by n / (n + 2) of the way for n benchmarks.
 *
 * Every route to the same upstream model has the same quality.
 *
 * @typedef {{ name: string, metric: string, score: number }} Score
 * @typedef {{ alias: string, releaseMillis: number | null, blendedPriceMicroUsd: number | null, scores: ReadonlyArray<Score> }} Evidence
 */

/** Size classes by the words of a name, most telling first. */
const sizeClasses = [
  { words: ["3b", "micro"], quality: 0.42 },
  { words: ["nano", "lite", "7b", "r7b", "8b", "9b", "instant"], quality: 0.5 },
  { words: ["mini", "flash", "haiku", "small", "air", "20b", "31b", "32b", "17b"], quality: 0.6 },
  { words: ["opus", "fable", "max", "pro"], quality: 0.76 }
]
const ordinaryQuality = 0.7

/** Names that promise another class than the model's published results. */
const misnamed = new Map([
  ["nova-pro", 0.62],
  ["command-a-03-2025", 0.6],
  ["command-a-plus-05-2026", 0.66],
  ["llama-3.3-70b-versatile", 0.62],
  ["codestral-latest", 0.6]
])

const leadingMakers = /^(gpt-\d|o\d|claude-|gemini-)/
const leadingMakerBonus = 0.05

const yearMillis = 365.25 * 24 * 3_600_000
const recencyFromMillis = Date.UTC(2025, 0, 1)
const recencyPerYear = 0.1
const pricePerDecade = 0.04
const minSamples = 5

/** @typedef {{ quality: number, prior: number, benchmarks: number }} Quality */

/** @param {ReadonlyArray<Evidence>} routes @returns {Map<string, Quality>} by alias */
export const qualities = (routes) => {
  /** @type {Map<string, Array<Evidence>>} */
  const groups = new Map()
  for (const route of [...routes].sort(byContent)) groups.set(route.alias, [...(groups.get(route.alias) ?? []), route])
  const priors = new Map([...groups].map(([alias, group]) => [alias, priorOf(alias, group)]))
  /** @type {Map<string, Map<string, number>>} best score by benchmark and alias */
  const benchmarks = new Map()
  for (const [alias, group] of groups) {
    for (const { name, metric, score } of group.flatMap((route) => route.scores)) {
      const scores = benchmarks.get(`${name} (${metric})`) ?? new Map()
      benchmarks.set(`${name} (${metric})`, scores.set(alias, Math.max(score, scores.get(alias) ?? score)))
    }
  }
  /** @type {Map<string, Array<number>>} what each benchmark predicts for an alias, relative to its prior */
  const moves = new Map()
  for (const [, scores] of [...benchmarks].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const predict = lineThrough(
      [...scores].map(([alias, score]) => ({ x: score, y: priors.get(alias) ?? ordinaryQuality }))
    )
    if (predict === null) continue
    for (const [alias, score] of scores) {
      const move = predict(score) - (priors.get(alias) ?? ordinaryQuality)
      moves.set(alias, [...(moves.get(alias) ?? []), move])
    }
  }
  return new Map(
    [...priors].map(([alias, prior]) => {
      const own = moves.get(alias) ?? []
      return [alias, { quality: rounded(prior + movedBy(own)), prior: rounded(prior), benchmarks: own.length }]
    })
  )
}

/** @param {string} alias @param {ReadonlyArray<Evidence>} group */
const priorOf = (alias, group) => {
  const words = alias.split(/[^a-z0-9]+/)
  const named = sizeClasses.find((one) => one.words.some((word) => words.includes(word)))?.quality ?? ordinaryQuality
  const size = misnamed.get(alias) ?? named
  const maker = leadingMakers.test(alias) ? leadingMakerBonus : 0
  const released = group.flatMap((route) => route.releaseMillis ?? [])
  const years = released.length === 0 ? 0 : (Math.min(...released) - recencyFromMillis) / yearMillis
  const prices = group.flatMap((route) => route.blendedPriceMicroUsd ?? []).filter((price) => price > 0)
  const decades = prices.length === 0 ? 0 : Math.log10(median(prices) / 2_000_000)
  return size + maker + clamp(years * recencyPerYear, -0.08, 0.13) + clamp(decades * pricePerDecade, -0.04, 0.04)
}

/** @param {ReadonlyArray<{ x: number, y: number }>} points @returns {((x: number) => number) | null} */
const lineThrough = (points) => {
  if (points.length < minSamples) return null
  const meanX = mean(points.map((point) => point.x))
  const meanY = mean(points.map((point) => point.y))
  const varianceX = mean(points.map((point) => (point.x - meanX) ** 2))
  const slope = varianceX === 0 ? 0 : mean(points.map((point) => (point.x - meanX) * (point.y - meanY))) / varianceX
  return slope <= 0 ? null : (x) => meanY + slope * (x - meanX)
}

/** @param {ReadonlyArray<number>} moves */
const movedBy = (moves) => (moves.length === 0 ? 0 : mean(moves) * (moves.length / (moves.length + 2)))

/** @param {ReadonlyArray<number>} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

/** @param {ReadonlyArray<number>} values */
const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** @param {number} value @param {number} low @param {number} high */
const clamp = (value, low, high) => Math.min(high, Math.max(low, value))

/** @param {number} quality */
const rounded = (quality) => Math.round(clamp(quality, 0.35, 0.95) * 1000) / 1000

/** Sums of fractions depend on their order, so the order must not depend on the input's. @param {Evidence} a @param {Evidence} b */
const byContent = (a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
