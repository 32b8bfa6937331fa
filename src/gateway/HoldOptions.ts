import * as Arr from "effect/Array"
import type { Candidate } from "../domain/Candidate.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import * as Estimate from "../ledger/Estimate.ts"
import type { HoldOption } from "../ledger/Ledger.ts"
import { willReason } from "./Deadlines.ts"

/** What the ledger is asked to hold for a call. */
export interface HoldOptions {
  /**
   * For the smallest answer of each candidate, in their order; before these, where there are several, for the likely answer of
   * each. The first that fits is granted, so that those which need no less than one before them are left out.
   */
  readonly options: Arr.NonEmptyReadonlyArray<HoldOption>
  /** The index of each option's candidate. */
  readonly candidateOf: ReadonlyArray<number>
  /** The highest output cap of the candidates. */
  readonly maxOutputTokens: number
}

export const holdOptions = (
  measure: Estimate.PromptEstimate,
  request: ChatRequest,
  candidates: Arr.NonEmptyReadonlyArray<Candidate>
): HoldOptions => {
  const caps = candidates.map((candidate) => Estimate.outputCap(request, candidate, measure))
  const options: Array<HoldOption> = []
  const candidateOf: Array<number> = []
  let lowest = Number.POSITIVE_INFINITY
  const add = (need: Estimate.Need): void => {
    for (let index = 0; index < candidates.length; index++) {
      const [candidate, cap] = [candidates[index], caps[index]]
      if (candidate === undefined || cap === undefined) continue
      const reasoning = willReason(candidate, request)
      if (Estimate.minCost(measure, candidate, cap, reasoning, need) >= lowest) continue
      const option = Estimate.holdOption(measure, request, candidate, reasoning, need)
      lowest = option.min
      options.push(option)
      candidateOf.push(index)
    }
  }
  if (candidates.length > 1) add("likely")
  add("min")
  return {
    options: Arr.isNonEmptyArray(options) ? options : [smallestOption(measure, request, candidates[0])],
    candidateOf,
    maxOutputTokens: Math.max(...caps)
  }
}

/** For the smallest answer of one candidate. */
export const smallestOption = (
  measure: Estimate.PromptEstimate,
  request: ChatRequest,
  candidate: Candidate
): HoldOption => Estimate.holdOption(measure, request, candidate, willReason(candidate, request))
