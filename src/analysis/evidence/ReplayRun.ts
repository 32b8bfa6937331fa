import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { usableModels } from "../../account/policy/UsableModels.ts"
import { Captured } from "../../capture/Captured.ts"
import { NotFound } from "../../domain/AccountError.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { IdGenerator } from "../../domain/IdGenerator.ts"
import { KeyId, type ProjectId } from "../../domain/Ids.ts"
import { classIndex, type PromptClass } from "../../domain/PromptClass.ts"
import type { Gateway } from "../../gateway/Gateway.ts"
import { ProjectAccessStore } from "../../identity/projects/ProjectAccessStore.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import { intersectPolicies, noControls } from "../../policy/EffectivePolicy.ts"
import { Policy } from "../../policy/Policy.ts"
import { QualityEvidence } from "../../routing/evidence/QualityEvidenceStore.ts"
import { QualitySnapshots } from "../../routing/evidence/QualitySnapshots.ts"
import { permittedModels } from "../../routing/PermittedModels.ts"
import { provenanceOf } from "../../routing/quality/QualityTable.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import type { AnalysisSegment, AnsweredQuestion } from "../../wire/account/AnalysisEvidence.ts"
import * as GatewayCalls from "./GatewayCalls.ts"
import { Judge } from "./Judge.ts"
import { margin, type Plan, type PlannedQuestion, type PlanTerms, planOf } from "./Plan.ts"
import { answer, type ReplayAnswer } from "./Replay.ts"
import type { ReplayItems } from "./ReplayItemStore.ts"
import type { RequestedReplay } from "./RequestedReplay.ts"
import type { SampleList } from "./Samples.ts"
import { isJudgeFit, type Verdict } from "./Verdict.ts"

/** A question with what came of it. */
export interface Answered {
  readonly promptClass: PromptClass
  readonly question: AnsweredQuestion
  /** Why it was stopped before there was an answer; `null` where no model was silent. */
  readonly stopped: ReplayAnswer["stopped"]
}

export interface ReplayRunShape {
  /** What would be asked, by the models that the project may use now; nothing is called. */
  readonly plan: (
    project: ProjectId,
    segments: ReadonlyArray<AnalysisSegment>,
    terms: PlanTerms
  ) => Effect.Effect<Plan, NotFound | StoreUnavailable>
  /** Asks one question after the other; grades go to the router of the project as each ends. */
  readonly run: (
    analysis: { readonly id: string; readonly projectId: ProjectId },
    replay: RequestedReplay,
    samples: SampleList,
    onAnswered: (answered: Answered) => Effect.Effect<void, StoreUnavailable>
  ) => Effect.Effect<void, NotFound | StoreUnavailable>
  /** What the replay has cost so far, in micro-USD. */
  readonly spent: (analysis: {
    readonly id: string
    readonly projectId: ProjectId
  }) => Effect.Effect<number, StoreUnavailable>
}

/** Replays captured calls with other models, on the money of the project and under the cap of the analysis. */
export class ReplayRun extends Context.Tag("gateway/analysis/ReplayRun")<ReplayRun, ReplayRunShape>() {
  /** @internal */
  static readonly layer = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

/** Calls at the same time: as one busy client makes them. */
const parallel = 4
/** Of the settlements of the last calls, which are on their way. */
const maxSettlingMillis = 5_000

const make = Effect.gen(function* () {
  const projects = yield* ProjectAccessStore
  const policies = yield* Policy
  const snapshots = yield* QualitySnapshots
  const evidence = yield* QualityEvidence
  const transactions = yield* AccountTransactions
  const ledger = yield* Ledger
  const scopes = yield* Scopes
  const usable = yield* usableModels
  const captured = yield* Captured
  const calls = yield* Effect.context<Gateway | IdGenerator | ReplayItems | Scopes>()

  const find = (project: ProjectId) =>
    Effect.flatMap(projects.findAny(project), (found) => (found === undefined ? noProject : Effect.succeed(found)))

  const modelsOf = (project: ProjectId) =>
    Effect.gen(function* () {
      const { billingMode } = yield* find(project)
      const snapshot = yield* usable(project, billingMode)
      const policy = yield* policies.ofProject(project)
      const { graded } = yield* snapshots.ofProject(project)
      return permittedModels(snapshot, intersectPolicies(policy, null, noControls), billingMode).map((model) => ({
        model,
        quality: (promptClass: PromptClass) => provenanceOf(model, classIndex[promptClass], graded).quality
      }))
    })

  /** The incumbent's quality moved by what the pairs have shown; nothing where it was not shown that the judge can tell. */
  const publish = (
    { id, projectId }: { readonly id: string; readonly projectId: ProjectId },
    { candidate, incumbent, promptClass }: PlannedQuestion,
    verdict: Verdict
  ) =>
    Effect.gen(function* () {
      if (verdict.pairs === 0 || verdict.outcome === "judge_biased" || !isJudgeFit(verdict)) return
      const models = yield* modelsOf(projectId)
      const served = models.find(({ model }) => model.id === incumbent)
      if (served === undefined) return
      const now = yield* Clock.currentTimeMillis
      const graded = {
        projectId,
        promptClass,
        model: candidate,
        source: "analysis" as const,
        sourceId: id,
        mean: Math.max(0, Math.min(1, served.quality(promptClass) + verdict.mean)),
        grades: verdict.pairs,
        comparison: {
          incumbent,
          wins: verdict.wins,
          losses: verdict.losses,
          ties: verdict.ties,
          placeboMean: verdict.placeboMean,
          sensitivityLow: verdict.sensitivityLow
        },
        gradedAtMillis: now
      }
      yield* transactions.commit((announce) =>
        evidence
          .record([graded])
          .pipe(
            Effect.zipRight(evidence.publish(projectId, now)),
            Effect.zipRight(announce({ kind: "quality", id: projectId }))
          )
      )
    })

  return ReplayRun.of({
    plan: Effect.fn("ReplayRun.plan")(function* (project, segments, terms) {
      return planOf(segments, yield* modelsOf(project), terms)
    }),
    run: Effect.fn("ReplayRun.run")(function* (
      analysis,
      { judgeModel, maxSpendMicroUsd, questions },
      samples,
      onAnswered
    ) {
      const { accountId, billingMode, rateLimits } = yield* find(analysis.projectId)
      const caller = { projectId: analysis.projectId, accountId, billingMode }
      const cap = { analysisId: analysis.id, maxSpendMicroUsd, caller, rateLimit: rateLimits }
      const mayFlow = (sample: string) => captured.mayFlow(analysis.projectId, sample)
      yield* Effect.forEach(
        questions,
        (question) =>
          Effect.gen(function* () {
            const asked = {
              analysisId: analysis.id,
              id: question.id,
              promptClass: question.promptClass,
              incumbent: question.incumbent,
              candidate: question.candidate,
              samples: samples.of(question),
              terms: { margin, opened: questions.length }
            }
            const verdict = yield* answer(asked, { parallel })
            yield* publish(analysis, question, verdict)
            const { stopped } = verdict
            yield* onAnswered({ promptClass: question.promptClass, question: answeredOf(question, verdict), stopped })
          }),
        { discard: true }
      ).pipe(
        Effect.provide(Layer.provideMerge(Judge.layerOf(judgeModel), GatewayCalls.layer(cap, mayFlow))),
        Effect.provide(calls)
      )
    }),
    spent: ({ id, projectId }) =>
      Effect.gen(function* () {
        const project = yield* projects.findAny(projectId)
        if (project !== undefined) yield* Effect.timeoutOption(ledger.flushedOf(project.accountId), maxSettlingMillis)
        const scope = yield* scopes.read(KeyId.make(id))
        return Option.match(scope, { onNone: () => 0, onSome: ({ spentMicroUsd }) => spentMicroUsd })
      })
  })
})

const noProject = new NotFound({ message: "Project not found." })

const answeredOf = (question: PlannedQuestion, verdict: ReplayAnswer): AnsweredQuestion => {
  const { costs, pairs, quote } = question
  const perPair = pairs === 0 ? costs.candidate : quote.costMicroUsd / pairs
  return {
    incumbent: question.incumbent,
    candidate: question.candidate,
    verdict: verdict.outcome,
    delta: margin,
    pairs: verdict.pairs,
    wins: verdict.wins,
    losses: verdict.losses,
    ties: verdict.ties,
    failed: verdict.failed,
    left_out: verdict.leftOut,
    mean: rounded(verdict.mean),
    e_value: rounded(verdict.eValue),
    sensitivity_lo: rounded(verdict.sensitivityLow),
    placebo_mean: verdict.placeboMean === null ? null : rounded(verdict.placeboMean),
    saving_per_call_microusd: question.savingPerCallMicroUsd,
    pairs_needed: verdict.pairsNeeded,
    cost_to_know_microusd: verdict.pairsNeeded === null ? null : Math.ceil(verdict.pairsNeeded * perPair)
  }
}

const rounded = (value: number): number => Math.round(Math.min(value, 1e12) * 10_000) / 10_000
