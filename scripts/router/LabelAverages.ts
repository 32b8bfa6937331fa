import { byLabel, type GradedPrompt, type GradedSet } from "./Data.ts"
import { meansOf } from "./Means.ts"
import type { Predictions } from "./Report.ts"

/** What the mean over all labels weighs in the average of one, in prompts. */
const priorPrompts = 20

/** The mean of a label's prompts, with the mean over all of them as `priorPrompts` more. */
export const shrunk = (
  own: ReadonlyArray<number>,
  count: number,
  means: ReadonlyArray<number>
): ReadonlyArray<number> =>
  own.map((value, at) => (value * count + (means[at] ?? 0) * priorPrompts) / (count + priorPrompts))

/**
 * For each prompt of the test set the averages of its label in training. The label is told, not recognized: this is what a router
 * that recognized every kind of task, and nothing else, would predict.
 */
export const predictionsByLabel = (training: GradedSet, test: GradedSet): Predictions => ({
  quality: averages(training, test, ({ scores }) => scores),
  cost: averages(training, test, ({ costs }) => costs)
})

const averages = (
  training: GradedSet,
  test: GradedSet,
  valuesOf: (prompt: GradedPrompt) => ReadonlyArray<number>
): ReadonlyArray<ReadonlyArray<number>> => {
  const means = meansOf(training.prompts.map(valuesOf))
  const rows = new Map<string, ReadonlyArray<number>>()
  for (const [label, own] of byLabel(training.prompts)) {
    rows.set(label, shrunk(meansOf(own.map(valuesOf)), own.length, means))
  }
  return test.prompts.map(({ label }) => rows.get(label) ?? means)
}
