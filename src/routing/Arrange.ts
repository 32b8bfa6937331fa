import type { Model } from "../domain/Model.ts"
import { hysteresis, nearUtility, type Scores } from "./Score.ts"

/** The route that the last call of a conversation went to. */
export interface Affinity {
  readonly modelId: string
  /** Tokens of the prompt that its provider has likely cached. */
  readonly cachedTokens: number
  /** The request continues a tool call of that model. */
  readonly inToolLoop: boolean
}

/** A failing provider often fails for all its models, so the second candidate is another provider's when one is near in utility. */
export const diversify = ({ table, tiers, utilities }: Scores, order: Array<number>): void => {
  const [first, second] = order
  if (first === undefined || second === undefined) return
  const { providers } = table
  if (providers[second] !== providers[first]) return
  for (let rank = 2; rank < order.length; rank++) {
    const other = order[rank]
    if (other === undefined || tiers[other] !== tiers[second]) return
    if ((utilities[second] ?? 0) - (utilities[other] ?? 0) > nearUtility) return
    if (providers[other] !== providers[first]) {
      order.splice(rank, 1)
      order.splice(1, 0, other)
      return
    }
  }
}

/**
 * Of routes to one model that are equal but for their load, the less loaded of two that are drawn: with the same order everywhere
 * all calls would go to the same one, and by the lowest load alone all at once to the next. Returns how likely the first was to
 * come first; 1 where nothing was drawn.
 */
export const balance = (
  scores: Scores,
  order: Array<number>,
  draw: number | undefined,
  load: ((model: Model) => number) | undefined
): number => {
  const [first] = order
  if (first === undefined || load === undefined || draw === undefined) return 1
  let end = 1
  while (end < order.length && areEqual(scores, first, order[end])) end++
  if (end === 1) return 1
  const loads = order.slice(0, end).map((at) => {
    const model = scores.table.models[at]
    return model === undefined ? 0 : load(model)
  })
  const one = Math.min(end - 1, Math.floor(draw * end))
  const other = (one + 1 + Math.min(end - 2, Math.floor(((draw * end) % 1) * (end - 1)))) % end
  const chosen = (loads[one] ?? 0) <= (loads[other] ?? 0) ? one : other
  moveToFront(order, chosen)
  return drawnOften(loads, chosen)
}

/** The share of the pairs that a route wins; of two with the same load the one that is drawn first. */
const drawnOften = (loads: ReadonlyArray<number>, chosen: number): number => {
  const own = loads[chosen] ?? 0
  let won = 0
  loads.forEach((theirs, other) => {
    if (other === chosen) return
    if (own < theirs) won += 2
    else if (own === theirs) won += 1
  })
  return won / (loads.length * (loads.length - 1))
}

/** Nothing but their load tells two routes to one model apart. */
export const areEqual = (
  { costs, qualities, table, tiers, utilities }: Scores,
  a: number,
  b: number | undefined
): boolean =>
  b !== undefined &&
  table.aliases[a] === table.aliases[b] &&
  tiers[a] === tiers[b] &&
  utilities[a] === utilities[b] &&
  costs[a] === costs[b] &&
  qualities[a] === qualities[b]

/**
 * A conversation stays where it was while that is about as good: a change loses the provider's cache and the model's own way of
 * working. Within a tool call it always stays, unless the route fails. At alpha 0 and 1 nothing but cost or quality counts.
 * Returns whether it stays, so that nothing else decides about the first.
 */
export const stay = (
  { table, tiers, utilities }: Scores,
  order: Array<number>,
  affinity: Affinity,
  alpha: number
): boolean => {
  const [first] = order
  const last = table.places.get(affinity.modelId)
  const rank = last === undefined ? -1 : order.indexOf(last)
  if (first === undefined || last === undefined || rank < 0 || (tiers[last] ?? 0) > 0) return false
  const isNear = (utilities[first] ?? 0) - (utilities[last] ?? 0) <= hysteresis
  const stays = affinity.inToolLoop || (alpha > 0 && alpha < 1 && isNear && tiers[first] === tiers[last])
  if (stays && rank > 0) moveToFront(order, rank)
  return stays
}

const moveToFront = (order: Array<number>, rank: number): void => {
  const [at] = order.splice(rank, 1)
  if (at !== undefined) order.unshift(at)
}
