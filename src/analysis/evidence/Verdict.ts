import * as EProcess from "./EProcess.ts"

/** What comes of a question whether a candidate may replace the model that was served. */
const outcomes = ["not_worse", "worse", "insufficient_data", "judge_unfit", "judge_biased", "stopped_by_cap"] as const
export type Outcome = (typeof outcomes)[number]

/** How one answer compares with another. */
export interface Comparison {
  /** -1 to 1: above 0 where the new answer is better. */
  readonly difference: number
  /** The judge was asked; answers that agree need none, and their difference is 0. */
  readonly isJudged: boolean
}

/** The results of one question. */
export interface QuestionResults {
  readonly plants: Plants
  /** Candidate against incumbent, one for each conversation. */
  readonly pairs: ReadonlyArray<Comparison>
  /** The incumbent asked again against what it had answered. */
  readonly placebo: ReadonlyArray<Comparison>
}

/** Degraded answers that were hidden among the others, and how many of them the judge has put below the original. */
export interface Plants {
  readonly count: number
  readonly found: number
}

export interface QuestionTerms {
  /** How much worse, in the mean difference, still counts as not worse. */
  readonly margin: number
  /** Questions that the analysis has opened: together they claim something false with probability `claimRisk` at most. */
  readonly opened: number
}

export interface Verdict {
  readonly outcome: Outcome
  /** Whether more pairs could change the outcome. */
  readonly isFinal: boolean
  /** Evidence that the candidate is not worse. */
  readonly eValue: number
  readonly mean: number
  /** Of the new answers of the incumbent that differ from its earlier ones; `null` without any. */
  readonly placeboMean: number | null
  readonly sensitivityLow: number
  readonly pairs: number
  readonly wins: number
  readonly losses: number
  readonly ties: number
  /** Of the losses, prompts that the candidate has not answered by its own fault. */
  readonly failed: number
  /** Further pairs that an outcome is likely to need; `null` where more of them would not help. */
  readonly pairsNeeded: number | null
}

const claimRisk = 0.05
/** What a judge is tested with before anything is asked of it. */
export const plantsPerClass = 40
/** A judge that finds fewer planted degradations cannot show how answers compare. */
const minSensitivity = 0.5
/** On each side: a fair judge is refused with a probability of 5 % at most. */
const biasGoal = 2 / claimRisk

/** A question while its results come in: it may be looked at after each. */
export interface QuestionState {
  readonly terms: QuestionTerms
  readonly plants: Plants
  readonly sensitivityLow: number
  /** Evidence against a candidate that is worse by each of `marginParts`. */
  readonly notWorse: ReadonlyArray<EProcess.EProcess>
  readonly harm: EProcess.EProcess
  readonly unbiased: EProcess.EProcess
  readonly favoursNew: EProcess.EProcess
  readonly favoursOld: EProcess.EProcess
  readonly sum: number
  readonly wins: number
  readonly losses: number
  readonly failed: number
  readonly judged: number
  readonly placeboSum: number
  readonly placeboJudged: number
}

/** Of the margin: what a preference for new answers takes of it is not there for the candidate. */
const marginParts = [1, 0.75, 0.5, 0.25]
/** Counted as judged before any pair is, so that few pairs do not make a small share. */
const priorJudged = 5

/** The judge is tested first: what it can see decides how much of a difference is allowed. */
export const open = (terms: QuestionTerms, plants: Plants): QuestionState => {
  const sensitivityLow = detectionLow(plants.found, plants.count)
  return {
    terms,
    plants,
    sensitivityLow,
    notWorse: marginParts.map((part) => EProcess.start(1 - part * terms.margin * sensitivityLow)),
    harm: EProcess.start(1),
    unbiased: EProcess.start(1),
    favoursNew: EProcess.start(1),
    favoursOld: EProcess.start(1),
    sum: 0,
    wins: 0,
    losses: 0,
    failed: 0,
    judged: 0,
    placeboSum: 0,
    placeboJudged: 0
  }
}

/** Whether the judge was shown to see differences: without that nothing that it says counts. */
export const isJudgeFit = ({ sensitivityLow }: Pick<Verdict, "sensitivityLow">): boolean =>
  sensitivityLow >= minSensitivity

/** A judge that finds a part of the differences shows a part of the harm. */
const seenMargin = ({ sensitivityLow, terms }: QuestionState): number => terms.margin * sensitivityLow

const pairsOf = ({ harm }: QuestionState): number => harm.count
/** The share of pairs on which a preference of the judge can act. */
const judgedShare = (state: QuestionState): number => (state.judged + priorJudged) / (pairsOf(state) + priorJudged)

/** A candidate's answer against the incumbent's. */
export const addPair = (state: QuestionState, { difference, isJudged }: Comparison): QuestionState => ({
  ...state,
  notWorse: state.notWorse.map((process, at) =>
    EProcess.next(process, difference + (marginParts[at] ?? 0) * seenMargin(state))
  ),
  harm: EProcess.next(state.harm, -difference),
  sum: state.sum + difference,
  wins: state.wins + (difference > 0 ? 1 : 0),
  losses: state.losses + (difference < 0 ? 1 : 0),
  judged: state.judged + (isJudged ? 1 : 0)
})

/** A candidate that does not answer is as bad as one whose answer is worse; no judge is needed to see it. */
export const addFailure = (state: QuestionState): QuestionState => {
  const added = addPair(state, { difference: -1, isJudged: false })
  return { ...added, failed: state.failed + 1 }
}

/** The incumbent's new answer against its earlier one: where they agree, nothing is learnt of the judge. */
export const addPlacebo = (state: QuestionState, { difference, isJudged }: Comparison): QuestionState =>
  isJudged
    ? {
        ...state,
        // a model differs less from itself than from another: its preference is scaled to the pairs that are judged
        unbiased: EProcess.next(state.unbiased, Math.min(1, seenMargin(state) / judgedShare(state)) - difference),
        favoursNew: EProcess.next(state.favoursNew, difference),
        favoursOld: EProcess.next(state.favoursOld, -difference),
        placeboSum: state.placeboSum + difference,
        placeboJudged: state.placeboJudged + 1
      }
    : state

/**
 * Whether it is still to be shown that the judge does not prefer new answers: until then the incumbent is asked again beside every
 * pair, afterwards that buys nothing.
 */
export const needsPlacebo = ({ unbiased }: QuestionState): boolean => EProcess.eValue(unbiased) < 1 / claimRisk

/** The evidence that is left for the candidate after what the judge seems to prefer new answers by. */
const fairEvidence = (state: QuestionState): EProcess.EProcess | undefined => {
  const preference = state.placeboJudged === 0 ? 0 : state.placeboSum / state.placeboJudged
  const left = 1 - (Math.max(0, preference) * judgedShare(state)) / seenMargin(state)
  const part = marginParts.findIndex((candidate) => candidate <= left)
  return part < 0 ? undefined : state.notWorse[part]
}

/** What may be said now; `isCapped`: the spend cap allows no further pair. */
export const verdict = (state: QuestionState, isCapped = false): Verdict => {
  const { failed, favoursNew, favoursOld, harm, losses, placeboJudged, placeboSum, plants, sum, terms, wins } = state
  const pairs = pairsOf(state)
  const goal = terms.opened / claimRisk
  const mean = pairs === 0 ? 0 : sum / pairs
  const evidence = fairEvidence(state)
  const of = (outcome: Outcome, isFinal: boolean): Verdict => ({
    outcome,
    isFinal,
    eValue: evidence === undefined ? 0 : EProcess.eValue(evidence),
    mean,
    placeboMean: placeboJudged === 0 ? null : placeboSum / placeboJudged,
    sensitivityLow: state.sensitivityLow,
    pairs,
    wins,
    losses,
    ties: pairs - wins - losses,
    failed,
    pairsNeeded: isFinal || evidence === undefined ? null : EProcess.valuesNeeded(evidence, goal)
  })
  if (!isJudgeFit(state)) {
    // of few plants even a good judge finds too few to be sure of it
    return of(plants.count >= plantsPerClass ? "judge_unfit" : isCapped ? "stopped_by_cap" : "insufficient_data", true)
  }
  if (Math.max(EProcess.eValue(favoursNew), EProcess.eValue(favoursOld)) >= biasGoal) return of("judge_biased", true)
  if (EProcess.eValue(harm) >= goal && mean <= -terms.margin) return of("worse", true)
  // a preference for new answers by the margin would make any candidate seem not worse: that it is smaller has to be shown
  const mayClaim = plants.count >= plantsPerClass && !needsPlacebo(state)
  if (mayClaim && evidence !== undefined && EProcess.eValue(evidence) >= goal) return of("not_worse", true)
  return isCapped ? of("stopped_by_cap", true) : of("insufficient_data", false)
}

/** Of results that are all there, in the order in which they came. */
export const assess = ({ pairs, placebo, plants }: QuestionResults, terms: QuestionTerms, isCapped = false): Verdict =>
  verdict(placebo.reduce(addPlacebo, pairs.reduce(addPair, open(terms, plants))), isCapped)

/** The lower 95 % bound (Clopper-Pearson) of the share that is found. */
export const detectionLow = (found: number, count: number): number => {
  if (found === 0) return 0
  let [low, high] = [0, 1]
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2
    if (atLeast(found, count, middle) > claimRisk) high = middle
    else low = middle
  }
  return low
}

/** The probability of `found` or more of `count` at this share. */
const atLeast = (found: number, count: number, share: number): number => {
  let sum = 0
  let logChoose = 0
  for (let k = 0; k <= count; k++) {
    if (k > 0) logChoose += Math.log((count - k + 1) / k)
    if (k >= found) sum += Math.exp(logChoose + k * Math.log(share) + (count - k) * Math.log1p(-share))
  }
  return sum
}
