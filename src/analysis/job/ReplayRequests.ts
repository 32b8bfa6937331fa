import * as Effect from "effect/Effect"
import { Audit } from "../../audit/Audit.ts"
import { AlreadyExists, NotFound, type RoleRequired, type SealingUnavailable } from "../../domain/AccountError.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import type { ReplayQuote, ReplayRequest } from "../../wire/account/AnalysisEvidence.ts"
import type { Plan } from "../evidence/Plan.ts"
import { ReplayRun } from "../evidence/ReplayRun.ts"
import type { RequestedReplay } from "../evidence/RequestedReplay.ts"
import { AnalysisReading, alreadyRunning } from "./AnalysisReading.ts"
import { type AnalysisRow, AnalysisStore } from "./AnalysisStore.ts"
import { ReportSeal } from "./ReportSeal.ts"

type Refused = NotFound | RoleRequired | AlreadyExists | InvalidRequest | SealingUnavailable | StoreUnavailable

/** Answers what a replay would ask and cost; where it is confirmed, the analysis is queued again for it. */
export const make: Effect.Effect<
  (id: string, request: ReplayRequest) => Effect.Effect<ReplayQuote, Refused, CurrentUser>,
  never,
  AccountTransactions | AnalysisReading | AnalysisStore | Audit | ProjectAccess | ProjectStore | ReplayRun | ReportSeal
> = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const projects = yield* ProjectStore
  const store = yield* AnalysisStore
  const seal = yield* ReportSeal
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const { detail, find } = yield* AnalysisReading
  const replays = yield* ReplayRun

  const planFor = (row: AnalysisRow, { candidates, judge_model: judgeModel }: ReplayRequest) =>
    Effect.gen(function* () {
      const { report } = yield* detail(row)
      if (row.status === "queued" || row.status === "running") return yield* alreadyRunning
      if (row.replay !== null) return yield* alreadyReplayed
      if (report === null) return yield* noReport
      const days = (row.rangeEnd.getTime() - row.rangeStart.getTime()) / dayMillis
      return yield* replays.plan(row.projectId, report.segments, { days, judgeModel, candidates })
    })

  const start = ({ id, projectId }: AnalysisRow, replay: RequestedReplay) =>
    transactions.commit((announce) =>
      Effect.gen(function* () {
        // the plan takes a while: whoever may no longer spend the project's money by now starts nothing
        yield* projects.lock(projectId)
        const { accountId } = yield* find(id)
        yield* access.require(projectId, "member")
        if (!(yield* store.startReplay(id, replay))) return yield* alreadyRunning
        yield* announce({ kind: "analysis", id })
        yield* audit.record({
          accountId,
          action: "analysis.replay",
          target: { kind: "analysis", id },
          before: null,
          after: {
            max_spend_microusd: replay.maxSpendMicroUsd,
            judge_model: replay.judgeModel,
            questions: replay.questions.map((question) => question.id)
          }
        })
      })
    )

  return Effect.fn("Analyses.replay")(function* (id, request) {
    const { row } = yield* find(id)
    yield* access.require(row.projectId, "member")
    const plan = yield* planFor(row, request)
    if (request.confirm) {
      const replay = yield* confirmed(plan, request)
      yield* seal.check
      yield* start(row, replay)
    }
    return quoteOf(id, plan, request)
  })
})

const dayMillis = 24 * 3_600_000

const confirmed = (
  { judge, questions }: Plan,
  { max_spend_microusd: maxSpendMicroUsd }: ReplayRequest
): Effect.Effect<RequestedReplay, InvalidRequest> => {
  if (judge === undefined) return noJudge
  return questions.length === 0 ? noQuestion : Effect.succeed({ maxSpendMicroUsd, judgeModel: judge.id, questions })
}

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
