import { performance } from "node:perf_hooks"
import type { GradedSet } from "./Data.ts"
import { predictionsByLabel } from "./LabelAverages.ts"
import type { Drawn } from "./Picture.ts"
import { train } from "./Predictor.ts"
import {
  type AlphaPoint,
  type Apgr,
  alphaCurve,
  apgrOf,
  type Figures,
  figuresOf,
  linearCurve,
  type Predictions,
  predictAll,
  rounded,
  singlesOf
} from "./Report.ts"

export interface Evaluation {
  readonly set: string
  readonly models: ReadonlyArray<string>
  readonly train_prompts: number
  readonly test_prompts: number
  readonly best_single: { readonly model: string; readonly quality: number; readonly cost: number }
  /** The hull of the single models: what mixing two of them by chance would reach. */
  readonly zero_router: Figures
  readonly router: Figures
  /** The router beside every single model pinned: the hull of both. */
  readonly router_or_single: Figures
  /** Share of the distance from the zero router to an oracle that is closed. */
  readonly gap_closed: number
  readonly apgr?: ApgrByTask
  /** A router that is told the label of each prompt and predicts its averages in training: what recognizing the kind of task can reach. */
  readonly told_label: Figures & { readonly apgr?: ApgrByTask }
  readonly alpha_curve: ReadonlyArray<AlphaPoint>
  readonly microseconds_per_prompt: { readonly p50: number; readonly p99: number }
  readonly train_seconds: number
}

export type ApgrByTask = Apgr & { readonly by_task: Readonly<Record<string, Apgr>> }

export interface Evaluated {
  readonly picture: Drawn
  readonly evaluation: Evaluation
  readonly predictions: Predictions
}

/** Trains on one set, predicts for every prompt of the other, and measures what routing by the predictions is worth. */
export const evaluate = (training: GradedSet, test: GradedSet): Evaluated => {
  if (training.models.join("\n") !== test.models.join("\n")) {
    throw new Error("training and test have to name the same models in the same order")
  }
  const started = performance.now()
  const { predict } = train(training)
  const trainSeconds = (performance.now() - started) / 1_000
  const predictions: Predictions = predictAll(test, predict)
  const singles = singlesOf(test)
  const curve = linearCurve(test, predictions, singles.best.cost)
  const oracle = linearCurve(
    test,
    { quality: test.prompts.map(({ scores }) => scores), cost: test.prompts.map(({ costs }) => costs) },
    singles.best.cost
  )
  const zero = figuresOf(singles.points, singles)
  const router = figuresOf(curve, singles)
  const ideal = figuresOf(oracle, singles)
  const told = predictionsByLabel(training, test)
  return {
    predictions,
    picture: {
      title: `${test.name}: ${test.prompts.length} prompts that the router was not trained on`,
      singles: singles.points.map((point, at) => ({ ...point, name: test.models[at] ?? "" })),
      router: curve
    },
    evaluation: {
      set: test.name,
      models: test.models,
      train_prompts: training.prompts.length,
      test_prompts: test.prompts.length,
      best_single: {
        model: singles.bestModel,
        quality: rounded(singles.best.quality),
        cost: rounded(singles.best.cost)
      },
      zero_router: zero,
      router,
      router_or_single: figuresOf([...curve, ...singles.points], singles),
      gap_closed: rounded((router.aiq - zero.aiq) / (ideal.aiq - zero.aiq)),
      ...apgrOfTwo(test, predictions),
      told_label: { ...figuresOf(linearCurve(test, told, singles.best.cost), singles), ...apgrOfTwo(test, told) },
      alpha_curve: alphaCurve(test, predictions),
      microseconds_per_prompt: speedOf(test, predict),
      train_seconds: Math.round(trainSeconds * 10) / 10
    }
  }
}

const apgrOfTwo = (test: GradedSet, predictions: Predictions): { readonly apgr?: ApgrByTask } => {
  if (test.models.length !== 2) return {}
  const tasks = [...new Set(test.prompts.map(({ task }) => task))].sort()
  const byTask = Object.fromEntries(tasks.map((task) => [task, apgrOf(test, predictions, task)]))
  return { apgr: { ...apgrOf(test, predictions), by_task: byTask } }
}

/** Passes over the prompts: of each the fastest counts, so that what else the machine does is not part of the figure. */
const passes = 3

/** Each prompt by itself, after the code is warm. */
const speedOf = (
  { prompts }: GradedSet,
  predict: ReturnType<typeof train>["predict"]
): Evaluation["microseconds_per_prompt"] => {
  const times = new Float64Array(prompts.length).fill(Number.POSITIVE_INFINITY)
  for (let pass = 0; pass < passes; pass++) {
    prompts.forEach(({ text }, at) => {
      const start = performance.now()
      predict(text)
      times[at] = Math.min(times[at] ?? 0, (performance.now() - start) * 1_000)
    })
  }
  times.sort()
  const at = (share: number): number => Math.round((times[Math.floor(share * (times.length - 1))] ?? 0) * 10) / 10
  return { p50: at(0.5), p99: at(0.99) }
}
