import * as Effect from "effect/Effect"
import type { AssistantMessage } from "../../domain/Chat.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { PromptClass } from "../../domain/PromptClass.ts"
import { agree } from "./Agreement.ts"
import { Judge } from "./Judge.ts"
import {
  type AskedRequest,
  type CapReached,
  cutByFunds,
  ModelCalls,
  type ModelFailed,
  type SampleGone
} from "./ModelCalls.ts"
import { degrade } from "./Plants.ts"
import { type Arm, arms, type ItemKey, type ItemResult, ReplayItems } from "./ReplayItemStore.ts"
import {
  addFailure,
  addPair,
  addPlacebo,
  type Comparison,
  needsPlacebo,
  open,
  type Plants,
  plantsPerClass,
  type QuestionState,
  type QuestionTerms,
  type Verdict,
  verdict
} from "./Verdict.ts"

/** A captured call that may be sent to other models: one of each conversation. */
export interface ReplaySample {
  readonly id: string
  readonly request: AskedRequest
  /** What was answered. */
  readonly answer: AssistantMessage
}

/** A question with what it is asked on, in hash order. */
export interface ReplayQuestion {
  readonly analysisId: string
  /** The same in every run of the analysis. */
  readonly id: string
  readonly promptClass: PromptClass
  readonly incumbent: string
  readonly candidate: string
  readonly samples: ReadonlyArray<ReplaySample>
  readonly terms: QuestionTerms
}

/** Comparisons that run at the same time; the verdict is looked at after each such portion. */
export interface ReplayOptions {
  readonly parallel: number
}

/** What came of a question. */
export interface ReplayAnswer extends Verdict {
  /** Prompts whose candidate has failed by no fault of its own, or whose answers could not be judged: in no figure of the verdict. */
  readonly leftOut: number
  /** Set where it was stopped since these calls have failed, and none was answered. */
  readonly stopped: { readonly arm: Arm; readonly code: string | undefined } | null
}

/** After so many failures without an answer there will be none. */
const maxFailures = 10

/** Questions about one class have one test of the judge. */
const plantsQuestion = (promptClass: PromptClass): string => `plants:${promptClass}`

/**
 * Asks until the question is answered, the samples end, the spend cap is reached or a model does not answer at all. What an earlier run has written is read, not
 * asked again; what it has started and not written may have been paid, and is left out, as are samples that are gone by then.
 */
export const answer = (
  question: ReplayQuestion,
  options: ReplayOptions
): Effect.Effect<ReplayAnswer, StoreUnavailable, Judge | ModelCalls | ReplayItems> =>
  Effect.gen(function* () {
    const otherAnswers = yield* compareArms(question)
    const items = yield* ReplayItems
    const known = new Map<string, ItemResult | undefined>()
    for (const item of yield* items.list(question.analysisId)) known.set(keyText(item), item.result)

    let capped = false
    /** Arms whose last answer the spend cap has cut: what is left is too little for them. */
    const cut = new Set<Arm>()
    const tallies = { plant: newTally(), candidate: newTally(), placebo: newTally() }
    const compare = (sample: ReplaySample, arm: Arm) => {
      const key = keyOf(question, sample, arm)
      const text = keyText(key)
      if (known.has(text)) return Effect.succeed(known.get(text))
      if (capped) return Effect.succeed(undefined)
      return Effect.gen(function* () {
        if (!(yield* items.start(key))) return undefined
        const result = yield* otherAnswers[arm](sample).pipe(
          Effect.catchTag("ModelFailed", ({ code }) => {
            tallies[arm].code = code
            if (code === cutByFunds) cut.add(arm)
            return Effect.succeed<ItemResult>({ outcome: "failed" })
          }),
          Effect.catchTag("SampleGone", () => Effect.succeed(undefined)),
          Effect.catchTag("CapReached", () => {
            capped = true
            return Effect.succeed(undefined)
          })
        )
        if (result === undefined) return undefined
        if (result.outcome === "compared") cut.delete(arm)
        yield* items.end(key, result)
        return result
      })
    }
    const portion = (samples: ReadonlyArray<ReplaySample>, arm: Arm) =>
      Effect.map(
        Effect.forEach(samples, (sample) => compare(sample, arm), { concurrency: options.parallel }),
        (results) => {
          const ended = samples.flatMap((sample, at) => {
            const result = results[at]
            return result === undefined ? [] : [{ sample, result }]
          })
          for (const { result } of ended) tallies[arm][result.outcome] += 1
          return ended
        }
      )
    const silent = () => arms.find((arm) => isSilent(tallies[arm]))

    let plants: Plants = { count: 0, found: 0 }
    for (const samples of portionsOf(question.samples, options.parallel)) {
      if (plants.count >= plantsPerClass || capped || silent() !== undefined) break
      const planted = samples.filter((sample) => degrade(sample.answer, seedOf(question, sample)) !== undefined)
      for (const { difference, unreadable } of (yield* portion(planted, "plant")).flatMap(comparedOf)) {
        if (plants.count === plantsPerClass) break
        plants = { count: plants.count + 1, found: plants.found + (difference < 0 && unreadable === 0 ? 1 : 0) }
      }
    }

    let state: QuestionState = open(question.terms, plants)
    for (const samples of portionsOf(question.samples, options.parallel)) {
      if (capped || silent() !== undefined || verdict(state).isFinal) break
      const ended = yield* portion(samples, "candidate")
      state = ended.reduce(addResult, state)
      if (capped || silent() !== undefined || verdict(state).isFinal || !needsPlacebo(state)) continue
      // beside a candidate that has not answered the incumbent's answer shows nothing
      const compared = ended.flatMap(({ result, sample }) => (result.outcome === "compared" ? [sample] : []))
      state = (yield* portion(compared, "placebo")).flatMap(comparedOf).map(comparisonOf).reduce(addPlacebo, state)
    }
    const found = verdict(state, capped || cut.size > 0)
    const arm = found.isFinal ? undefined : silent()
    const leftOut = tallies.candidate.failed
    if (arm === undefined) return { ...found, leftOut, stopped: null }
    return { ...found, pairsNeeded: null, leftOut, stopped: { arm, code: tallies[arm].code } }
  })

/** How comparisons of an arm have ended, and why the last one failed: not known of those that an earlier run has asked. */
interface Tally extends Record<ItemResult["outcome"], number> {
  code: string | undefined
}
const newTally = (): Tally => ({ compared: 0, failed: 0, unanswered: 0, code: undefined })

const isSilent = ({ compared, failed, unanswered }: Tally): boolean =>
  compared === 0 && failed + unanswered >= maxFailures

interface Ended {
  readonly sample: ReplaySample
  readonly result: ItemResult
}
type ComparedResult = Extract<ItemResult, { readonly outcome: "compared" }>

const comparedOf = ({ result }: Ended): ReadonlyArray<ComparedResult> => (result.outcome === "compared" ? [result] : [])

const addResult = (state: QuestionState, { result }: Ended): QuestionState => {
  if (result.outcome === "failed") return state
  return result.outcome === "unanswered" ? addFailure(state) : addPair(state, comparisonOf(result))
}

const comparisonOf = ({ difference, judged }: ComparedResult): Comparison => ({ difference, isJudged: judged })

const keyOf = ({ analysisId, id, promptClass }: ReplayQuestion, sample: ReplaySample, arm: Arm): ItemKey => ({
  analysisId,
  question: arm === "plant" ? plantsQuestion(promptClass) : id,
  sample: sample.id,
  arm
})

const keyText = ({ arm, question, sample }: ItemKey): string => `${question}\n${sample}\n${arm}`

const seedOf = ({ analysisId }: ReplayQuestion, { id }: ReplaySample): string => `${analysisId}:${id}`

type Unanswered = CapReached | ModelFailed | SampleGone
type CompareArms = Readonly<Record<Arm, (sample: ReplaySample) => Effect.Effect<ItemResult, Unanswered>>>

/** How each arm gets its other answer; the judge does not know which arm it is asked about. */
const compareArms = (question: ReplayQuestion): Effect.Effect<CompareArms, never, Judge | ModelCalls> =>
  Effect.gen(function* () {
    const { compare } = yield* Judge
    const { ask } = yield* ModelCalls
    const judged = (sample: ReplaySample, later: AssistantMessage, arm: Arm) =>
      Effect.map(
        compare({
          promptClass: question.promptClass,
          sample: sample.id,
          prompt: sample.request.messages,
          earlier: sample.answer,
          later,
          seed: `${seedOf(question, sample)}:${arm}`
        }),
        ({ difference, unreadable }): ItemResult => ({ outcome: "compared", difference, judged: true, unreadable })
      )
    const replayed = (model: string, arm: Arm) => (sample: ReplaySample) =>
      Effect.matchEffect(ask({ ...sample.request, model, sample: sample.id }), {
        onFailure: (failure): Effect.Effect<ItemResult, Unanswered> =>
          arm === "candidate" && failure._tag === "ModelFailed" && failure.isModelsFault
            ? Effect.succeed({ outcome: "unanswered" })
            : Effect.fail(failure),
        onSuccess: ({ message }): Effect.Effect<ItemResult, Unanswered> =>
          agree(sample.answer, message)
            ? Effect.succeed({ outcome: "compared", difference: 0, judged: false, unreadable: 0 })
            : judged(sample, message, arm)
      })
    return {
      plant: (sample) => {
        const plant = degrade(sample.answer, seedOf(question, sample))
        return plant === undefined
          ? Effect.succeed<ItemResult>({ outcome: "failed" })
          : judged(sample, plant.message, "plant")
      },
      candidate: replayed(question.candidate, "candidate"),
      placebo: replayed(question.incumbent, "placebo")
    }
  })

const portionsOf = <A>(items: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))
