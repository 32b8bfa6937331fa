import { cost } from "../domain/Call.ts"
import { dateAt } from "../domain/Dates.ts"
import type { AnalysisReport } from "../wire/account/Analyses.ts"
import { type CauseFinding, type Diagnosis, diagnose, isSufficient, minSamples } from "./Diagnose.ts"
import { otherModels } from "./evidence/AnsweredReport.ts"
import { minEffective } from "./Interval.ts"
import type { Workload } from "./Workload.ts"

interface Sums {
  readonly calls: number
  readonly spentMicroUsd: number
}

/** What a report says beside the diagnosis. */
export interface ReportInput {
  readonly fromMillis: number
  readonly toMillis: number
  readonly configVersions: ReadonlyArray<number>
  readonly source: "captured" | "call_log"
  readonly traffic: Sums & {
    /** The calls that may be collected. */
    readonly optedIn: Sums
  }
  readonly seed: number
}

export interface Reported {
  readonly report: AnalysisReport
  readonly isSufficient: boolean
}

/** The same workload and input give the same report. */
export const reportOf = (workload: Workload, input: ReportInput): Reported => {
  const rangeMillis = input.toMillis - input.fromMillis
  const known = diagnose(workload, input.seed)
  const diagnosis = rangeMillis < minProjectedMillis ? withoutProjection(known) : known
  const monthly = sampledFrom(input).spentMicroUsd * (monthMillis / Math.max(1, rangeMillis))
  const sampled = workload.conversations.length
  const calls = workload.calls.filter(({ isInRange }) => isInRange)
  const figure = (name: string) =>
    diagnosis.findings.reduce((sum, { finding }) => sum + (finding.figures?.[name] ?? 0), 0)
  return {
    isSufficient: isSufficient(diagnosis, calls.length),
    report: {
      version: 1,
      scope: {
        from: dateAt(input.fromMillis).toISOString(),
        to: dateAt(input.toMillis).toISOString(),
        config_versions: input.configVersions,
        source: input.source,
        conversations: sampled,
        effective_conversations: rounded(diagnosis.effectiveConversations),
        samples: calls.length,
        calls_covered: calls.filter(({ blocks, prices, usage }) => isCovered(blocks.length, prices, usage)).length,
        traffic: { ...sumsOf(input.traffic), opted_in: sumsOf(input.traffic.optedIn) },
        covered_microusd: diagnosis.chargedMicroUsd,
        excluded: excludedOf(input, calls),
        model_error: diagnosis.modelErrors.map(({ readsExplained, route, share }) => ({
          route,
          share: rounded(share),
          reads_explained: rounded(readsExplained)
        }))
      },
      headline: {
        observed: { spent_microusd: diagnosis.chargedMicroUsd, avoidable_microusd: diagnosis.avoidableMicroUsd },
        projected: projectedOf(diagnosis, monthly),
        hypotheses_microusd_up_to: diagnosis.hypothesesMicroUsd
      },
      causes: diagnosis.findings.map((found) => causeOf(found, workload, monthly)),
      segments: [],
      alpha_curve: [],
      actions: diagnosis.findings
        .filter(({ tier }) => tier !== "info")
        .map(({ cause, projection, shareMicroUsd }) => ({
          id: cause.id,
          kind: "client_hint",
          title: cause.title,
          owner: cause.owner,
          patch: { text: cause.advice },
          undo: { text: "Revert the change of the application." },
          saving: {
            at_least: projection === undefined ? null : Math.floor(projection.atLeast * monthly),
            likely: shareMicroUsd
          },
          risk: cause.falsePositiveIf,
          canary: null,
          receipt: null
        })),
      reliability: {
        attempts_wasted_ms: figure("attempts_wasted_ms"),
        cancelled_microusd: figure("cancelled_microusd"),
        held_idle_microusd_hours: figure("held_idle_microusd_hours")
      },
      method: { cost: cost(0, "charged"), judge: null, seed: input.seed },
      honesty: {
        not_looked_at: [
          "what images, audio and files show",
          otherModels,
          ...(input.source === "call_log" ? ["prompts: no call of the range is captured"] : [])
        ],
        assumptions: [
          "providers' caches work as their documentation says",
          "tokens are counted as o200k counts them, scaled by kind of text to what each route has billed"
        ],
        insufficient: insufficientOf(known, calls.length, rangeMillis),
        past_receipts: { n: 0, realised_over_estimated: null }
      }
    }
  }
}

/** The calls that those which were read are a sample of: nothing is known of calls that do not opt in to the collection. */
const sampledFrom = ({ source, traffic }: ReportInput): Sums => (source === "captured" ? traffic.optedIn : traffic)

const sumsOf = ({ calls, spentMicroUsd }: Sums) => ({ calls, spent_microusd: spentMicroUsd })

const hourMillis = 3_600_000
const monthMillis = 30 * 24 * hourMillis
/** What a part of a day has cost says nothing of the rest of it: nights are not like days. */
const minProjectedMillis = 24 * hourMillis

const withoutProjection = (diagnosis: Diagnosis): Diagnosis => ({
  ...diagnosis,
  projection: undefined,
  findings: diagnosis.findings.map((finding) => ({ ...finding, projection: undefined }))
})

const isCovered = (blocks: number, prices: unknown, usage: unknown): boolean =>
  blocks > 0 && prices !== null && usage !== null

/** A bill is computed from the prompt, which the log of calls does not have of any call. */
const excludedOf = ({ source }: ReportInput, calls: Workload["calls"]): AnalysisReport["scope"]["excluded"] => {
  const reasons =
    source === "call_log"
      ? [{ reason: "not_captured", count: calls.length }]
      : [
          { reason: "no_usage", count: calls.filter(({ usage }) => usage === null).length },
          { reason: "no_prices", count: calls.filter(({ prices, usage }) => usage !== null && prices === null).length },
          {
            reason: "truncated",
            count: calls.filter(({ blocks, prices, usage }) => usage !== null && prices !== null && blocks.length === 0)
              .length
          }
        ]
  return reasons.filter(({ count }) => count > 0)
}

const projectedOf = ({ projection }: Diagnosis, monthly: number): AnalysisReport["headline"]["projected"] =>
  projection === undefined
    ? null
    : {
        monthly_microusd: Math.max(0, Math.floor(projection.share * monthly)),
        at_least_microusd: Math.floor(projection.atLeast * monthly),
        confidence: 0.975,
        likely:
          projection.likely === null
            ? null
            : [Math.floor(projection.likely[0] * monthly), Math.floor(projection.likely[1] * monthly)],
        method:
          "ratio of sums over conversations, each weighted by 1 / its probability of being taken; bound of a cluster t-test"
      }

const causeOf = (
  { aloneMicroUsd, cause, conversations, finding, projection, shareMicroUsd, tier }: CauseFinding,
  { calls }: Workload,
  monthly: number
): AnalysisReport["causes"][number] => ({
  id: cause.id,
  number: cause.number,
  tier,
  owner: cause.owner,
  title: cause.title,
  share_microusd: shareMicroUsd,
  alone_microusd: aloneMicroUsd,
  at_least_microusd: projection === undefined ? null : Math.floor(projection.atLeast * monthly),
  calls: finding.calls.size,
  conversations,
  confidence: rounded(finding.confidence),
  evidence: finding.evidence.map(({ block, call }) => ({ sample_id: calls[call]?.id ?? "", at: { message: block } })),
  figures: finding.figures ?? {},
  false_positive_if: cause.falsePositiveIf,
  action_id: tier === "info" ? null : cause.id
})

const insufficientOf = (
  { effectiveConversations, projection }: Diagnosis,
  samples: number,
  rangeMillis: number
): AnalysisReport["honesty"]["insufficient"] => [
  ...(samples < minSamples ? [{ what: "calls", have: samples, need: minSamples }] : []),
  ...(projection === undefined
    ? [{ what: "effective conversations, for a projection", have: rounded(effectiveConversations), need: minEffective }]
    : []),
  ...(rangeMillis < minProjectedMillis
    ? [
        {
          what: "hours of the range, for a projection",
          have: rounded(rangeMillis / hourMillis),
          need: minProjectedMillis / hourMillis
        }
      ]
    : [])
]

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000
