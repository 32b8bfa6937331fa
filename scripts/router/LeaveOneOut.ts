import type { GradedSet } from "./Data.ts"
import { train } from "./Predictor.ts"
import { figuresOf, linearCurve, predictAll, rounded, singlesOf } from "./Report.ts"

/** A task that the router has never seen, of which it knows the models alone. */
export interface UnseenTask {
  readonly task: string
  readonly prompts: number
  readonly aiq_zero_router: number
  readonly aiq_router: number
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
    const router = figuresOf(linearCurve(own, predictions, singles.best.cost), singles).aiq
    return [
      {
        task,
        prompts: own.prompts.length,
        aiq_zero_router: zero,
        aiq_router: router,
        difference: rounded(router - zero)
      }
    ]
  })
