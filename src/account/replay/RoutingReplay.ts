import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { NotFound } from "../../domain/AccountError.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { intersectPolicies, noControls } from "../../policy/EffectivePolicy.ts"
import { type ProjectPolicy, policyOf } from "../../policy/Policy.ts"
import { type PolicyColumns, PolicyStore } from "../../policy/PolicyStore.ts"
import { RoutingConfigurations } from "../../policy/RoutingConfigurations.ts"
import { QualitySnapshots } from "../../routing/evidence/QualitySnapshots.ts"
import { OutputLengths } from "../../routing/quality/OutputLengths.ts"
import { add, choose, emptyOutcome, type Outcome, type PastCall, type Rules } from "../../routing/Replay.ts"
import { fromRecorded } from "../../routing/RequestFeatures.ts"
import type { Replayed } from "../../routing/Router.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { maxCalls } from "../../wire/account/Replay.ts"
import { nextTurn } from "../../wire/framing/LargeBody.ts"
import { usableModels } from "../policy/UsableModels.ts"
import { PastCallStore } from "./PastCallStore.ts"

/** The calls that were ranked again. */
interface Replay {
  readonly calls: number
  /** Calls that cannot be ranked again: an earlier version recorded them, or their routing configuration is gone. */
  readonly skipped: number
  /** When the first and the last of them ended; `null` without any. */
  readonly from: Date | null
  readonly to: Date | null
  /** What they have cost, in micro-USD. */
  readonly chargedMicroUsd: number
}

/** The calls of a project at each alpha. */
export interface AlphaCurve extends Replay {
  /** For calls that name none. */
  readonly defaultAlpha: number
  /** Each call at the alpha that is in force for it. */
  readonly current: Outcome
  readonly points: ReadonlyArray<AlphaPoint>
}

export interface AlphaPoint {
  readonly alpha: number
  /** All calls at this alpha, also those that ask for another one. */
  readonly outcome: Outcome
}

/** The calls of a project under two policies. */
export interface PolicyReplay extends Replay {
  /** Each call at the alpha that is in force for it. */
  readonly before: Outcome
  readonly after: Outcome
  /** Calls that would go to another model. */
  readonly changed: number
  readonly byAlpha: ReadonlyArray<{ readonly alpha: number; readonly before: Outcome; readonly after: Outcome }>
}

/** Ranks past calls of a project again, from what the router saw of them. */
export interface RoutingReplayShape {
  /** As `CurrentUser`; `calls` is at most `maxCalls`. */
  readonly alphaCurve: (
    project: ProjectId,
    calls: number
  ) => Effect.Effect<AlphaCurve, NotFound | StoreUnavailable, CurrentUser>
  /** The policy in force and another one. */
  readonly compare: (
    project: ProjectId,
    policy: PolicyColumns
  ) => Effect.Effect<PolicyReplay, NotFound | StoreUnavailable, CurrentUser>
}

/** What another alpha or another policy would have done with the calls of a project. No text of any call is read. */
export class RoutingReplay extends Context.Tag("gateway/account/RoutingReplay")<RoutingReplay, RoutingReplayShape>() {
  /** @internal */
  static readonly layer = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const stepsOf = (count: number): ReadonlyArray<number> => Array.from({ length: count + 1 }, (_, index) => index / count)

/** A smooth curve; two policies beside each other need fewer points. */
const curveAlphas = stepsOf(20)
const comparedAlphas = stepsOf(10)

/** Calls that are ranked in one turn of the event loop, at all alphas: a few milliseconds with a hundred models. */
const callsInOneTurn = 25

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const policies = yield* PolicyStore
  const configurations = yield* RoutingConfigurations
  const quality = yield* QualitySnapshots
  const store = yield* PastCallStore
  const transactions = yield* AccountTransactions
  const usable = yield* usableModels
  const outputLengths = Option.getOrUndefined(yield* Effect.serviceOption(OutputLengths))

  const read = Effect.fnUntraced(function* (id: ProjectId, limit: number) {
    const { billingMode, row } = yield* transactions.commit(() =>
      Effect.gen(function* () {
        const { billingMode } = yield* access.find(id)
        const row = yield* policies.find(id)
        return row === undefined
          ? yield* Effect.dieMessage("a project that was found has a policy")
          : { billingMode, row }
      })
    )
    const rows = yield* store.newest(id, limit)
    return {
      rows,
      project: policyOf(row, row.policy_version),
      rulesWith: yield* Effect.all([usable(id, billingMode), configurations.ofProject(id), quality.ofProject(id)]).pipe(
        Effect.map(
          ([snapshot, known, { graded }]) =>
            (project: ProjectPolicy): Rules => ({
              snapshot,
              project,
              configurations: known,
              billingMode,
              graded,
              outputLengths
            })
        )
      )
    }
  })

  return RoutingReplay.of({
    alphaCurve: Effect.fn("RoutingReplay.alphaCurve")(function* (id, calls) {
      const { project, rows, rulesWith } = yield* read(id, calls)
      const rules = rulesWith(project)
      const current = emptyOutcome()
      const points = curveAlphas.map((alpha) => ({ alpha, outcome: emptyOutcome() }))
      const replay = yield* overCalls(rows, (call) => {
        const choices = choose(call, rules, curveAlphas)
        if (choices === null) return false
        add(current, choices.own)
        points.forEach(({ outcome }, at) => {
          add(outcome, choices.at[at])
        })
        return true
      })
      return { ...replay, defaultAlpha: intersectPolicies(project, null, noControls).alpha, current, points }
    }),
    compare: Effect.fn("RoutingReplay.compare")(function* (id, policy) {
      const { project, rows, rulesWith } = yield* read(id, maxCalls)
      const [rulesBefore, rulesAfter] = [rulesWith(project), rulesWith(policyOf(policy, project.version))]
      const [before, after] = [emptyOutcome(), emptyOutcome()]
      const byAlpha = comparedAlphas.map((alpha) => ({ alpha, before: emptyOutcome(), after: emptyOutcome() }))
      let changed = 0
      const replay = yield* overCalls(rows, (call) => {
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
      })
      return { ...replay, before, after, changed, byAlpha }
    })
  })
})

const idOf = (choice: Replayed | undefined): string | undefined => choice?.model.id

/** `rank` says whether the call could be ranked again. */
const overCalls = Effect.fnUntraced(function* (
  rows: Effect.Effect.Success<ReturnType<PastCallStore["Type"]["newest"]>>,
  rank: (call: PastCall) => boolean
) {
  let calls = 0
  let chargedMicroUsd = 0
  let from: Date | null = null
  let to: Date | null = null
  for (const [index, { costMicroUsd, endedAt, features, routingConfig }] of rows.entries()) {
    if (index > 0 && index % callsInOneTurn === 0) yield* nextTurn
    const known = fromRecorded(features)
    if (known === null || !rank({ features: known, routingConfig })) continue
    calls += 1
    chargedMicroUsd += costMicroUsd
    from = endedAt
    to ??= endedAt
  }
  return { calls, skipped: rows.length - calls, from, to, chargedMicroUsd }
})
