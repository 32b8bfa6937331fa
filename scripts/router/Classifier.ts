import { createHash } from "node:crypto"
import { deflateRawSync } from "node:zlib"
import { type PromptClass, promptClasses, textClasses } from "../../src/domain/PromptClass.ts"
import type { Artefact, ClassProfile } from "../../src/routing/quality/Artefact.ts"
import { buckets } from "../../src/routing/quality/Features.ts"
import type { GradedPrompt, GradedSet } from "./Data.ts"
import { meansOf } from "./Means.ts"
import { type Labelled, seeds } from "./Seeds.ts"
import { matrixOf, ridge, weightsOf } from "./Sparse.ts"

/** Texts per class from the graded sets, half of them bare questions: more do not help, and the classes should weigh alike. */
const textsPerClass = 1_000
/** How often the slots of a seed are filled. What fewer texts have in common is a matter of its wording. */
const timesEach = 24
const penalty = 5

/** Kinds of task of the graded sets whose class is known; the others stay out. */
const classOfLabel: ReadonlyMap<string, PromptClass> = new Map<string, PromptClass>([
  ["crux", "code"],
  ...["gsm", "gsm8k", "math-l5", "math", "abstract_algebra", "college_mathematics", "elementary_mathematics"].map(
    (label) => [label, "math"] as const
  ),
  ...["high_school_mathematics", "high_school_statistics"].map((label) => [label, "math"] as const),
  ...["formal_logic", "logical_fallacies", "engineering", "physics", "chemistry"].map(
    (label) => [label, "reasoning"] as const
  ),
  ...["law", "philosophy", "psychology", "history", "economics", "biology", "health", "business", "other"].map(
    (label) => [label, "knowledge"] as const
  ),
  ...["anatomy", "astronomy", "global_facts", "high_school_geography", "high_school_world_history", "marketing"].map(
    (label) => [label, "knowledge"] as const
  ),
  ...["miscellaneous", "nutrition", "prehistory", "sociology", "us_foreign_policy", "world_religions"].map(
    (label) => [label, "knowledge"] as const
  )
])

/** Where no graded set says anything: assumed, and marked so. Easy classes need no able model, and nothing tells them apart. */
const assumed: Readonly<Record<PromptClass, ClassProfile>> = {
  code: { graded: 0, base: 0.62, spread: 1.1, outputTokens: 500 },
  math: { graded: 0, base: 0.62, spread: 1.1, outputTokens: 400 },
  reasoning: { graded: 0, base: 0.6, spread: 1.1, outputTokens: 400 },
  knowledge: { graded: 0, base: 0.66, spread: 0.8, outputTokens: 300 },
  extraction: { graded: 0, base: 0.78, spread: 0.5, outputTokens: 200 },
  chat: { graded: 0, base: 0.74, spread: 0.5, outputTokens: 350 },
  translation: { graded: 0, base: 0.78, spread: 0.5, outputTokens: 200 },
  tool_use: { graded: 0, base: 0.66, spread: 0.9, outputTokens: 150 },
  long_context: { graded: 0, base: 0.62, spread: 1, outputTokens: 500 },
  vision: { graded: 0, base: 0.64, spread: 0.9, outputTokens: 300 }
}

/** Weight of what is assumed beside the graded prompts of one set of models. */
const priorPrompts = 200

export interface Trained {
  readonly artefact: Artefact
  /** Share of the texts left out of training whose class was recognised. */
  readonly accuracy: number
  readonly texts: number
}

export const trainClassifier = (sets: ReadonlyArray<GradedSet>): Trained => {
  const texts = [...gradedTexts(sets), ...seeds(timesEach, sentencesOf(sets))]
  const held = texts.filter((_, at) => at % 10 === 0)
  const rest = texts.filter((_, at) => at % 10 !== 0)
  const accuracy = accuracyOf(fitted(rest), held)
  const { bucketWeights, intercepts, weights } = fitted(texts)
  const bucketScale = Math.max(...bucketWeights) / 255
  const bucketPart = weights.subarray(0, buckets * textClasses)
  const scales = Array.from({ length: textClasses }, (_, k) => {
    let highest = 0
    for (let at = k; at < bucketPart.length; at += textClasses) highest = Math.max(highest, Math.abs(weights[at] ?? 0))
    return highest / 127
  })
  const steps = Int8Array.from(bucketPart, (weight, at) => Math.round(weight / (scales[at % textClasses] ?? 1)))
  const bytes = Uint8Array.from(bucketWeights, (weight) => Math.round(weight / bucketScale))
  const content = {
    trainedOn: sets.map(({ name }) => name),
    classes: profilesOf(sets),
    intercepts: intercepts.map(rounded),
    scales,
    bucketScale,
    bucketWeights: deflateRawSync(bytes, { level: 9 }).toString("base64"),
    weights: deflateRawSync(new Uint8Array(steps.buffer), { level: 9 }).toString("base64"),
    shapeWeights: Array.from(weights.subarray(bucketPart.length), rounded)
  }
  const version = createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 12)
  return { artefact: { version, ...content }, accuracy, texts: texts.length }
}

/** The whole prompt, and of multiple choice the bare question as well: people ask without options. */
const gradedTexts = (sets: ReadonlyArray<GradedSet>): ReadonlyArray<Labelled> => {
  const byClass = new Map<PromptClass, Array<string>>()
  for (const { prompts } of sets) {
    for (const prompt of prompts) {
      const name = classOf(prompt)
      if (name !== undefined) byClass.set(name, [...(byClass.get(name) ?? []), prompt.text])
    }
  }
  return [...byClass].flatMap(([label, texts]) => {
    const step = Math.max(1, texts.length / (textsPerClass / 2))
    const taken = Array.from(
      { length: Math.min(texts.length, textsPerClass / 2) },
      (_, at) => texts[Math.floor(at * step)] ?? ""
    )
    return taken.flatMap((text) => {
      const [stem = ""] = text.split(/\n(?:A\.|\(A\)|Answer:)/)
      return stem !== text && stem.length > 20
        ? [
            { label, text },
            { label, text: stem }
          ]
        : [{ label, text }]
    })
  })
}

/** Plain sentences of the graded prompts, spread over all of them. */
const sentencesOf = (sets: ReadonlyArray<GradedSet>): ReadonlyArray<string> =>
  sets.flatMap(({ prompts }) =>
    prompts
      .filter((_, at) => at % 7 === 3)
      .flatMap(({ text }) => text.split(/(?<=[.?!])\s/).slice(0, 1))
      .filter((sentence) => sentence.length >= 30 && sentence.length <= 200 && !sentence.includes("\n"))
  )

const classOf = ({ label, task }: GradedPrompt): PromptClass | undefined =>
  classOfLabel.get(label) ?? classOfLabel.get(task)

const fitted = (texts: ReadonlyArray<Labelled>) => {
  const bucketWeights = weightsOf(
    texts.map(({ text }) => text),
    timesEach
  )
  const matrix = matrixOf(
    texts.map(({ text }) => text),
    bucketWeights
  )
  const counts = promptClasses.slice(0, textClasses).map((name) => texts.filter(({ label }) => label === name).length)
  const targets = new Float64Array(texts.length * textClasses)
  // balanced: a class with many texts would otherwise be expected everywhere
  const intercepts = counts.map((count) => count / texts.length)
  texts.forEach(({ label }, row) => {
    for (let k = 0; k < textClasses; k++) {
      targets[row * textClasses + k] = (promptClasses[k] === label ? 1 : 0) - (intercepts[k] ?? 0)
    }
  })
  const weights = ridge(matrix, targets, textClasses, penalty, 20)
  return { bucketWeights, weights, intercepts }
}

const accuracyOf = (
  { bucketWeights, intercepts, weights }: ReturnType<typeof fitted>,
  held: ReadonlyArray<Labelled>
): number => {
  const { indexes, starts, values } = matrixOf(
    held.map(({ text }) => text),
    bucketWeights
  )
  let right = 0
  held.forEach(({ label }, row) => {
    const scores = [...intercepts]
    for (let at = starts[row] ?? 0; at < (starts[row + 1] ?? 0); at++) {
      for (let k = 0; k < textClasses; k++) {
        const weight = weights[(indexes[at] ?? 0) * textClasses + k] ?? 0
        scores[k] = (scores[k] ?? 0) + (values[at] ?? 0) * weight
      }
    }
    if (promptClasses[scores.indexOf(Math.max(...scores))] === label) right++
  })
  return right / held.length
}

/**
 * How much ability tells in a class: the regression of the class's scores on each model's mean over all classes of its set.
 * Sets of different models are pooled by their prompts.
 */
const profilesOf = (sets: ReadonlyArray<GradedSet>): Artefact["classes"] => {
  const sums = new Map<PromptClass, { weight: number; spread: number }>()
  for (const { models, prompts } of sets) {
    const known = promptClasses.flatMap((name) => {
      const own = prompts.filter((prompt) => classOf(prompt) === name)
      return own.length < 30 ? [] : [{ name, own, row: meansOf(own.map(({ scores }) => scores)) }]
    })
    if (models.length < 5 || known.length < 2) continue
    const ability = models.map((_, m) => mean(known.map(({ row }) => row[m] ?? 0)))
    const centre = mean(ability)
    const variance = mean(ability.map((value) => (value - centre) ** 2))
    for (const { name, own, row } of known) {
      const base = mean(row)
      const spread = mean(row.map((value, m) => (value - base) * ((ability[m] ?? 0) - centre))) / variance
      const sum = sums.get(name) ?? { weight: 0, spread: 0 }
      sums.set(name, { weight: sum.weight + own.length, spread: sum.spread + spread * own.length })
    }
  }
  return Object.fromEntries(
    promptClasses.map((name) => {
      const prior = assumed[name]
      const sum = sums.get(name)
      if (sum === undefined) return [name, prior]
      const spread = (sum.spread + prior.spread * priorPrompts) / (sum.weight + priorPrompts)
      return [name, { ...prior, graded: sum.weight, spread: rounded(spread) }]
    })
  ) as Artefact["classes"]
}

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4
