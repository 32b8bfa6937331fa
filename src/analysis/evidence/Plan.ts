import type { Model } from "../../domain/Model.ts"
import { costOf } from "../../domain/Prices.ts"
import type { PromptClass } from "../../domain/PromptClass.ts"
import { type Usage, usage } from "../../domain/Usage.ts"
import { reasoningFactor } from "../../routing/ReasoningFactor.ts"
import type { AnalysisSegment } from "../../wire/account/AnalysisEvidence.ts"
import { type Alternative, choose, type OpenQuestion, type Segment } from "./Questions.ts"
import { type CallCosts, type Quote, quote } from "./Quote.ts"

/** How much worse, in the mean difference, still counts as not worse. */
export const margin = 0.1
/** Beyond so many pairs an answer costs more than it tells. */
const maxPairs = 400
/** Share of pairs on which answers agree, where nothing is known of it. */
const assumedAgreement = 0.3
/** Of the excerpt that a judge is shown, and of what one that does not reason says. */
const maxJudgePromptTokens = 5_000
const judgeFramingTokens = 250
const judgeAnswerTokens = 100

/** A model that may answer or judge, with its expected quality by class. */
export interface ReplayModel {
  readonly model: Model
  readonly quality: (promptClass: PromptClass) => number
}

export interface PlanTerms {
  readonly judgeModel: string | null
  readonly candidates: ReadonlyArray<string> | null
  /** Of the range that was read. */
  readonly days: number
}

export interface PlannedQuestion extends OpenQuestion {
  readonly pairs: number
  readonly costs: CallCosts
  readonly quote: Quote
}

export interface Plan {
  /** `undefined`: none that is fit. */
  readonly judge: Model | undefined
  readonly questions: ReadonlyArray<PlannedQuestion>
}

/** What a replay would ask, and what that is likely to cost: the same for the same report and models. */
export const planOf = (
  segments: ReadonlyArray<AnalysisSegment>,
  models: ReadonlyArray<ReplayModel>,
  { candidates, days, judgeModel }: PlanTerms
): Plan => {
  const priced = models.filter(({ model }) => model.prices !== null)
  const servings = segments.flatMap((segment) => segment.served.map((served) => ({ class: segment.class, served })))
  const servedOf: Served = (promptClass, model) =>
    servings.find((each) => each.class === promptClass && each.served.model === model)?.served
  const open = choose(
    servings.map(segmentOf),
    priced.map((each) => alternativeOf(each, servedOf)),
    margin,
    candidates
  )
  const judge = judgeOf(open, priced, judgeModel)
  if (judge === undefined) return { judge, questions: [] }
  const byId = new Map(priced.map(({ model }) => [model.id, model]))
  return {
    judge,
    questions: open.flatMap((question) => {
      const own = servedOf(question.promptClass, question.incumbent)
      const [candidate, incumbent] = [byId.get(question.candidate), byId.get(question.incumbent)]
      if (own === undefined || candidate === undefined || incumbent === undefined) return []
      const mean = meanUsage(own)
      const costs = {
        candidate: priceOf(candidate, mean),
        incumbent: priceOf(incumbent, mean),
        judge: priceOf(judge, judgedUsage(judge, mean))
      }
      const pairs = Math.min(own.conversations, maxPairs)
      const terms = {
        costs,
        pairs,
        agreement: assumedAgreement,
        savingPerCallMicroUsd: question.savingPerCallMicroUsd,
        callsPerDay: own.calls / Math.max(days, minDays)
      }
      return [{ ...question, pairs, costs, quote: quote(terms) }]
    })
  }
}

/** A range of minutes says little of a day. */
const minDays = 1 / 24

/** The first word of a model's name: judges are of another family than what they compare. */
const familyOf = ({ alias }: Pick<Model, "alias">): string => /^[a-z]+/i.exec(alias)?.[0].toLowerCase() ?? alias

type ServedModel = AnalysisSegment["served"][number]
type Served = (promptClass: PromptClass, model: string) => ServedModel | undefined

const segmentOf = ({
  class: promptClass,
  served: { calls, conversations, model, spent_microusd }
}: {
  readonly class: PromptClass
  readonly served: ServedModel
}): Segment => ({ promptClass, incumbent: model, calls, spentMicroUsd: spent_microusd, conversations })

const alternativeOf = ({ model, quality }: ReplayModel, servedOf: Served): Alternative => ({
  model: model.id,
  quality,
  costMicroUsd: ({ calls, incumbent, promptClass }) => {
    const own = servedOf(promptClass, incumbent)
    return own === undefined ? null : calls * priceOf(model, meanUsage(own))
  }
})

/** Models without prices are left out before. */
const priceOf = ({ prices }: Model, used: Usage): number => (prices === null ? 0 : costOf(prices, used))

const meanUsage = (served: ServedModel): Usage => {
  const of = (tokens: number) => Math.round(tokens / Math.max(1, served.calls))
  return usage({
    inputTokens: of(served.input_tokens),
    cacheReadTokens: of(served.cache_read_tokens),
    cacheWriteTokens: of(served.cache_write_tokens),
    outputTokens: of(served.output_tokens)
  })
}

const judgedUsage = (judge: Model, { cacheReadTokens, cacheWriteTokens, inputTokens, outputTokens }: Usage): Usage =>
  usage({
    inputTokens:
      Math.min(maxJudgePromptTokens, inputTokens + cacheReadTokens + cacheWriteTokens) +
      2 * outputTokens +
      judgeFramingTokens,
    outputTokens: judgeAnswerTokens * reasoningFactor(judge, undefined)
  })

const judgeOf = (
  open: ReadonlyArray<OpenQuestion>,
  models: ReadonlyArray<ReplayModel>,
  named: string | null
): Model | undefined => {
  const byId = new Map(models.map(({ model }) => [model.id, model]))
  const compared = new Set(
    open
      .flatMap(({ candidate, incumbent }) => [candidate, incumbent])
      .flatMap((id) => {
        const model = byId.get(id)
        return model === undefined ? [] : [familyOf(model)]
      })
  )
  return models
    .map(({ model }) => model)
    .filter((model) => (named === null || model.id === named) && !compared.has(familyOf(model)))
    .sort((a, b) => b.quality - a.quality || (a.id < b.id ? -1 : 1))[0]
}
