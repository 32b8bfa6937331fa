import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AlreadyExists, NotFound, type SealingUnavailable } from "../../domain/AccountError.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { AccountId } from "../../domain/Ids.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import type { AnalysisDetail, AnalysisReport, AnalysisSummary } from "../../wire/account/Analyses.ts"
import { type ExperimentRow, ExperimentStore } from "../receipts/ExperimentStore.ts"
import { receiptOf } from "../receipts/ReceiptOf.ts"
import { type AnalysisRow, AnalysisStore, type ListedAnalysis } from "./AnalysisStore.ts"
import { ReportSeal } from "./ReportSeal.ts"

export interface AnalysisReadingShape {
  /** The same error for an analysis of a project that the current user may not see. */
  readonly find: (
    id: string
  ) => Effect.Effect<
    { readonly row: AnalysisRow; readonly accountId: AccountId },
    NotFound | StoreUnavailable,
    CurrentUser
  >
  readonly detail: (row: AnalysisRow) => Effect.Effect<AnalysisDetail, SealingUnavailable | StoreUnavailable>
}

/** Analyses as their people see them. */
export class AnalysisReading extends Context.Tag("gateway/analysis/AnalysisReading")<
  AnalysisReading,
  AnalysisReadingShape
>() {
  static readonly layer: Layer.Layer<
    AnalysisReading,
    never,
    AnalysisStore | ExperimentStore | ProjectAccess | ReportSeal
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const store = yield* AnalysisStore
  const seal = yield* ReportSeal
  const experiments = yield* ExperimentStore
  return AnalysisReading.of({
    find: (id) =>
      Effect.gen(function* () {
        const row = yield* store.find(id)
        if (row === undefined) return yield* noAnalysis
        const project = yield* Effect.catchTag(access.find(row.projectId), "NotFound", () => noAnalysis)
        return { row, accountId: project.accountId }
      }),
    detail: (row) =>
      Effect.gen(function* () {
        const taken = yield* store.taken(row.id)
        const report = row.reportSealed === null ? null : yield* seal.open(row.id, row.reportSealed)
        return {
          ...summaryOf(row),
          report: report === null ? null : withReceipts(report, yield* experiments.ofAnalysis(row.id)),
          progress: row.status === "running" ? { phase: row.phase, done: row.done, total: row.total } : null,
          actions_taken: taken.map(({ actionId, appliedAt, fieldsAfter, fieldsBefore, kind, undoneAt }) => ({
            action_id: actionId,
            kind,
            applied_at: appliedAt,
            undone_at: undoneAt,
            before: fieldsBefore,
            after: fieldsAfter
          }))
        }
      })
  })
})

/** What is measured after a report is not sealed with it. */
const withReceipts = (report: AnalysisReport, experiments: ReadonlyArray<ExperimentRow>): AnalysisReport => ({
  ...report,
  actions: report.actions.map((action) => {
    const experiment = experiments.find(({ actionId }) => actionId === action.id)
    return experiment === undefined ? action : { ...action, receipt: receiptOf(experiment) }
  })
})

const noAnalysis = new NotFound({ message: "Analysis not found." })
/** One of a project at a time. */
export const alreadyRunning = new AlreadyExists({ message: "An analysis of this project is queued or running." })

export const summaryOf = (row: ListedAnalysis): AnalysisSummary => ({
  id: row.id,
  project_id: row.projectId,
  status: row.status,
  range_start: row.rangeStart,
  range_end: row.rangeEnd,
  requested_count: row.requestedCount,
  sample_count: row.sampleCount,
  created_at: row.createdAt,
  finished_at: row.finishedAt,
  error: row.error
})
