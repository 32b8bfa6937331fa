import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import type { AlreadyExists, NotFound, RoleRequired, SealingUnavailable } from "../../domain/AccountError.ts"
import { cost } from "../../domain/Call.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import { dateAt } from "../../domain/Dates.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import type { AnalysisDetail, AnalysisEstimate, AnalysisSummary, CreateAnalysis } from "../../wire/account/Analyses.ts"
import type { ReplayQuote, ReplayRequest } from "../../wire/account/AnalysisEvidence.ts"
import type { ReplayRun } from "../evidence/ReplayRun.ts"
import { AnalysisReading, alreadyRunning, summaryOf } from "./AnalysisReading.ts"
import { AnalysisSource } from "./AnalysisSource.ts"
import { AnalysisStore } from "./AnalysisStore.ts"
import * as ReplayRequests from "./ReplayRequests.ts"
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
  readonly read: (id: string) => Effect.Effect<AnalysisDetail, Found | SealingUnavailable, CurrentUser>
  /** What a replay would ask and cost; where it is confirmed, the analysis runs again for it. Once for an analysis. */
  readonly replay: (
    id: string,
    request: ReplayRequest
  ) => Effect.Effect<ReplayQuote, Refused | AlreadyExists | InvalidRequest | SealingUnavailable, CurrentUser>
  /** Has no effect on one that has ended. */
  readonly cancel: (id: string) => Effect.Effect<AnalysisSummary, Refused, CurrentUser>
}

/** The analyses of projects, each time as `CurrentUser`. */
export class Analyses extends Context.Tag("gateway/analysis/Analyses")<Analyses, AnalysesShape>() {
  static readonly layer: Layer.Layer<
    Analyses,
    never,
    | AccountTransactions
    | AnalysisReading
    | AnalysisSource
    | AnalysisStore
    | Audit
    | IdGenerator
    | ProjectAccess
    | ProjectStore
    | ReplayRun
    | ReportSeal
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const defaultRangeMillis = 30 * 24 * 3_600_000

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const store = yield* AnalysisStore
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const { detail, find } = yield* AnalysisReading

  return Analyses.of({
    ...(yield* creation),
    list: (project, max, before) =>
      Effect.zipRight(
        access.find(project),
        Effect.map(store.list(project, max, before), (rows) => rows.map(summaryOf))
      ),
    read: (id) => Effect.flatMap(find(id), ({ row }) => detail(row)),
    replay: yield* ReplayRequests.make,
    cancel: (id) =>
      Effect.gen(function* () {
        yield* transactions.commit((announce) =>
          Effect.gen(function* () {
            const { accountId, row } = yield* find(id)
            yield* access.require(row.projectId, "member")
            yield* store.cancel(id)
            yield* announce({ kind: "analysis", id })
            yield* audit.record({
              accountId,
              action: "analysis.cancel",
              target: { kind: "analysis", id },
              before: { status: row.status },
              after: null
            })
          })
        )
        return summaryOf((yield* find(id)).row)
      })
  })
})

/** What an analysis would read, and an analysis that is to read it. */
const creation = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const projects = yield* ProjectStore
  const store = yield* AnalysisStore
  const source = yield* AnalysisSource
  const seal = yield* ReportSeal
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator

  return {
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
        yield* access.require(project, "member")
        const { from, to } = yield* rangeOf(request)
        yield* seal.check
        const id = ids.uuid()
        return yield* transactions.commit((announce) =>
          Effect.gen(function* () {
            // one that is deleted meanwhile keeps no analysis
            yield* projects.lock(project)
            const { accountId } = yield* access.require(project, "member")
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
              action: "analysis.create",
              target: { kind: "analysis", id },
              before: null,
              after: { project_id: project, range_start: from, range_end: to, requested_count: request.requested_count }
            })
            const row = yield* store.find(id)
            return row === undefined ? yield* Effect.dieMessage("an analysis was not written") : summaryOf(row)
          })
        )
      })
  } satisfies Partial<AnalysesShape>
})

const rangeOf = ({ end, start }: CreateAnalysis) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const to = end ?? dateAt(now)
    const from = start ?? dateAt(to.getTime() - defaultRangeMillis)
    return from < to ? Effect.succeed({ from, to }) : emptyRange
  })

const emptyRange = new InvalidRequest({
  code: "invalid_value",
  message: "Invalid value for 'start': it is not before 'end'.",
  param: "start"
})

/** From the random part of the id, within what an integer column holds. */
const seedOf = (id: string): number => Number.parseInt(id.slice(-7), 16)
