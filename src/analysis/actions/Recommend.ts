import type { AlphaGroup } from "../../account/replay/ReplayTallies.ts"
import type { Outlook } from "../../account/replay/RoutingReplay.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import type { Outcome } from "../../routing/Replay.ts"
import type { AnalysisReport } from "../../wire/account/Analyses.ts"
import type { AnalysisAction } from "../../wire/account/AnalysisActions.ts"

/** Attempts of one model in the range of an analysis. */
export interface AttemptTally {
  readonly model: string
  readonly attempts: number
  /** Of these, such that ended in an error or a timeout for which neither the request nor the gateway was at fault. */
  readonly failed: number
}

/** What is known of the routing of a project in the range of an analysis. */
export interface RoutingFacts {
  readonly projectId: ProjectId
  /** `undefined`: nothing could be ranked again. */
  readonly outlook: Outlook | undefined
  readonly attempts: ReadonlyArray<AttemptTally>
}

/** The figure of a cause: the calls that its saving is expected on. */
export const callsRankedAgain = "calls_ranked_again"

/** What the mean predicted quality may lose by a cheaper alpha. */
const maxQualityLoss = 0.02
/** Of the expected cost: less is within what expectations are wrong by. */
const minSavedShare = 0.05
/** Fewer calls say too little of the next ones. */
const minCalls = 30
/** A model that fails in a fifth of its attempts costs more time than its price saves. */
const minFailedShare = 0.2
const minFailed = 20

const failingId = "exclude_failing_models"
/** Arms of the same size tell soonest what is saved, and what does harm. */
const proposedCanary = { share: 0.5, days: 7 }
const restores = "The undo route restores the fields as they were."

/** The report with what the gateway itself could do otherwise: actions that a person can preview, apply and undo. */
export const withRouting = (report: AnalysisReport, facts: RoutingFacts): AnalysisReport => {
  const cheaper = (facts.outlook?.groups ?? []).flatMap(cheaperOf)
  const failing = failingOf(facts)
  const overkill = cheaper.reduce((sum, { saved }) => sum + saved, 0)
  return {
    ...report,
    headline: {
      ...report.headline,
      // both may save the same calls
      hypotheses_microusd_up_to: Math.min(
        report.headline.hypotheses_microusd_up_to + overkill,
        Math.max(report.scope.traffic.spent_microusd, report.headline.observed.spent_microusd)
      )
    },
    causes: [
      ...report.causes.map((cause) =>
        cause.id === "failed_attempts" && failing.length > 0 ? { ...cause, action_id: failingId } : cause
      ),
      ...cheaper.map(overkillOf)
    ],
    alpha_curve: facts.outlook === undefined ? [] : curveOf(facts.outlook),
    actions: [...cheaper.map((each) => alphaAction(each, facts)), ...failing, ...report.actions]
  }
}

interface Cheaper {
  readonly group: AlphaGroup
  readonly alpha: number
  /** In micro-USD, of what the calls that were ranked again have cost. */
  readonly saved: number
  /** Calls that another model would be tried first for; at least. */
  readonly moved: number
}

/** The cheapest alpha below the current one whose quality is nearly the same. */
const cheaperOf = (group: AlphaGroup): ReadonlyArray<Cheaper> => {
  const { alpha, calls, chargedMicroUsd, current, points } = group
  if (calls < minCalls || current.withoutModel === calls) return []
  const quality = qualityOf(current, calls) - maxQualityLoss
  const fitting = points
    .filter(
      (point) =>
        point.alpha < alpha &&
        point.outcome.withoutModel <= current.withoutModel &&
        qualityOf(point.outcome, calls) >= quality
    )
    .sort((a, b) => a.outcome.costMicroUsd - b.outcome.costMicroUsd || b.alpha - a.alpha)
  const [best] = fitting
  if (best === undefined) return []
  // answers are longer or shorter than expected: what is saved is a share of what was charged
  const share = current.costMicroUsd === 0 ? 0 : 1 - best.outcome.costMicroUsd / current.costMicroUsd
  const saved = Math.floor(share * chargedMicroUsd)
  return share < minSavedShare || saved <= 0
    ? []
    : [{ group, alpha: best.alpha, saved, moved: movedBetween(current, best.outcome) }]
}

const qualityOf = ({ quality, withoutModel }: Outcome, calls: number): number =>
  calls === withoutModel ? 0 : quality / (calls - withoutModel)

const movedBetween = (before: Outcome, after: Outcome): number => {
  let moved = 0
  for (const [model, count] of before.models) moved += Math.max(0, count - (after.models.get(model) ?? 0))
  return moved
}

const alphaIdOf = ({ slug }: AlphaGroup): string => (slug === null ? "lower_alpha" : `lower_alpha.${slug}`)

const titleOf = ({ group }: Cheaper): string =>
  group.slug === null
    ? "Cheaper models are expected to answer nearly as well"
    : `Cheaper models are expected to answer nearly as well in auto:${group.slug}`

const policyPath = (projectId: ProjectId): string => `/api/projects/${projectId}/policy`

const overkillRisk = "The predicted qualities are wrong for these prompts: a replay can tell."

const overkillOf = (cheaper: Cheaper): AnalysisReport["causes"][number] => ({
  id: "overkill_model",
  number: 19,
  tier: "hypothesis",
  owner: "gateway",
  title: titleOf(cheaper),
  share_microusd: 0,
  alone_microusd: cheaper.saved,
  at_least_microusd: null,
  calls: cheaper.moved,
  conversations: 0,
  confidence: 0.5,
  evidence: [],
  figures: { alpha_now: cheaper.group.alpha, alpha_then: cheaper.alpha, [callsRankedAgain]: cheaper.group.calls },
  false_positive_if: overkillRisk,
  action_id: alphaIdOf(cheaper.group)
})

const alphaAction = (cheaper: Cheaper, { projectId }: RoutingFacts): AnalysisAction => {
  const { alpha, group, saved } = cheaper
  const common = {
    id: alphaIdOf(group),
    title: `${titleOf(cheaper)}: alpha ${alpha} in place of ${group.alpha}`,
    owner: "gateway" as const,
    undo: { text: restores },
    saving: { at_least: null, likely: saved },
    risk: overkillRisk,
    canary: proposedCanary,
    receipt: null
  }
  return group.slug === null
    ? {
        ...common,
        kind: "policy",
        patch: { method: "PUT", path: policyPath(projectId), body: { default_alpha: alpha } }
      }
    : {
        ...common,
        kind: "routing_configuration",
        patch: {
          method: "PUT",
          path: `/api/projects/${projectId}/routing-configurations/${group.slug}`,
          slug: group.slug,
          body: { alpha }
        }
      }
}

const failingOf = ({ attempts, projectId }: RoutingFacts): ReadonlyArray<AnalysisAction> => {
  const failing = attempts
    .filter(({ attempts, failed }) => failed >= minFailed && failed >= minFailedShare * attempts)
    .sort((a, b) => b.failed - a.failed || (a.model < b.model ? -1 : 1))
  return failing.length === 0
    ? []
    : [
        {
          id: failingId,
          kind: "policy",
          title: `Exclude what fails often: ${failing.map(({ attempts, failed, model }) => `${model} (${failed} of ${attempts} attempts)`).join(", ")}`,
          owner: "gateway",
          patch: {
            method: "PUT",
            path: policyPath(projectId),
            body: { excluded_models: failing.map(({ model }) => model) }
          },
          undo: { text: restores },
          saving: { at_least: null, likely: 0 },
          risk: "The provider had an outage that is over, or calls name the model.",
          canary: proposedCanary,
          receipt: null
        }
      ]
}

const curveOf = ({ calls, points, qualityVersion }: Outlook): AnalysisReport["alpha_curve"] =>
  calls === 0
    ? []
    : points.map(({ alpha, outcome }) => ({
        alpha,
        cost_microusd: Math.round(outcome.costMicroUsd),
        quality: outcome.withoutModel === calls ? null : rounded(qualityOf(outcome, calls)),
        basis: qualityVersion === null ? "prior" : "measured",
        models: Object.fromEntries([...outcome.models].map(([model, count]) => [model, rounded(count / calls)]))
      }))

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000
