import type { GradedSet } from "./Data.ts"
import { meansOf } from "./Means.ts"
import { type Predictor, train } from "./Predictor.ts"
import { figuresOf, linearCurve, predictAll, rounded, singlesOf } from "./Report.ts"

/** A task that the router has never seen, of which it knows the models alone. */
export interface UnseenTask {
  readonly task: string
  readonly prompts: number
  /** Of the hull of the single models on this very task. */
  readonly aiq_zero_router: number
  /** Of the single models that are best on average over the other tasks: what is known without a look at the text. */
  readonly aiq_averages: number
  readonly aiq_router: number
  /** Of the router from the zero router. */
  readonly difference: number
}

/** Tasks with fewer prompts say nothing. */
const minPrompts = 30

/** For each task of the test set: training without it, measured on it alone. */
export const leaveOneTaskOut = (training: GradedSet, test: GradedSet): ReadonlyArray<UnseenTask> =>
  [...new Set(test.prompts.map(({ task }) => task))].sort().flatMap((task) => {
    const own = { ...test, prompts: test.prompts.filter((prompt) => prompt.task === task) }
    const others = { ...training, prompts: training.prompts.filter((prompt) => prompt.task !== task) }
    if (own.prompts.length < minPrompts || others.prompts.length === 0) return []
    const singles = singlesOf(own)
    const predictions = predictAll(own, train(others).predict)
    const zero = figuresOf(singles.points, singles).aiq
    const averages = figuresOf(linearCurve(own, predictAll(own, averagesOf(others)), singles.best.cost), singles).aiq
    const router = figuresOf(linearCurve(own, predictions, singles.best.cost), singles).aiq
    return [
      {
        task,
        prompts: own.prompts.length,
        aiq_zero_router: zero,
        aiq_averages: averages,
        aiq_router: router,
        difference: rounded(router - zero)
      }
    ]
  })

/** The same for every text. */
const averagesOf = ({ prompts }: GradedSet): Predictor["predict"] => {
  const quality = Float64Array.from(meansOf(prompts.map(({ scores }) => scores)))
  const cost = Float64Array.from(meansOf(prompts.map(({ costs }) => costs)))
  return () => ({ quality, cost })
}
