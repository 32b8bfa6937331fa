import type { ChatRequest } from "../domain/Chat.ts"
import { isInToolLoop } from "../domain/ToolLoop.ts"
import type { EffectivePolicy } from "../policy/EffectivePolicy.ts"
import { areEqual } from "./Arrange.ts"
import { type Scores, unit } from "./Score.ts"

/** What a call leaves to chance. */
export interface Exploration {
  /** Of all calls, 0 to 1. */
  readonly share: number
  /** 0 to 1, evenly distributed. */
  readonly draw: number
}

export interface Explored {
  /** How likely the model that is first now was to be. */
  readonly propensity: number
  /** Chance has put another model before the best. */
  readonly isOther: boolean
}

/** Models whose utility is lower than the best one's by no more than this are tried. */
const nearUtility = 0.05 * unit * unit

export const unexplored: Explored = { propensity: 1, isOther: false }

/**
 * Whether anything may be left to chance: not a tool call, which the model that began it has to end, and not where the first
 * candidate alone counts, since another one may be more than the money suffices for. At alpha 0 and 1 only cost or quality counts.
 */
export const mayExplore = (
  { messages }: Pick<ChatRequest, "messages">,
  { alpha, explorationShare, fallbackEnabled }: EffectivePolicy
): boolean => explorationShare > 0 && fallbackEnabled && alpha > 0 && alpha < 1 && !isInToolLoop(messages)

/**
 * In the given share of calls one of the models near the best comes first, the best among them, each as often as the others. All of
 * them are eligible, so that policy, price caps and bounds of the cost hold. Several routes to a model are one choice.
 */
export const explore = (scores: Scores, order: Array<number>, { draw, share }: Exploration): Explored => {
  const near = nearModels(scores, order)
  if (near.length < 2) return unexplored
  const each = share / near.length
  const chosen = draw < share ? near[Math.min(near.length - 1, Math.floor(draw / each))] : near[0]
  if (chosen === undefined || chosen === near[0]) return { propensity: 1 - share + each, isOther: false }
  // with its equal routes, one of which the load decides about
  const rest = order.filter((at) => !areEqual(scores, chosen, at))
  order.splice(0, order.length, ...order.filter((at) => areEqual(scores, chosen, at)), ...rest)
  return { propensity: each, isOther: true }
}

/** The best route of each model that is ready and near the best in utility, best first. */
const nearModels = ({ table, tiers, utilities }: Scores, order: ReadonlyArray<number>): ReadonlyArray<number> => {
  const near: Array<number> = []
  const [first] = order
  if (first === undefined || (tiers[first] ?? 0) > 0) return near
  for (const at of order) {
    if ((tiers[at] ?? 0) > 0 || (utilities[first] ?? 0) - (utilities[at] ?? 0) > nearUtility) break
    if (near.every((other) => table.aliases[other] !== table.aliases[at])) near.push(at)
  }
  return near
}
