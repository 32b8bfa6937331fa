import { plantsPerClass } from "./Verdict.ts"

/** What the calls of a question are likely to cost each, in micro-USD. */
export interface CallCosts {
  readonly candidate: number
  readonly incumbent: number
  /** The judge, asked once. */
  readonly judge: number
}

export interface QuoteTerms {
  readonly costs: CallCosts
  /** Pairs that are planned. */
  readonly pairs: number
  /** Share of pairs on which the answers are expected to agree, so that no judge is asked. */
  readonly agreement: number
  readonly savingPerCallMicroUsd: number
  /** Calls of the segment in a day. */
  readonly callsPerDay: number
}

/** What a question costs before it is asked, and when it has paid for itself. */
export interface Quote {
  readonly costMicroUsd: number
  /** Calls after which the saving has paid for the question; `null` without a saving. */
  readonly paybackCalls: number | null
  readonly paybackDays: number | null
  /** False where it takes more than 30 days. */
  readonly isAdvised: boolean
}

const maxPaybackDays = 30
const orders = 2

/** Beside every pair the incumbent is asked again, and the judge is tested first with planted degradations. */
export const quote = ({ agreement, callsPerDay, costs, pairs, savingPerCallMicroUsd }: QuoteTerms): Quote => {
  const judged = (1 - agreement) * orders * costs.judge
  const costMicroUsd = Math.ceil(
    pairs * (costs.candidate + costs.incumbent + 2 * judged) + plantsPerClass * orders * costs.judge
  )
  const paybackCalls = savingPerCallMicroUsd <= 0 ? null : Math.ceil(costMicroUsd / savingPerCallMicroUsd)
  const paybackDays = paybackCalls === null || callsPerDay <= 0 ? null : paybackCalls / callsPerDay
  return { costMicroUsd, paybackCalls, paybackDays, isAdvised: paybackDays !== null && paybackDays <= maxPaybackDays }
}
