/** Token counts of one call. The five priced counts are disjoint: each token is in exactly one of them. */
export interface Usage {
  /** Prompt tokens that were neither read from nor written to a cache. */
  readonly inputTokens: number
  /** Prompt tokens that were read from a cache. */
  readonly cacheReadTokens: number
  /** Prompt tokens that were written to a cache. */
  readonly cacheWriteTokens: number
  /** Completion tokens without reasoning tokens. */
  readonly outputTokens: number
  /** Of the completion. */
  readonly reasoningTokens: number
  /** Details that some providers report; each is contained in one of the counts above. */
  readonly details: UsageDetails
}

/** What some providers report beside the priced counts. */
export interface UsageDetails {
  /** Audio in the prompt, without what was read from a cache. */
  readonly inputAudioTokens: number
  /** Audio in the completion. */
  readonly outputAudioTokens: number
  /** Of a predicted output. */
  readonly acceptedPredictionTokens: number
  /** Of a predicted output; charged as output. */
  readonly rejectedPredictionTokens: number
}

export const noDetails: UsageDetails = {
  inputAudioTokens: 0,
  outputAudioTokens: 0,
  acceptedPredictionTokens: 0,
  rejectedPredictionTokens: 0
}

export const usage = (
  counts: Partial<Omit<Usage, "details">> & { readonly details?: Partial<UsageDetails> }
): Usage => ({
  inputTokens: counts.inputTokens ?? 0,
  cacheReadTokens: counts.cacheReadTokens ?? 0,
  cacheWriteTokens: counts.cacheWriteTokens ?? 0,
  outputTokens: counts.outputTokens ?? 0,
  reasoningTokens: counts.reasoningTokens ?? 0,
  details: counts.details === undefined ? noDetails : { ...noDetails, ...counts.details }
})

/** More tokens than any call has. */
const maxCount = 1_000_000_000

/** Whether a provider can have counted so many. */
export const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= maxCount

/** Whether every count of it is one. Asked at each event of servers that report with each. */
export const isCounted = (usage: Usage): boolean =>
  isCount(usage.inputTokens) &&
  isCount(usage.cacheReadTokens) &&
  isCount(usage.cacheWriteTokens) &&
  isCount(usage.outputTokens) &&
  isCount(usage.reasoningTokens) &&
  isCount(usage.details.inputAudioTokens) &&
  isCount(usage.details.outputAudioTokens) &&
  isCount(usage.details.acceptedPredictionTokens) &&
  isCount(usage.details.rejectedPredictionTokens)

export const promptTokens = (u: Usage): number => u.inputTokens + u.cacheReadTokens + u.cacheWriteTokens
export const completionTokens = (u: Usage): number => u.outputTokens + u.reasoningTokens
