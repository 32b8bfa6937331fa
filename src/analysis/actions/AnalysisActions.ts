import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ProjectPolicies } from "../../account/policy/ProjectPolicies.ts"
import { type PolicyReplay, RoutingReplay } from "../../account/replay/RoutingReplay.ts"
import { ProjectRoutings } from "../../account/routing/ProjectRoutings.ts"
import { Audit } from "../../audit/Audit.ts"
import {
  AlreadyExists,
  ConfigVersionMismatch,
  type ManagedByConfiguration,
  NotFound,
  type RoleRequired,
  type SealingUnavailable
} from "../../domain/AccountError.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { PolicyStore } from "../../policy/PolicyStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import type { AnalysisDetail } from "../../wire/account/Analyses.ts"
import type { ActionPreview, AnalysisAction, ApplyAction } from "../../wire/account/AnalysisActions.ts"
import { AnalysisReading } from "../job/AnalysisReading.ts"
import { AnalysisStore } from "../job/AnalysisStore.ts"
import { ExperimentStore } from "../receipts/ExperimentStore.ts"
import * as Change from "./ProjectChange.ts"
import { callsRankedAgain } from "./Recommend.ts"
import * as SettingsChange from "./SettingsChange.ts"

type Found = NotFound | StoreUnavailable
type Unread = Found | SealingUnavailable
type Refused = Unread | RoleRequired | ManagedByConfiguration | ConfigVersionMismatch

/** What an action would change, with past calls ranked under it. */
export type Preview = Omit<ActionPreview, "replay"> & { readonly replay: PolicyReplay | null }

export interface AnalysisActionsShape {
  /** Writes nothing. */
  readonly preview: (id: string, action: string) => Effect.Effect<Preview, Unread, CurrentUser>
  /**
   * Changes the project as the action says, or notes that its hint was followed; nothing where that was done already.
   * `config_version` is the version that the preview has shown: the change is refused when there is a later one. With a `canary`
   * conversations are held out of the change; refused while that is so for another one of the project.
   */
  readonly apply: (
    id: string,
    action: string,
    request: ApplyAction
  ) => Effect.Effect<AnalysisDetail, Refused | AlreadyExists | InvalidRequest, CurrentUser>
  /** Restores what the action has changed, and ends its hold-out; refused where a user has changed it since. */
  readonly undo: (id: string, action: string) => Effect.Effect<AnalysisDetail, Refused | InvalidRequest, CurrentUser>
}

/** The actions that reports propose, each time as `CurrentUser`. */
export class AnalysisActions extends Context.Tag("gateway/analysis/AnalysisActions")<
  AnalysisActions,
  AnalysisActionsShape
>() {
  /** @internal */
  static readonly layer = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const reading = yield* AnalysisReading
  const store = yield* AnalysisStore
  const access = yield* ProjectAccess
  const projects = yield* ProjectStore
  const policies = yield* ProjectPolicies
  const deps = { policies, routings: yield* ProjectRoutings, replays: yield* RoutingReplay }
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const experiments = yield* ExperimentStore
  const policyStore = yield* PolicyStore
  const ids = yield* IdGenerator

  /** Only what its own report recommends. */
  const find = (id: string, actionId: string) =>
    Effect.gen(function* () {
      const { accountId, row } = yield* reading.find(id)
      const detail = yield* reading.detail(row)
      const action = detail.report?.actions.find((each) => each.id === actionId)
      if (action === undefined) return yield* noAction
      const taken = (yield* store.taken(id)).find((each) => each.actionId === actionId && each.undoneAt === null)
      const calls = detail.report?.causes.find((cause) => cause.action_id === actionId)?.figures[callsRankedAgain] ?? 0
      const estimatedPerCall = calls > 0 ? action.saving.likely / calls : null
      return { accountId, action, estimatedPerCall, projectId: row.projectId, taken }
    })

  const record = (
    { accountId }: Pick<Effect.Effect.Success<ReturnType<typeof find>>, "accountId">,
    action: string,
    id: string,
    before: object,
    after: object
  ) => audit.record({ accountId, action, target: { kind: "analysis", id }, before, after })

  /** Calls see it with the version of the policy that it begins with. */
  const holdOut = (
    id: string,
    { action, estimatedPerCall, projectId }: Effect.Effect.Success<ReturnType<typeof find>>,
    { after, alphas, before }: SettingsChange.SettingsChange,
    { days, share }: NonNullable<ApplyAction["canary"]>
  ) =>
    Effect.gen(function* () {
      yield* policyStore.raiseVersion(projectId)
      const { policy_version } = yield* policies.read(projectId)
      const { userId } = yield* CurrentUser
      const target = Change.targetOf(action)
      const started = yield* experiments.start({
        id: ids.uuid(),
        projectId,
        analysisId: id,
        actionId: action.id,
        slug: target?.kind === "routing_configuration" ? target.slug : null,
        before,
        after,
        alphas,
        share,
        days,
        estimatedPerCall,
        startedBy: userId,
        startVersion: policy_version
      })
      if (!started) return yield* anotherRuns
    })

  const detailOf = (id: string) => Effect.flatMap(reading.find(id), ({ row }) => reading.detail(row))

  /** One change of the project at a time, by a member. */
  const changing = <A, E, R>(id: string, change: Effect.Effect<A, E, R>) =>
    transactions.commit((announce) =>
      Effect.gen(function* () {
        const { row } = yield* reading.find(id)
        yield* projects.lock(row.projectId)
        yield* access.require(row.projectId, "member")
        yield* change
        yield* announce({ kind: "analysis", id })
        return yield* detailOf(id)
      })
    )

  return AnalysisActions.of({
    preview: Effect.fn("AnalysisActions.preview")(function* (id, actionId) {
      const { action, projectId } = yield* find(id, actionId)
      const target = Change.targetOf(action)
      if (target === undefined) return hintOf(action)
      const change = yield* SettingsChange.of(deps, projectId, target, action)
      return {
        action_id: action.id,
        kind: action.kind,
        text: null,
        config_version: change.configVersion,
        managed_by_configuration: change.isManaged,
        before: change.before,
        after: change.after,
        becomes_empty: yield* change.becomesEmpty,
        replay: yield* change.replay
      }
    }),
    apply: Effect.fn("AnalysisActions.apply")(function* (id, actionId, { canary, config_version: configVersion }) {
      return yield* changing(
        id,
        Effect.gen(function* () {
          const found = yield* find(id, actionId)
          const { action, projectId, taken } = found
          const target = Change.targetOf(action)
          if (target === undefined && configVersion !== undefined) return yield* changesNothing("config_version")
          if (target === undefined && canary !== undefined) return yield* changesNothing("canary")
          if (taken !== undefined) {
            if (canary !== undefined && action.receipt?.state !== "running") return yield* alreadyApplied
            return
          }
          if (target === undefined) {
            yield* store.take(id, { actionId, kind: "client_hint", slug: null, fieldsBefore: null, fieldsAfter: null })
            yield* record(found, "analysis.action.apply", id, {}, { action_id: actionId })
            return
          }
          if (configVersion === undefined) return yield* versionMissing
          const change = yield* SettingsChange.of(deps, projectId, target, action)
          if (change.configVersion !== configVersion) return yield* changedMeanwhile
          yield* change.write(change.after)
          yield* store.take(id, {
            actionId,
            kind: target.kind,
            slug: target.kind === "policy" ? null : target.slug,
            fieldsBefore: change.before,
            fieldsAfter: change.after
          })
          const after = { action_id: actionId, ...change.after, ...(canary !== undefined && { canary }) }
          yield* record(found, "analysis.action.apply", id, change.before, after)
          if (canary !== undefined) yield* holdOut(id, found, change, canary)
        })
      )
    }),
    undo: Effect.fn("AnalysisActions.undo")(function* (id, actionId) {
      return yield* changing(
        id,
        Effect.gen(function* () {
          const found = yield* find(id, actionId)
          const { action, projectId, taken } = found
          if (taken === undefined) return
          const target = Change.targetOf(action)
          const { fieldsAfter: written, fieldsBefore: before } = taken
          if (target !== undefined && written !== null && before !== null) {
            const change = yield* SettingsChange.of(deps, projectId, target, action)
            if (!Change.stillThere(change.before, written)) return yield* changedSince
            yield* change.write(before)
          }
          if (action.receipt?.state === "running") {
            yield* experiments.end(action.receipt.experiment_id, { state: "undone", reason: undoneByUser })
            yield* policyStore.raiseVersion(projectId)
          }
          yield* store.undo(id, actionId)
          yield* record(found, "analysis.action.undo", id, { action_id: actionId, ...written }, { ...before })
        })
      )
    })
  })
})

const hintOf = ({ id, kind, patch }: AnalysisAction): Preview => ({
  action_id: id,
  kind,
  text: "text" in patch ? patch.text : null,
  config_version: null,
  managed_by_configuration: false,
  before: null,
  after: null,
  becomes_empty: [],
  replay: null
})

const noAction = new NotFound({ message: "Action not found in the report." })
const changedMeanwhile = new ConfigVersionMismatch({
  message: "The settings of the project have changed since the preview: preview the action again."
})
const changedSince = new ConfigVersionMismatch({
  message: "The fields that the action changed have been changed since: it can no longer be undone."
})
const versionMissing = new InvalidRequest({
  code: "missing_required_parameter",
  message: "Missing required parameter: 'config_version'. The preview of the action returns it.",
  param: "config_version"
})
const changesNothing = (param: string) =>
  new InvalidRequest({
    code: "unsupported_parameter",
    message: `Unsupported parameter: '${param}'. The action does not change the project.`,
    param
  })
const alreadyApplied = new AlreadyExists({
  message: "The action is applied to all conversations: undo it before it is applied with a hold-out."
})
const anotherRuns = new AlreadyExists({
  message: "Conversations of the project are held out of another change: undo it, or wait until its hold-out ends."
})
const undoneByUser = "A user undid the action."
