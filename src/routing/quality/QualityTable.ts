import type { Model } from "../../domain/Model.ts"
import { classIndex, promptClasses } from "../../domain/PromptClass.ts"
import type { ModelFigures, ModelTable } from "../ModelTable.ts"
import { profiles } from "./Artefact.ts"
import { perMille } from "./Classify.ts"

/** What a quality is known from. `graded` evidence is that of the project itself. */
export type Provenance = "graded" | "benchmarks" | "tier" | "configured"

/** Measured quality of models by class; see `evidence/QualitySnapshots`. */
export interface GradedQuality {
  /** 0 to 1; `undefined` without enough evidence. */
  readonly of: (modelId: string, classAt: number, prior: number) => number | undefined
}

/** The ability at which a class's `base` holds, on the scale of `Model.quality`. */
const averageAbility = 0.7

/** All published benchmarks of the catalog are about code; about other classes they say half as much. */
const benchmarkShare = 0.5

/** Where nothing is known about the prompt. */
const unknownOutputTokens = 400

/** Nothing is certain without evidence. */
const lowest = 0.02
const highest = 0.99

const rows = new WeakMap<Model, Float64Array>()

/** The prior quality of a model by class, from benchmarks or from its tier. A model of higher quality is better in every class. */
export const rowOf = (model: Model): Float64Array => {
  let row = rows.get(model)
  if (row === undefined) {
    row = Float64Array.from(profiles, ({ base, spread }, at) =>
      Math.max(lowest, Math.min(highest, base + spread * (abilityOf(model, at) - averageAbility)))
    )
    rows.set(model, row)
  }
  return row
}

export const provenanceOf = (
  model: Model,
  classAt: number,
  graded?: GradedQuality
): { readonly from: Provenance; readonly quality: number } => {
  const prior = rowOf(model)[classAt] ?? 0
  const measured = graded?.of(model.id, classAt, prior)
  if (measured !== undefined) return { from: "graded", quality: measured }
  const evidence = model.qualityEvidence
  if (evidence === undefined) return { from: "configured", quality: prior }
  return { from: evidence.benchmarks > 0 && classAt === classIndex.code ? "benchmarks" : "tier", quality: prior }
}

/** The classes that a prompt may be of; mostly one or two. */
export const usedClasses = (classes: ReadonlyArray<number>): ReadonlyArray<number> => {
  const used: Array<number> = []
  for (let k = 0; k < promptClasses.length; k++) if ((classes[k] ?? 0) > 0) used.push(k)
  return used
}

/** Predicted quality for a prompt of these classes (per mille). */
export const qualityFor = (classes: ReadonlyArray<number>, graded?: GradedQuality): ModelFigures => {
  const used = usedClasses(classes)
  return {
    of: (model) => {
      let sum = 0
      for (const k of used) sum += (classes[k] ?? 0) * qualityIn(model, k, graded)
      return sum / perMille
    },
    fill: (pool, into) => {
      const size = pool.models.length
      const qualities = qualitiesOf(pool, graded)
      into.fill(0, 0, size)
      for (const k of used) {
        const share = classes[k] ?? 0
        for (let at = 0; at < size; at++) into[at] = (into[at] ?? 0) + share * (qualities[k * size + at] ?? 0)
      }
      for (let at = 0; at < size; at++) into[at] = (into[at] ?? 0) / perMille
    }
  }
}

const qualityIn = (model: Model, classAt: number, graded: GradedQuality | undefined): number => {
  const prior = rowOf(model)[classAt] ?? 0
  return graded?.of(model.id, classAt, prior) ?? prior
}

const ungraded: GradedQuality = { of: () => undefined }
const qualitiesByGrades = new WeakMap<GradedQuality, WeakMap<ModelTable, Float64Array>>()

/** The qualities of a pool in each class, one class after the other; made once for the grades of a project. */
const qualitiesOf = (pool: ModelTable, graded: GradedQuality = ungraded): Float64Array => {
  let pools = qualitiesByGrades.get(graded)
  if (pools === undefined) {
    pools = new WeakMap()
    qualitiesByGrades.set(graded, pools)
  }
  const known = pools.get(pool)
  if (known !== undefined) return known
  const { models } = pool
  const qualities = new Float64Array(promptClasses.length * models.length)
  models.forEach((model, at) => {
    for (let k = 0; k < promptClasses.length; k++) qualities[k * models.length + at] = qualityIn(model, k, graded)
  })
  pools.set(pool, qualities)
  return qualities
}

/** Expected length of a response to a prompt of these classes, in tokens. */
export const expectedOutputTokens = (classes: ReadonlyArray<number>): number => {
  if (classes.length === 0) return unknownOutputTokens
  let sum = 0
  for (let k = 0; k < promptClasses.length; k++) sum += (classes[k] ?? 0) * (profiles[k]?.outputTokens ?? 0)
  return sum / perMille
}

const abilityOf = ({ quality, qualityEvidence }: Model, classAt: number): number =>
  qualityEvidence === undefined || classAt === classIndex.code
    ? quality
    : qualityEvidence.prior + benchmarkShare * (quality - qualityEvidence.prior)
