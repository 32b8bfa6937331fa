import { cost } from "../../domain/Call.ts"
import type { AnalysisReport } from "../../wire/account/Analyses.ts"
import type { AnalysisAction } from "../../wire/account/AnalysisActions.ts"
import type { Answered } from "./ReplayRun.ts"
import type { RequestedReplay } from "./RequestedReplay.ts"

/** The report with what its replay has shown so far. */
export const withAnswers = (
  report: AnalysisReport,
  answered: ReadonlyArray<Answered>,
  { judgeModel, questions }: RequestedReplay,
  spentMicroUsd: number
): AnalysisReport => ({
  ...report,
  segments: report.segments.map((segment) => ({
    ...segment,
    questions: answered.filter(({ promptClass }) => promptClass === segment.class).map(({ question }) => question)
  })),
  actions: [...report.actions, ...answered.flatMap((each) => actionOf(each, report))],
  method: { ...report.method, judge: judgeModel, cost: cost(spentMicroUsd, "charged") },
  honesty: {
    ...report.honesty,
    not_looked_at: [
      ...report.honesty.not_looked_at.filter((each) => each !== otherModels || answered.length === 0),
      ...questions.filter((asked) => !answered.some((one) => isAnswerTo(asked, one))).map(unanswered),
      ...answered.flatMap(stoppedOf)
    ],
    insufficient: [...report.honesty.insufficient, ...answered.flatMap(insufficientOf)]
  }
})

type RequestedQuestion = RequestedReplay["questions"][number]

const isAnswerTo = (asked: RequestedQuestion, { promptClass, question }: Answered): boolean =>
  asked.promptClass === promptClass && asked.candidate === question.candidate && asked.incumbent === question.incumbent

const asText = ({ candidate, incumbent }: Pick<RequestedQuestion, "candidate" | "incumbent">, promptClass: string) =>
  `whether ${candidate} would have answered ${promptClass} prompts as well as ${incumbent}`

/** Of a replay that was cancelled, or has not come so far. */
const unanswered = (asked: RequestedQuestion): string => `${asText(asked, asked.promptClass)}: the replay ended before`

const stoppedOf = ({ promptClass, question, stopped }: Answered): ReadonlyArray<string> => {
  if (stopped === null) return []
  const failed = { plant: "the judge", candidate: question.candidate, placebo: question.incumbent }[stopped.arm]
  const why = stopped.code === undefined ? "" : ` (${stopped.code})`
  return [`${asText(question, promptClass)}: all of the first calls for answers of ${failed} failed${why}`]
}

/** What a report without a replay has not looked at. */
export const otherModels = "whether another model would have answered as well"

/** The router ranks by what was shown; calls that name their model are the application's. */
const actionOf = ({ promptClass, question }: Answered, report: AnalysisReport): ReadonlyArray<AnalysisAction> => {
  if (question.verdict !== "not_worse") return []
  const calls =
    report.segments
      .find((segment) => segment.class === promptClass)
      ?.served.find(({ model }) => model === question.incumbent)?.calls ?? 0
  return [
    {
      id: `use_cheaper.${promptClass}`,
      kind: "client_hint",
      title: `${question.candidate} answers ${promptClass} prompts no worse than ${question.incumbent}`,
      owner: "client",
      patch: {
        text: `Let \`auto\` choose, which ranks by these grades from now on, or name ${question.candidate} for such prompts.`
      },
      undo: { text: "Revert the change of the application." },
      saving: { at_least: null, likely: calls * question.saving_per_call_microusd },
      risk: "Prompts become other than those that were compared.",
      canary: null,
      receipt: null
    }
  ]
}

const insufficientOf = ({
  question: { candidate, incumbent, pairs, pairs_needed, verdict }
}: Answered): AnalysisReport["honesty"]["insufficient"] =>
  (verdict === "insufficient_data" || verdict === "stopped_by_cap") && pairs_needed !== null
    ? [{ what: `pairs of ${candidate} and ${incumbent}`, have: pairs, need: pairs + pairs_needed }]
    : []
