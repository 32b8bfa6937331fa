import { intersectPolicies, noControls } from "../../policy/EffectivePolicy.ts"
import {
  add,
  type Choices,
  choose,
  emptyOutcome,
  type Outcome,
  type PastCall,
  type Rules
} from "../../routing/Replay.ts"
import type { Replayed } from "../../routing/Router.ts"

export interface AlphaPoint {
  readonly alpha: number
  /** All calls at this alpha, also those that ask for another one. */
  readonly outcome: Outcome
}

/** Calls whose alpha comes from one place, at each alpha that could stand there. */
export interface AlphaGroup extends AlphaPlace {
  readonly calls: number
  /** What those of the calls have cost that a model could take again, in micro-USD. */
  readonly chargedMicroUsd: number
  readonly current: Outcome
  readonly points: ReadonlyArray<AlphaPoint>
}

interface AlphaPlace {
  /** The routing configuration that has the alpha; `null`: the policy of the project. */
  readonly slug: string | null
  /** The current one. */
  readonly alpha: number
}

/** Calls at each alpha, all of them and by the place that their alpha comes from. */
export interface AlphaSums {
  /** For calls that name none. */
  readonly defaultAlpha: number
  /** Each call at the alpha that applies to it. */
  readonly current: Outcome
  readonly points: ReadonlyArray<AlphaPoint>
  readonly groups: ReadonlyArray<AlphaGroup>
}

/** Calls under two sets of rules. */
export interface RuleSums {
  /** Each call at the alpha that applies to it. */
  readonly before: Outcome
  readonly after: Outcome
  /** Calls that would go to another model. */
  readonly changed: number
  readonly byAlpha: ReadonlyArray<{ readonly alpha: number; readonly before: Outcome; readonly after: Outcome }>
}

/** Past calls as they are ranked again, one after the other. */
export interface Tally<Sums> {
  /** False for a call that cannot be ranked again. */
  readonly rank: (call: PastCall, costMicroUsd: number) => boolean
  readonly sums: () => Sums
}

const stepsOf = (count: number): ReadonlyArray<number> => Array.from({ length: count + 1 }, (_, index) => index / count)

/** A smooth curve; two policies beside each other need fewer points. */
const curveAlphas = stepsOf(20)
const comparedAlphas = stepsOf(10)

export const alphaTally = (rules: Rules): Tally<AlphaSums> => {
  const defaultAlpha = intersectPolicies(rules.project, null, noControls).alpha
  const all = emptyCurve()
  const groups = new Map<string | null, AlphaGroup & { calls: number; chargedMicroUsd: number }>()
  return {
    rank: (call, costMicroUsd) => {
      const choices = choose(call, rules, curveAlphas)
      if (choices === null) return false
      addTo(all, choices)
      const place = placeOfAlpha(call, rules, defaultAlpha)
      if (place === undefined) return true
      const group = groups.get(place.slug) ?? { ...place, calls: 0, chargedMicroUsd: 0, ...emptyCurve() }
      groups.set(place.slug, group)
      group.calls += 1
      if (choices.own !== undefined) group.chargedMicroUsd += costMicroUsd
      addTo(group, choices)
      return true
    },
    sums: () => ({ defaultAlpha, ...all, groups: [...groups.values()] })
  }
}

/** `undefined`: the call itself names its alpha. */
const placeOfAlpha = (
  { features, routingConfig }: PastCall,
  { configurations }: Pick<Rules, "configurations">,
  defaultAlpha: number
): AlphaPlace | undefined => {
  if (features.controls.alpha !== undefined) return undefined
  const alpha = configurations.find(({ slug }) => slug === routingConfig)?.alpha ?? null
  return alpha === null ? { slug: null, alpha: defaultAlpha } : { slug: routingConfig, alpha }
}

type Curve = Pick<AlphaSums, "current" | "points">

const emptyCurve = (): Curve => ({
  current: emptyOutcome(),
  points: curveAlphas.map((alpha) => ({ alpha, outcome: emptyOutcome() }))
})

const addTo = ({ current, points }: Curve, { at, own }: Choices): void => {
  add(current, own)
  points.forEach(({ outcome }, index) => {
    add(outcome, at[index])
  })
}

export const ruleTally = (rulesBefore: Rules, rulesAfter: Rules): Tally<RuleSums> => {
  const [before, after] = [emptyOutcome(), emptyOutcome()]
  const byAlpha = comparedAlphas.map((alpha) => ({ alpha, before: emptyOutcome(), after: emptyOutcome() }))
  let changed = 0
  return {
    rank: (call) => {
      const then = choose(call, rulesBefore, comparedAlphas)
      const now = choose(call, rulesAfter, comparedAlphas)
      if (then === null || now === null) return false
      add(before, then.own)
      add(after, now.own)
      if (idOf(then.own) !== idOf(now.own)) changed += 1
      byAlpha.forEach((point, at) => {
        add(point.before, then.at[at])
        add(point.after, now.at[at])
      })
      return true
    },
    sums: () => ({ before, after, changed, byAlpha })
  }
}

const idOf = (choice: Replayed | undefined): string | undefined => choice?.model.id
