import type { AlphaCurve, PolicyReplay } from "../../../account/replay/RoutingReplay.ts"
import { byCodePoint } from "../../../domain/CodePointOrder.ts"
import type { Outcome } from "../../../routing/Replay.ts"
import type { AlphaCurveOut, OutcomeOut, PolicyReplayOut } from "../../../wire/account/Replay.ts"

/** A curve as it is sent. */
export const alphaCurveOf = ({ current, defaultAlpha, points, ...replay }: AlphaCurve): AlphaCurveOut => ({
  ...replayedOf(replay),
  default_alpha: defaultAlpha,
  current: outcomeOf(current, replay.calls),
  points: points.map(({ alpha, outcome }) => ({ alpha, ...outcomeOf(outcome, replay.calls) }))
})

/** Two policies over past calls as they are sent. */
export const policyReplayOf = ({ after, before, byAlpha, changed, ...replay }: PolicyReplay): PolicyReplayOut => ({
  ...replayedOf(replay),
  before: outcomeOf(before, replay.calls),
  after: outcomeOf(after, replay.calls),
  changed,
  by_alpha: byAlpha.map((point) => ({
    alpha: point.alpha,
    before: outcomeOf(point.before, replay.calls),
    after: outcomeOf(point.after, replay.calls)
  }))
})

const replayedOf = ({
  calls,
  chargedMicroUsd,
  from,
  skipped,
  to
}: Pick<AlphaCurve, "calls" | "skipped" | "from" | "to" | "chargedMicroUsd">) => ({
  calls,
  skipped,
  from,
  to,
  charged_microusd: chargedMicroUsd
})

const outcomeOf = ({ costMicroUsd, models, quality, withoutModel }: Outcome, calls: number): OutcomeOut => ({
  expected_cost_microusd: costMicroUsd,
  expected_quality: calls === withoutModel ? null : quality / (calls - withoutModel),
  without_model: withoutModel,
  models: Array.from(models, ([model, count]) => ({ model, count })).sort(
    (a, b) => b.count - a.count || byCodePoint(a.model, b.model)
  )
})
