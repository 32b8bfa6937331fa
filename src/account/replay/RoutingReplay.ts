import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { NotFound } from "../../domain/AccountError.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { type AccessibleProject, ProjectAccessStore } from "../../identity/projects/ProjectAccessStore.ts"
import { intersectPolicies, noControls } from "../../policy/EffectivePolicy.ts"
import { type ProjectPolicy, policyOf, type RoutingConfiguration } from "../../policy/Policy.ts"
import { type PolicyColumns, type PolicyRow, PolicyStore } from "../../policy/PolicyStore.ts"
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
import { type PastCallRow, PastCallStore, type PastRange } from "./PastCallStore.ts"

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
  /** Each call at the alpha that applies to it. */
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
  /** Each call at the alpha that applies to it. */
  readonly before: Outcome
  readonly after: Outcome
  /** Calls that would go to another model. */
  readonly changed: number
  readonly byAlpha: ReadonlyArray<{ readonly alpha: number; readonly before: Outcome; readonly after: Outcome }>
}

/** Calls whose alpha comes from one place, at each alpha that could stand there. */
export interface AlphaGroup {
  /** The routing configuration that has the alpha; `null`: the policy of the project. */
  readonly slug: string | null
  /** The current one. */
  readonly alpha: number
  readonly calls: number
  /** What those of the calls have cost that a model could take again, in micro-USD. */
  readonly chargedMicroUsd: number
  readonly current: Outcome
  readonly points: ReadonlyArray<AlphaPoint>
}

/** The calls of a project between two times at each alpha, all of them and by the place that their alpha comes from. */
export interface Outlook extends AlphaCurve {
  readonly groups: ReadonlyArray<AlphaGroup>
  /** Of the snapshot of graded qualities; `null`: all qualities are assumed. */
  readonly qualityVersion: number | null
}

/** Other rules for the calls of a project. */
export interface RuleChange {
  /** The current one by default. */
  readonly policy?: PolicyColumns
  /** In place of the routing configuration with its slug. */
  readonly configuration?: Pick<RoutingConfiguration, "alpha" | "slug">
}

/** Ranks past calls of a project again, from what the router saw of them. */
export interface RoutingReplayShape {
  /** Without a person: for analyses, which a person has asked for. */
  readonly outlook: (project: ProjectId, range: PastRange) => Effect.Effect<Outlook, NotFound | StoreUnavailable>
  /** As `CurrentUser`; `calls` is at most `maxCalls`. */
  readonly alphaCurve: (
    project: ProjectId,
    calls: number
  ) => Effect.Effect<AlphaCurve, NotFound | StoreUnavailable, CurrentUser>
  /** The current rules and other ones. */
  readonly compare: (
    project: ProjectId,
    change: RuleChange
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
  const projects = yield* ProjectAccessStore
  const policies = yield* PolicyStore
  const configurations = yield* RoutingConfigurations
  const quality = yield* QualitySnapshots
  const store = yield* PastCallStore
  const transactions = yield* AccountTransactions
  const usable = yield* usableModels
  const outputLengths = Option.getOrUndefined(yield* Effect.serviceOption(OutputLengths))

  const read = Effect.fnUntraced(function* <R>(
    find: Effect.Effect<Pick<AccessibleProject, "billingMode" | "id">, NotFound | StoreUnavailable, R>,
    limit: number,
    range?: PastRange
  ) {
    const { billingMode, id, row } = yield* transactions.commit(() =>
      Effect.gen(function* () {
        const { billingMode, id } = yield* find
        const row = yield* policies.find(id)
        return row === undefined
          ? yield* Effect.dieMessage("a project that was found has a policy")
          : { billingMode, id, row }
      })
    )
    const rows = yield* store.newest(id, limit, range)
    const snapshot = yield* usable(id, billingMode)
    const known = yield* configurations.ofProject(id)
    const { graded, version } = yield* quality.ofProject(id)
    return {
      rows,
      row,
      qualityVersion: version,
      configurations: known,
      rulesWith: (project: ProjectPolicy, configurations: ReadonlyArray<RoutingConfiguration>): Rules => ({
        snapshot,
        project,
        configurations,
        billingMode,
        graded,
        outputLengths
      })
    }
  })

  const curveOf = Effect.fnUntraced(function* ({ configurations, row, rows, rulesWith }: PastCalls) {
    const project = policyOf(row, row.policy_version)
    const rules = rulesWith(project, configurations)
    const defaultAlpha = intersectPolicies(project, null, noControls).alpha
    const current = emptyOutcome()
    const points = curveAlphas.map((alpha) => ({ alpha, outcome: emptyOutcome() }))
    const groups = new Map<string | null, AlphaGroup & { calls: number; chargedMicroUsd: number }>()
    const groupOf = ({ features, routingConfig }: PastCall) => {
      if (features.controls.alpha !== undefined) return undefined
      const alpha = configurations.find(({ slug }) => slug === routingConfig)?.alpha ?? null
      const slug = alpha === null ? null : routingConfig
      const group = groups.get(slug) ?? {
        slug,
        alpha: alpha ?? defaultAlpha,
        calls: 0,
        chargedMicroUsd: 0,
        current: emptyOutcome(),
        points: curveAlphas.map((each) => ({ alpha: each, outcome: emptyOutcome() }))
      }
      groups.set(slug, group)
      return group
    }
    const replay = yield* overCalls(rows, (call, costMicroUsd) => {
      const choices = choose(call, rules, curveAlphas)
      if (choices === null) return false
      const group = groupOf(call)
      if (group !== undefined) {
        group.calls += 1
        if (choices.own !== undefined) group.chargedMicroUsd += costMicroUsd
      }
      for (const [own, at] of [
        [current, points] as const,
        ...(group ? [[group.current, group.points] as const] : [])
      ]) {
        add(own, choices.own)
        at.forEach(({ outcome }, index) => {
          add(outcome, choices.at[index])
        })
      }
      return true
    })
    return { ...replay, defaultAlpha, current, points, groups: [...groups.values()] }
  })

  return RoutingReplay.of({
    alphaCurve: Effect.fn("RoutingReplay.alphaCurve")(function* (id, calls) {
      return yield* curveOf(yield* read(access.find(id), calls))
    }),
    outlook: Effect.fn("RoutingReplay.outlook")(function* (id, range) {
      const find = Effect.flatMap(projects.findAny(id), (found) =>
        found === undefined ? Effect.fail(new NotFound({ message: "Project not found." })) : Effect.succeed(found)
      )
      const past = yield* read(find, maxCalls, range)
      return { ...(yield* curveOf(past)), qualityVersion: past.qualityVersion }
    }),
    compare: Effect.fn("RoutingReplay.compare")(function* (id, { configuration, policy }) {
      const { configurations, row, rows, rulesWith } = yield* read(access.find(id), maxCalls)
      const rulesBefore = rulesWith(policyOf(row, row.policy_version), configurations)
      const rulesAfter = rulesWith(
        policyOf(policy ?? row, row.policy_version),
        configurations.map((each) =>
          each.slug === configuration?.slug ? { ...each, alpha: configuration.alpha } : each
        )
      )
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

/** Calls that are to be ranked again, with what ranks them. */
interface PastCalls {
  readonly rows: ReadonlyArray<PastCallRow>
  readonly row: PolicyRow
  readonly configurations: ReadonlyArray<RoutingConfiguration>
  readonly rulesWith: (project: ProjectPolicy, configurations: ReadonlyArray<RoutingConfiguration>) => Rules
}

const idOf = (choice: Replayed | undefined): string | undefined => choice?.model.id

/** `rank` says whether the call could be ranked again. */
const overCalls = Effect.fnUntraced(function* (
  rows: ReadonlyArray<PastCallRow>,
  rank: (call: PastCall, costMicroUsd: number) => boolean
) {
  let calls = 0
  let chargedMicroUsd = 0
  let from: Date | null = null
  let to: Date | null = null
  for (const [index, { costMicroUsd, endedAt, features, routingConfig }] of rows.entries()) {
    if (index > 0 && index % callsInOneTurn === 0) yield* nextTurn
    const known = fromRecorded(features)
    if (known === null || !rank({ features: known, routingConfig }, costMicroUsd)) continue
    calls += 1
    chargedMicroUsd += costMicroUsd
    from = endedAt
    to ??= endedAt
  }
  return { calls, skipped: rows.length - calls, from, to, chargedMicroUsd }
})
