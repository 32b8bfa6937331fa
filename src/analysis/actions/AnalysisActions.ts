import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ProjectPolicies } from "../../account/policy/ProjectPolicies.ts"
import { type PolicyReplay, RoutingReplay } from "../../account/replay/RoutingReplay.ts"
import { ProjectRoutings } from "../../account/routing/ProjectRoutings.ts"
import { Audit, type AuditShape } from "../../audit/Audit.ts"
import {
  type AlreadyExists,
  ConfigVersionMismatch,
  type ManagedByConfiguration,
  NotFound,
  type RoleRequired,
  type SealingUnavailable
} from "../../domain/AccountError.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import type { InvalidRequest, StoreUnavailable } from "../../domain/GatewayError.ts"
import type { AccountId } from "../../domain/Ids.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import type { AnalysisDetail } from "../../wire/account/Analyses.ts"
import type { ActionPreview, AnalysisAction, ApplyAction } from "../../wire/account/AnalysisActions.ts"
import { AnalysisReading, type AnalysisReadingShape } from "../job/AnalysisReading.ts"
import { AnalysisStore, type AnalysisStoreShape } from "../job/AnalysisStore.ts"
import { applyStep } from "./ApplyStep.ts"
import * as HoldOuts from "./HoldOuts.ts"
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
  const access = yield* ProjectAccess
  const projects = yield* ProjectStore
  const transactions = yield* AccountTransactions
  const deps: ActionDeps = {
    reading,
    store: yield* AnalysisStore,
    settings: { policies: yield* ProjectPolicies, routings: yield* ProjectRoutings, replays: yield* RoutingReplay },
    holdOuts: yield* HoldOuts.make,
    audit: yield* Audit
  }

  /** One change of the project at a time, by a member. */
  const changing = <E, R>(id: string, change: Effect.Effect<void, E, R>) =>
    transactions.commit((announce) =>
      Effect.gen(function* () {
        const { row } = yield* reading.find(id)
        yield* projects.lock(row.projectId)
        yield* access.require(row.projectId, "member")
        yield* change
        yield* announce({ kind: "analysis", id })
        const after = yield* reading.find(id)
        return yield* reading.detail(after.row)
      })
    )

  return AnalysisActions.of({
    preview: Effect.fn("AnalysisActions.preview")((id, actionId) => previewOf(deps, id, actionId)),
    apply: Effect.fn("AnalysisActions.apply")((id, actionId, request) =>
      changing(id, applyAction(deps, id, actionId, request))
    ),
    undo: Effect.fn("AnalysisActions.undo")((id, actionId) => changing(id, undoAction(deps, id, actionId)))
  })
})

interface ActionDeps {
  readonly reading: AnalysisReadingShape
  readonly store: Pick<AnalysisStoreShape, "take" | "taken" | "undo">
  readonly settings: SettingsChange.ChangeDeps
  readonly holdOuts: HoldOuts.HoldOuts
  readonly audit: AuditShape
}

const previewOf = ({ reading, settings, store }: ActionDeps, id: string, actionId: string) =>
  Effect.gen(function* () {
    const { action, projectId } = yield* find(reading, store, id, actionId)
    const target = Change.targetOf(action)
    if (target === undefined) return hintOf(action)
    const change = yield* SettingsChange.of(settings, projectId, target, action)
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
    } satisfies Preview
  })

const applyAction = (
  { audit, holdOuts, reading, settings, store }: ActionDeps,
  id: string,
  actionId: string,
  request: ApplyAction
) =>
  Effect.gen(function* () {
    const { accountId, action, estimatedPerCall, projectId, taken } = yield* find(reading, store, id, actionId)
    const record = recordOf(audit, accountId, "analysis.action.apply", id)
    const step = yield* applyStep(action, taken !== undefined, request)
    if (step._tag === "None") return
    if (step._tag === "FollowHint") {
      yield* store.take(id, { actionId, kind: "client_hint", slug: null, fieldsBefore: null, fieldsAfter: null })
      return yield* record({}, { action_id: actionId })
    }
    const { canary, configVersion, target } = step
    const change = yield* SettingsChange.of(settings, projectId, target, action)
    if (change.configVersion !== configVersion) return yield* changedMeanwhile
    const { after, alphas, before } = change
    const slug = target.kind === "policy" ? null : target.slug
    yield* change.write(after)
    yield* store.take(id, { actionId, kind: target.kind, slug, fieldsBefore: before, fieldsAfter: after })
    yield* record(before, { action_id: actionId, ...after, ...(canary !== undefined && { canary }) })
    if (canary === undefined) return
    const changed = { projectId, analysisId: id, actionId, slug, before, after, alphas, estimatedPerCall }
    yield* holdOuts.start({ ...changed, ...canary })
  })

const undoAction = ({ audit, holdOuts, reading, settings, store }: ActionDeps, id: string, actionId: string) =>
  Effect.gen(function* () {
    const { accountId, action, projectId, taken } = yield* find(reading, store, id, actionId)
    if (taken === undefined) return
    const target = Change.targetOf(action)
    const { fieldsAfter: written, fieldsBefore: before } = taken
    if (target !== undefined && written !== null && before !== null) {
      const change = yield* SettingsChange.of(settings, projectId, target, action)
      if (!Change.stillThere(change.before, written)) return yield* changedSince
      yield* change.write(before)
    }
    if (action.receipt?.state === "running") yield* holdOuts.end(projectId, action.receipt.experiment_id)
    yield* store.undo(id, actionId)
    const record = recordOf(audit, accountId, "analysis.action.undo", id)
    yield* record({ action_id: actionId, ...written }, { ...before })
  })

/** Only what its own report recommends. */
const find = (reading: AnalysisReadingShape, store: ActionDeps["store"], id: string, actionId: string) =>
  Effect.gen(function* () {
    const { accountId, row } = yield* reading.find(id)
    const { report } = yield* reading.detail(row)
    const action = report?.actions.find((each) => each.id === actionId)
    if (action === undefined) return yield* noAction
    const taken = (yield* store.taken(id)).find((each) => each.actionId === actionId && each.undoneAt === null)
    const calls = report?.causes.find((cause) => cause.action_id === actionId)?.figures[callsRankedAgain] ?? 0
    const estimatedPerCall = calls > 0 ? action.saving.likely / calls : null
    return { accountId, action, estimatedPerCall, projectId: row.projectId, taken }
  })

const recordOf =
  (audit: AuditShape, accountId: AccountId, action: string, id: string) => (before: object, after: object) =>
    audit.record({ accountId, action, target: { kind: "analysis", id }, before, after })

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
