import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { AlreadyExists, NotFound, type RoleRequired, type SealingUnavailable } from "../../domain/AccountError.ts"
import { cost } from "../../domain/Call.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { dateAt } from "../../domain/Dates.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import type { AnalysisDetail, AnalysisEstimate, AnalysisSummary, CreateAnalysis } from "../../wire/account/Analyses.ts"
import { AnalysisSource } from "./AnalysisSource.ts"
import { type AnalysisRow, AnalysisStore } from "./AnalysisStore.ts"
import { ReportSeal } from "./ReportSeal.ts"

type Found = NotFound | StoreUnavailable
type Refused = Found | RoleRequired

export interface AnalysesShape {
  /** What an analysis would read. */
  readonly estimate: (
    project: ProjectId,
    request: CreateAnalysis
  ) => Effect.Effect<AnalysisEstimate, Refused | InvalidRequest, CurrentUser>
  /** One of a project at a time. */
  readonly create: (
    project: ProjectId,
    request: CreateAnalysis
  ) => Effect.Effect<AnalysisSummary, Refused | AlreadyExists | InvalidRequest | SealingUnavailable, CurrentUser>
  /** Newest first, those before `before`. */
  readonly list: (
    project: ProjectId,
    max: number,
    before: string | undefined
  ) => Effect.Effect<ReadonlyArray<AnalysisSummary>, Found, CurrentUser>
  readonly read: (id: string) => Effect.Effect<AnalysisDetail, Found, CurrentUser>
  /** Has no effect on one that has ended. */
  readonly cancel: (id: string) => Effect.Effect<AnalysisSummary, Refused, CurrentUser>
  /** Notes that an action of the report was followed. */
  readonly apply: (id: string, action: string) => Effect.Effect<AnalysisDetail, Refused, CurrentUser>
  /** Notes that it was taken back. */
  readonly undo: (id: string, action: string) => Effect.Effect<AnalysisDetail, Refused, CurrentUser>
}

/** The analyses of projects, each time as `CurrentUser`. */
export class Analyses extends Context.Tag("gateway/analysis/Analyses")<Analyses, AnalysesShape>() {
  static readonly layer: Layer.Layer<
    Analyses,
    never,
    AccountTransactions | AnalysisSource | AnalysisStore | Audit | IdGenerator | ProjectAccess | ReportSeal
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const defaultRangeMillis = 30 * 24 * 3_600_000

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const store = yield* AnalysisStore
  const source = yield* AnalysisSource
  const seal = yield* ReportSeal
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator

  const rangeOf = ({ end, start }: CreateAnalysis) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const to = end ?? dateAt(now)
      const from = start ?? dateAt(to.getTime() - defaultRangeMillis)
      return from < to ? Effect.succeed({ from, to }) : Effect.fail(emptyRange)
    })

  /** The same error for an analysis of a project that the current user may not see. */
  const find = (id: string) =>
    Effect.gen(function* () {
      const row = yield* store.find(id)
      if (row === undefined) return yield* noAnalysis
      const project = yield* Effect.catchTag(access.find(row.projectId), "NotFound", () => noAnalysis)
      return { row, accountId: project.accountId }
    })

  const detail = (row: AnalysisRow) =>
    Effect.gen(function* () {
      const taken = yield* store.taken(row.id)
      return {
        ...summaryOf(row),
        report: row.reportSealed === null ? null : yield* seal.open(row.id, row.reportSealed),
        progress: row.status === "running" ? { phase: row.phase, done: row.done, total: row.total } : null,
        actions_taken: taken.map(({ actionId, appliedAt, undoneAt }) => ({
          action_id: actionId,
          applied_at: appliedAt,
          undone_at: undoneAt
        }))
      } satisfies AnalysisDetail
    })

  const change = (id: string, action: string, actionId: string | null, write: Effect.Effect<void, StoreUnavailable>) =>
    transactions.commit((announce) =>
      Effect.gen(function* () {
        const { accountId, row } = yield* find(id)
        yield* access.require(row.projectId, "member")
        yield* write
        yield* announce({ kind: "analysis", id })
        yield* audit.record({
          accountId,
          actor: yield* CurrentUser,
          action,
          target: { kind: "analysis", id },
          before: { status: row.status },
          after: actionId === null ? null : { action_id: actionId }
        })
      })
    )

  /** Only what its own report recommends. */
  const act = (id: string, actionId: string, action: string, write: Effect.Effect<void, StoreUnavailable>) =>
    Effect.gen(function* () {
      const { row } = yield* find(id)
      const { report } = yield* detail(row)
      if (report?.actions.every((each) => each.id !== actionId) !== false) {
        return yield* new NotFound({ message: "The report has no such action." })
      }
      yield* change(id, action, actionId, write)
      return yield* detail(row)
    })

  return Analyses.of({
    estimate: (project, request) =>
      Effect.gen(function* () {
        yield* access.require(project, "member")
        const range = yield* rangeOf(request)
        const conversations = yield* source.conversations(project, { ...range, max: request.requested_count })
        const traffic = yield* source.traffic(project, range)
        return {
          conversations: conversations.length,
          calls: conversations.reduce((sum, { calls }) => sum + calls, 0),
          traffic: { calls: traffic.calls, spent_microusd: traffic.spentMicroUsd },
          cost: cost(0, "charged")
        }
      }),
    create: (project, request) =>
      Effect.gen(function* () {
        const { accountId } = yield* access.require(project, "member")
        const { from, to } = yield* rangeOf(request)
        yield* seal.check
        const id = ids.uuid()
        return yield* transactions.commit((announce) =>
          Effect.gen(function* () {
            const created = yield* store.create({
              id,
              projectId: project,
              rangeStart: from,
              rangeEnd: to,
              requestedCount: request.requested_count,
              seed: seedOf(id)
            })
            if (!created) return yield* alreadyRunning
            yield* announce({ kind: "analysis", id })
            yield* audit.record({
              accountId,
              actor: yield* CurrentUser,
              action: "analysis.create",
              target: { kind: "analysis", id },
              before: null,
              after: { project_id: project, range_start: from, range_end: to, requested_count: request.requested_count }
            })
            const row = yield* store.find(id)
            return row === undefined ? yield* Effect.dieMessage("an analysis was not written") : summaryOf(row)
          })
        )
      }),
    list: (project, max, before) =>
      Effect.zipRight(
        access.find(project),
        Effect.map(store.list(project, max, before), (rows) => rows.map(summaryOf))
      ),
    read: (id) => Effect.flatMap(find(id), ({ row }) => detail(row)),
    cancel: (id) =>
      Effect.gen(function* () {
        yield* change(id, "analysis.cancel", null, store.cancel(id))
        return summaryOf((yield* find(id)).row)
      }),
    apply: (id, action) => act(id, action, "analysis.action.apply", store.take(id, action)),
    undo: (id, action) => act(id, action, "analysis.action.undo", store.undo(id, action))
  })
})

const noAnalysis = new NotFound({ message: "There is no such analysis." })
const alreadyRunning = new AlreadyExists({ message: "An analysis of this project waits or runs." })
const emptyRange = new InvalidRequest({
  code: "invalid_value",
  message: "Invalid value for 'start': it is not before 'end'.",
  param: "start"
})

/** From the random part of the id, within what an integer column holds. */
const seedOf = (id: string): number => Number.parseInt(id.slice(-7), 16)

const summaryOf = (row: AnalysisRow): AnalysisSummary => ({
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
