import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { AlreadyExists, NotFound, type RoleRequired, type SealingUnavailable } from "../../domain/AccountError.ts"
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
import type { Plan } from "../evidence/Plan.ts"
import { ReplayRun } from "../evidence/ReplayRun.ts"
import { AnalysisReading, summaryOf } from "./AnalysisReading.ts"
import { AnalysisSource } from "./AnalysisSource.ts"
import { AnalysisStore } from "./AnalysisStore.ts"
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
  const projects = yield* ProjectStore
  const store = yield* AnalysisStore
  const source = yield* AnalysisSource
  const seal = yield* ReportSeal
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator
  const { detail, find } = yield* AnalysisReading
  const replays = yield* ReplayRun

  const rangeOf = ({ end, start }: CreateAnalysis) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const to = end ?? dateAt(now)
      const from = start ?? dateAt(to.getTime() - defaultRangeMillis)
      return from < to ? Effect.succeed({ from, to }) : Effect.fail(emptyRange)
    })

  const cancelled = (id: string) =>
    transactions.commit((announce) =>
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
      }),
    list: (project, max, before) =>
      Effect.zipRight(
        access.find(project),
        Effect.map(store.list(project, max, before), (rows) => rows.map(summaryOf))
      ),
    read: (id) => Effect.flatMap(find(id), ({ row }) => detail(row)),
    replay: Effect.fn("Analyses.replay")(function* (id, request) {
      const { row } = yield* find(id)
      yield* access.require(row.projectId, "member")
      const { report } = yield* detail(row)
      if (row.status === "queued" || row.status === "running") return yield* alreadyRunning
      if (row.replay !== null) return yield* alreadyReplayed
      if (report === null) return yield* noReport
      const days = (row.rangeEnd.getTime() - row.rangeStart.getTime()) / dayMillis
      const terms = { days, judgeModel: request.judge_model, candidates: request.candidates }
      const plan = yield* replays.plan(row.projectId, report.segments, terms)
      if (!request.confirm) return quoteOf(id, plan, request)
      if (plan.judge === undefined) return yield* noJudge
      if (plan.questions.length === 0) return yield* noQuestion
      yield* seal.check
      const { judge, questions } = plan
      yield* transactions.commit((announce) =>
        Effect.gen(function* () {
          // the plan takes a while: whoever may no longer spend the project's money by now starts nothing
          yield* projects.lock(row.projectId)
          const { accountId } = yield* find(id)
          yield* access.require(row.projectId, "member")
          const replay = { maxSpendMicroUsd: request.max_spend_microusd, judgeModel: judge.id, questions }
          if (!(yield* store.startReplay(id, replay))) return yield* alreadyRunning
          yield* announce({ kind: "analysis", id })
          yield* audit.record({
            accountId,
            action: "analysis.replay",
            target: { kind: "analysis", id },
            before: null,
            after: {
              max_spend_microusd: request.max_spend_microusd,
              judge_model: judge.id,
              questions: questions.map((question) => question.id)
            }
          })
        })
      )
      return quoteOf(id, plan, request)
    }),
    cancel: (id) =>
      Effect.gen(function* () {
        yield* cancelled(id)
        return summaryOf((yield* find(id)).row)
      })
  })
})

const dayMillis = 24 * 3_600_000

const quoteOf = (id: string, { judge, questions }: Plan, request: ReplayRequest): ReplayQuote => ({
  analysis_id: id,
  started: request.confirm,
  judge_model: judge?.id ?? null,
  questions: questions.map(({ candidate, incumbent, pairs, promptClass, quote, savingPerCallMicroUsd }) => ({
    class: promptClass,
    incumbent,
    candidate,
    pairs,
    cost_microusd: quote.costMicroUsd,
    saving_per_call_microusd: savingPerCallMicroUsd,
    payback_calls: quote.paybackCalls,
    payback_days: quote.paybackDays,
    advised: quote.isAdvised
  })),
  cost_microusd: questions.reduce((sum, { quote }) => sum + quote.costMicroUsd, 0),
  max_spend_microusd: request.max_spend_microusd
})

const alreadyReplayed = new AlreadyExists({ message: "The analysis already has a replay: start another analysis." })
const noReport = new NotFound({ message: "The analysis has no report that a replay could extend." })
const noJudge = new InvalidRequest({
  code: "invalid_value",
  message:
    "Invalid value for 'judge_model': the judge must be a model that the project may use, of another family than the models that it compares.",
  param: "judge_model"
})
const noQuestion = new InvalidRequest({
  code: "invalid_value",
  message:
    "There is nothing to compare: no class of prompts has 20 conversations that may be replayed and a cheaper model for them.",
  param: "candidates"
})
const alreadyRunning = new AlreadyExists({ message: "An analysis of this project is queued or running." })
const emptyRange = new InvalidRequest({
  code: "invalid_value",
  message: "Invalid value for 'start': it is not before 'end'.",
  param: "start"
})

/** From the random part of the id, within what an integer column holds. */
const seedOf = (id: string): number => Number.parseInt(id.slice(-7), 16)
