import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { NotFound } from "../../domain/AccountError.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { nextTurn } from "../../domain/NextTurn.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { type AccessibleProject, ProjectAccessStore } from "../../identity/projects/ProjectAccessStore.ts"
import { policyOf, type RoutingConfiguration } from "../../policy/Policy.ts"
import { type PolicyColumns, PolicyStore } from "../../policy/PolicyStore.ts"
import { RoutingConfigurations } from "../../policy/RoutingConfigurations.ts"
import { QualitySnapshots } from "../../routing/evidence/QualitySnapshots.ts"
import { OutputLengths } from "../../routing/quality/OutputLengths.ts"
import type { Rules } from "../../routing/Replay.ts"
import { fromRecorded } from "../../routing/RequestFeatures.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { maxCalls } from "../../wire/account/Replay.ts"
import { usableModels } from "../policy/UsableModels.ts"
import { type PastCallRow, PastCallStore, type PastRange } from "./PastCallStore.ts"
import { type AlphaSums, alphaTally, type RuleSums, ruleTally, type Tally } from "./ReplayTallies.ts"

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
export interface AlphaCurve extends Replay, Omit<AlphaSums, "groups"> {}

/** The calls of a project under two policies. */
export interface PolicyReplay extends Replay, RuleSums {}

/** The calls of a project between two times at each alpha, all of them and by the place that their alpha comes from. */
export interface Outlook extends Replay, AlphaSums {
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

/** Calls that are ranked in one turn of the event loop, at all alphas: a few milliseconds with a hundred models. */
const callsInOneTurn = 25

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const projects = yield* ProjectAccessStore
  const pastCalls = yield* pastCallReader

  return RoutingReplay.of({
    alphaCurve: Effect.fn("RoutingReplay.alphaCurve")(function* (id, calls) {
      const { rows, rules } = yield* pastCalls(access.find(id), calls)
      return yield* replayed(rows, alphaTally(rules))
    }),
    outlook: Effect.fn("RoutingReplay.outlook")(function* (id, range) {
      const project = Effect.flatMap(projects.findAny(id), (found) =>
        found === undefined ? noProject : Effect.succeed(found)
      )
      const { qualityVersion, rows, rules } = yield* pastCalls(project, maxCalls, range)
      return { ...(yield* replayed(rows, alphaTally(rules))), qualityVersion }
    }),
    compare: Effect.fn("RoutingReplay.compare")(function* (id, change) {
      const { rows, rules } = yield* pastCalls(access.find(id), maxCalls)
      return yield* replayed(rows, ruleTally(rules, changedRules(rules, change)))
    })
  })
})

/** Calls that are to be ranked again, with what ranks them. */
interface PastCalls {
  readonly rows: ReadonlyArray<PastCallRow>
  /** The current ones. */
  readonly rules: Rules
  readonly qualityVersion: number | null
}

/** Reads the newest calls of a project that is found, and the current rules of it. */
const pastCallReader = Effect.gen(function* () {
  const policies = yield* PolicyStore
  const configurations = yield* RoutingConfigurations
  const quality = yield* QualitySnapshots
  const store = yield* PastCallStore
  const transactions = yield* AccountTransactions
  const usable = yield* usableModels
  const outputLengths = Option.getOrUndefined(yield* Effect.serviceOption(OutputLengths))

  return <R>(
    find: Effect.Effect<Pick<AccessibleProject, "billingMode" | "id">, NotFound | StoreUnavailable, R>,
    limit: number,
    range?: PastRange
  ): Effect.Effect<PastCalls, NotFound | StoreUnavailable, R> =>
    Effect.gen(function* () {
      const { billingMode, id, policy } = yield* transactions.commit(() =>
        Effect.gen(function* () {
          const { billingMode, id } = yield* find
          const row = yield* policies.find(id)
          if (row === undefined) return yield* Effect.dieMessage("a project that was found has a policy")
          return { billingMode, id, policy: policyOf(row, row.policy_version) }
        })
      )
      const rows = yield* store.newest(id, limit, range)
      const snapshot = yield* usable(id, billingMode)
      const known = yield* configurations.ofProject(id)
      const { graded, version } = yield* quality.ofProject(id)
      const rules = { snapshot, project: policy, configurations: known, billingMode, graded, outputLengths }
      return { rows, rules, qualityVersion: version }
    })
})

const changedRules = (rules: Rules, { configuration, policy }: RuleChange): Rules => ({
  ...rules,
  project: policy === undefined ? rules.project : policyOf(policy, rules.project.version),
  configurations: rules.configurations.map((each) =>
    each.slug === configuration?.slug ? { ...each, alpha: configuration.alpha } : each
  )
})

const replayed = Effect.fnUntraced(function* <Sums>(rows: ReadonlyArray<PastCallRow>, tally: Tally<Sums>) {
  let calls = 0
  let chargedMicroUsd = 0
  let from: Date | null = null
  let to: Date | null = null
  for (const [index, { costMicroUsd, endedAt, features, routingConfig }] of rows.entries()) {
    if (index > 0 && index % callsInOneTurn === 0) yield* nextTurn
    const known = fromRecorded(features)
    if (known === null || !tally.rank({ features: known, routingConfig }, costMicroUsd)) continue
    calls += 1
    chargedMicroUsd += costMicroUsd
    from = endedAt
    to ??= endedAt
  }
  return { ...tally.sums(), calls, skipped: rows.length - calls, from, to, chargedMicroUsd }
})

const noProject = new NotFound({ message: "Project not found." })
