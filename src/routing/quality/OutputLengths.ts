import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { BoundedMap } from "../../domain/BoundedMap.ts"
import type { Model } from "../../domain/Model.ts"
import { type ModelFigures, sameFigure } from "../ModelTable.ts"
import { profiles } from "./Artefact.ts"
import { perMille } from "./Classify.ts"
import { expectedOutputTokens, usedClasses } from "./QualityTable.ts"

/** A complete answer of a model. */
export interface Answer {
  readonly model: Pick<Model, "id">
  /** Of the prompt: the probability of each class, per mille; none of a call that named its model. */
  readonly classes: ReadonlyArray<number>
  /** What it has written, divided by what reasoning multiplies it by. */
  readonly tokens: number
  /** It ended at its cap, and would have been longer. */
  readonly isCut: boolean
}

export interface OutputLengthsShape {
  /** Expected tokens of a model's answer without reasoning, to a prompt of these classes. */
  readonly expectedFor: (classes: ReadonlyArray<number>) => ModelFigures
  readonly answered: (answer: Answer) => void
}

/**
 * How long the answers of each model are, by class of prompt: what is assumed of a class, moved by the answers of all models, and
 * from there by the model's own. Without the first step a model whose answers are known to be short would look cheaper than all
 * that have not been tried. In memory, and of this node.
 */
export class OutputLengths extends Context.Tag("gateway/routing/OutputLengths")<OutputLengths, OutputLengthsShape>() {
  static readonly layer: Layer.Layer<OutputLengths> = Layer.sync(this, () => make())
}

/** What the assumed length of a class weighs beside the answers in it. */
const priorAnswers = 5
/** What 1 weighs as the factor by which a model writes more than is assumed, over all classes. */
const factorAnswers = 10
/** Older answers fade, so that a model that its provider changes is followed. */
const maxAnswers = 200
/** One answer counts as at most this multiple of what was expected: a single one of 50,000 tokens says little about the next. */
const maxRatio = 8
/** Models in memory, and up to as many that are silent for longer. */
const keptModels = 1_000

/** All by class. */
interface Learned {
  readonly weights: Float64Array
  readonly sums: Float64Array
  readonly expected: Float64Array
}

export const make = (): OutputLengthsShape => {
  const models = new BoundedMap<string, Learned>(keptModels)
  const assumed = Float64Array.from(profiles, ({ outputTokens }) => outputTokens)
  const all = unlearned(assumed)
  return {
    expectedFor: (classes) => {
      const used = usedClasses(classes)
      const ofAll = used.length === 0 ? expectedOutputTokens(classes) : mixed(classes, used, all.expected)
      if (used.length === 0) return sameFigure(ofAll)
      return {
        of: ({ id }) => {
          const learned = models.get(id)
          return learned === undefined ? ofAll : mixed(classes, used, learned.expected)
        },
        fill: (pool, into) => {
          into.fill(ofAll, 0, pool.models.length)
          models.forEach(({ expected }, id) => {
            const at = pool.places.get(id)
            if (at !== undefined) into[at] = mixed(classes, used, expected)
          })
        }
      }
    },
    answered: ({ classes, isCut, model, tokens }) => {
      const used = usedClasses(classes)
      if (used.length === 0) return
      const learned = models.get(model.id) ?? unlearned(all.expected)
      for (const [to, from] of [
        [all, assumed],
        [learned, all.expected]
      ] as const) {
        // of an answer that was cut only the least length is known
        const ratio = Math.min(maxRatio, Math.max(tokens / mixed(classes, used, to.expected), isCut ? 1 : 0))
        add(to, from, classes, ratio)
      }
      models.set(model.id, learned)
    }
  }
}

const unlearned = (assumed: Float64Array): Learned => ({
  weights: new Float64Array(profiles.length),
  sums: new Float64Array(profiles.length),
  expected: Float64Array.from(assumed)
})

/** `ratio` is the length beside the expected one: it is the same for each class that the prompt may be of. */
const add = (
  { expected, sums, weights }: Learned,
  assumed: Float64Array,
  classes: ReadonlyArray<number>,
  ratio: number
): void => {
  let answers = 0
  let ratios = 0
  for (let k = 0; k < assumed.length; k++) {
    const part = (classes[k] ?? 0) / perMille
    const weight = (weights[k] ?? 0) + part
    const kept = Math.min(1, maxAnswers / weight)
    weights[k] = weight * kept
    sums[k] = ((sums[k] ?? 0) + part * ratio * (expected[k] ?? 0)) * kept
    answers += weights[k] ?? 0
    ratios += (sums[k] ?? 0) / (assumed[k] ?? 1)
  }
  const factor = (factorAnswers + ratios) / (factorAnswers + answers)
  for (let k = 0; k < assumed.length; k++) {
    expected[k] = (priorAnswers * (assumed[k] ?? 0) * factor + (sums[k] ?? 0)) / (priorAnswers + (weights[k] ?? 0))
  }
}

const mixed = (classes: ReadonlyArray<number>, used: ReadonlyArray<number>, expected: Float64Array): number => {
  let sum = 0
  for (const k of used) sum += (classes[k] ?? 0) * (expected[k] ?? 0)
  return sum / perMille
}
