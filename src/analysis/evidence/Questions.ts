import type { PromptClass } from "../../domain/PromptClass.ts"

/** What one model has been served for in one class of prompts. */
export interface Segment {
  readonly promptClass: PromptClass
  /** Concrete id of the model that was served. */
  readonly incumbent: string
  readonly calls: number
  /** Of these calls, in micro-USD. */
  readonly spentMicroUsd: number
  /** Conversations of which one call each may be replayed. */
  readonly conversations: number
}

/** A model that might serve a class of prompts. */
export interface Alternative {
  readonly model: string
  /** Expected quality, 0 to 1. */
  readonly quality: (promptClass: PromptClass) => number
  /** What the calls of a segment would cost with it, in micro-USD; `null` where a price is unknown. */
  readonly costMicroUsd: (segment: Segment) => number | null
}

/** Whether a cheaper model may serve a class of prompts. */
export interface OpenQuestion {
  /** The same in every run of an analysis. */
  readonly id: string
  readonly promptClass: PromptClass
  readonly incumbent: string
  readonly candidate: string
  readonly savingPerCallMicroUsd: number
  /** The saving on the calls of the segment, times the probability that the claim holds. */
  readonly expectedMicroUsd: number
}

/** More questions would leave too few pairs to each: the claims of all share one probability of being false. */
const maxQuestions = 3
/** Fewer conversations cannot answer anything. */
const minConversations = 20
/** How far an expected quality is from the true one. */
const qualityDeviation = 0.1

/** The questions that are worth most, at most one for a class and incumbent, the best first. */
export const choose = (
  segments: ReadonlyArray<Segment>,
  alternatives: ReadonlyArray<Alternative>,
  margin: number,
  candidates: ReadonlyArray<string> | null
): ReadonlyArray<OpenQuestion> =>
  segments
    .flatMap((segment): ReadonlyArray<OpenQuestion> => {
      const incumbent = alternatives.find(({ model }) => model === segment.incumbent)
      if (incumbent === undefined || segment.conversations < minConversations) return []
      const best = alternatives
        .filter(({ model }) => model !== segment.incumbent && (candidates?.includes(model) ?? true))
        .flatMap((alternative) => questionOf(segment, incumbent, alternative, margin))
        .sort(byWorth)[0]
      return best === undefined ? [] : [best]
    })
    .sort(byWorth)
    .slice(0, maxQuestions)

const byWorth = (a: OpenQuestion, b: OpenQuestion): number =>
  b.expectedMicroUsd - a.expectedMicroUsd || (a.id < b.id ? -1 : 1)

const questionOf = (
  segment: Segment,
  incumbent: Alternative,
  alternative: Alternative,
  margin: number
): ReadonlyArray<OpenQuestion> => {
  const cost = alternative.costMicroUsd(segment)
  const saving = cost === null ? 0 : segment.spentMicroUsd - cost
  if (saving <= 0) return []
  const { promptClass } = segment
  const ahead = alternative.quality(promptClass) - incumbent.quality(promptClass) + margin
  return [
    {
      id: `${promptClass}:${segment.incumbent}:${alternative.model}`,
      promptClass,
      incumbent: segment.incumbent,
      candidate: alternative.model,
      savingPerCallMicroUsd: Math.floor(saving / segment.calls),
      expectedMicroUsd: Math.round(saving * normalBelow(ahead / qualityDeviation))
    }
  ]
}

/** The probability that a standard normal value is below `x`; the logistic approximation, off by .0002 at most. */
const normalBelow = (x: number): number => 1 / (1 + Math.exp(-(1.5976 * x + 0.070_565_992 * x ** 3)))
