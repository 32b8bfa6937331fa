import type * as Arr from "effect/Array"
import type { Candidate, Candidates } from "../domain/Candidate.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import * as Estimate from "../ledger/Estimate.ts"
import type { HoldOption } from "../ledger/Ledger.ts"
import { willReason } from "./Deadlines.ts"

/**
 * What the ledger is asked to hold for a call: for the smallest answer of each candidate, in their order; before these, where there
 * are several, for the likely answer of each. The first that fits is granted, so that those which need no less than one before
 * them are left out. Nearly always the first of all is granted: the others are computed when they are asked for.
 */
export class HoldOptions {
  /** For the first candidate. */
  readonly first: HoldOption
  /** The highest output cap of the candidates. */
  readonly maxOutputTokens: number
  private readonly measure: Estimate.PromptEstimate
  private readonly request: ChatRequest
  private readonly candidates: Candidates
  private further: Further | undefined

  constructor(measure: Estimate.PromptEstimate, request: ChatRequest, candidates: Candidates) {
    this.measure = measure
    this.request = request
    this.candidates = candidates
    const { first, size } = candidates
    const need = size > 1 ? "likely" : "min"
    this.first = Estimate.holdOption(measure, request, first, willReason(first, request), need)
    const cap = Estimate.outputCap(request, first, measure)
    // none is higher than what the request asks for
    this.maxOutputTokens =
      cap === request.maxOutputTokens
        ? cap
        : candidates.all().reduce((max, one) => Math.max(max, Estimate.outputCap(request, one, measure)), cap)
  }

  /** Those after the first; unset for the only candidate. */
  get others(): (() => ReadonlyArray<HoldOption>) | undefined {
    return this.candidates.size > 1 ? () => this.computed().options : undefined
  }

  /** The index of the candidate that an option is for; the first option is number 0. */
  candidateOf(option: number): number {
    return option === 0 ? 0 : (this.computed().candidateOf[option - 1] ?? 0)
  }

  private computed(): Further {
    this.further ??= furtherOptions(this.measure, this.request, this.candidates.all(), this.first)
    return this.further
  }
}

interface Further {
  readonly options: ReadonlyArray<HoldOption>
  /** The index of each option's candidate. */
  readonly candidateOf: ReadonlyArray<number>
}

const furtherOptions = (
  measure: Estimate.PromptEstimate,
  request: ChatRequest,
  candidates: Arr.NonEmptyReadonlyArray<Candidate>,
  first: HoldOption
): Further => {
  const caps = candidates.map((candidate) => Estimate.outputCap(request, candidate, measure))
  const options: Array<HoldOption> = []
  const candidateOf: Array<number> = []
  let lowest = first.min
  for (const need of ["likely", "min"] as const) {
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
  return { options, candidateOf }
}

/** For the smallest answer of one candidate. */
export const smallestOption = (
  measure: Estimate.PromptEstimate,
  request: ChatRequest,
  candidate: Candidate
): HoldOption => Estimate.holdOption(measure, request, candidate, willReason(candidate, request))
