import type { Model } from "../domain/Model.ts"
import { hysteresis, nearUtility, type Scored } from "./Score.ts"

/** The route that the last call of a conversation went to. */
export interface Affinity {
  readonly modelId: string
  /** Tokens of the prompt that its provider has likely cached. */
  readonly cachedTokens: number
  /** The request continues a tool call of that model. */
  readonly inToolLoop: boolean
}

/** A failing provider often fails for all its models, so the second candidate is another provider's when one is near in utility. */
export const diversify = (scored: Array<Scored>): void => {
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

/**
 * Of routes to one model that are equal but for their load, the less loaded of two that are drawn: with the same order everywhere
 * all calls would go to the same one, and by the lowest load alone all at once to the next. Returns how likely the first was to
 * come first; 1 where nothing was drawn.
 */
export const balance = (
  scored: Array<Scored>,
  draw: number | undefined,
  load: ((model: Model) => number) | undefined
): number => {
  const [first] = scored
  if (first === undefined || load === undefined || draw === undefined) return 1
  let end = 1
  while (end < scored.length && areEqual(first, scored[end])) end++
  if (end === 1) return 1
  const one = Math.min(end - 1, Math.floor(draw * end))
  const other = (one + 1 + Math.min(end - 2, Math.floor(((draw * end) % 1) * (end - 1)))) % end
  const chosen = loadAt(scored, one, load) <= loadAt(scored, other, load) ? one : other
  const propensity = drawnOften(scored, chosen, end, load)
  moveToFront(scored, chosen)
  return propensity
}

/** The share of the pairs that a route wins; of two with the same load the one that is drawn first. */
const drawnOften = (scored: Array<Scored>, at: number, end: number, load: (model: Model) => number): number => {
  const own = loadAt(scored, at, load)
  let won = 0
  for (let other = 0; other < end; other++) {
    if (other === at) continue
    const theirs = loadAt(scored, other, load)
    if (own < theirs) won += 2
    else if (own === theirs) won += 1
  }
  return won / (end * (end - 1))
}

/** Nothing but their load tells two routes to one model apart. */
export const areEqual = (a: Scored, b: Scored | undefined): boolean =>
  b !== undefined &&
  a.model.alias === b.model.alias &&
  a.tier === b.tier &&
  a.utility === b.utility &&
  a.cost === b.cost &&
  a.quality === b.quality

const loadAt = (scored: ReadonlyArray<Scored>, at: number, load: (model: Model) => number): number => {
  const one = scored[at]
  return one === undefined ? 0 : load(one.model)
}

/**
 * A conversation stays where it was while that is about as good: a change loses the provider's cache and the model's own way of
 * working. Within a tool call it always stays, unless the route fails. At alpha 0 and 1 nothing but cost or quality counts.
 * Returns whether it stays, so that nothing else decides about the first.
 */
export const stay = (scored: Array<Scored>, affinity: Affinity, alpha: number): boolean => {
  const at = scored.findIndex(({ model }) => model.id === affinity.modelId)
  const [first] = scored
  const last = scored[at]
  if (first === undefined || last === undefined || last.tier > 0) return false
  const isNear = first.utility - last.utility <= hysteresis
  const stays = affinity.inToolLoop || (alpha > 0 && alpha < 1 && isNear && first.tier === last.tier)
  if (stays && at > 0) moveToFront(scored, at)
  return stays
}

const moveToFront = (scored: Array<Scored>, at: number): void => {
  const [one] = scored.splice(at, 1)
  if (one !== undefined) scored.unshift(one)
}
