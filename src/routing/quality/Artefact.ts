import { inflateRawSync } from "node:zlib"
import * as Schema from "effect/Schema"
import { promptClasses, textClasses } from "../../domain/PromptClass.ts"
import data from "./data/classifier.data.json" with { type: "json" }
import { buckets } from "./Features.ts"
import { columns, type Linear } from "./Linear.ts"

/** What `npm run router:train` writes: the classifier of prompts, and what the graded sets say about each class. */

const ClassProfile = Schema.Struct({
  graded: Schema.NonNegativeInt.annotations({
    description: "Graded prompts behind `spread`; 0: it is assumed. Everything else is assumed throughout."
  }),
  base: Schema.Number.annotations({ description: "Quality of a model of average ability, 0 to 1." }),
  spread: Schema.Number.annotations({ description: "How much more an abler model scores, per unit of ability." }),
  outputTokens: Schema.Number.annotations({
    description: "Expected length of a response without reasoning, in tokens."
  })
})
export type ClassProfile = typeof ClassProfile.Type

const Artefact = Schema.Struct({
  version: Schema.NonEmptyString.annotations({ description: "Changes whenever the classifier does." }),
  trainedOn: Schema.Array(Schema.String).annotations({ description: "The sets, with their licences." }),
  classes: Schema.Record({ key: Schema.Literal(...promptClasses), value: ClassProfile }),
  intercepts: Schema.Array(Schema.Number),
  scales: Schema.Array(Schema.Number).annotations({ description: "What one step of a weight is, by output." }),
  bucketScale: Schema.Number,
  bucketWeights: Schema.String.annotations({ description: "One byte per bucket: deflated, base64." }),
  weights: Schema.String.annotations({ description: "One signed byte per bucket and output: deflated, base64." }),
  shapeWeights: Schema.Array(Schema.Number).annotations({
    description: "One number per feature of the shape and output: they are few, and larger than those of the buckets."
  })
})
export type Artefact = typeof Artefact.Type

/** The file that ships with the gateway; an error in it is a defect of the build. */
const artefact: Artefact = Schema.decodeUnknownSync(Artefact)(data)

export const classifierVersion: string = artefact.version

/** By class, in their order. */
export const profiles: ReadonlyArray<ClassProfile> = promptClasses.map((name) => artefact.classes[name])

const decode = (): Linear => {
  const bytes = inflateRawSync(Buffer.from(artefact.bucketWeights, "base64"))
  const steps = new Int8Array(inflateRawSync(Buffer.from(artefact.weights, "base64")))
  const { scales, shapeWeights } = artefact
  const size = columns * textClasses
  if (bytes.length !== buckets || steps.length + shapeWeights.length !== size || scales.length !== textClasses) {
    throw new Error("the classifier was trained for other features: run npm run router:train")
  }
  const weights = new Float32Array(size)
  for (let at = 0; at < steps.length; at++) weights[at] = (steps[at] ?? 0) * (scales[at % textClasses] ?? 0)
  weights.set(shapeWeights, steps.length)
  return {
    outputs: textClasses,
    bucketWeights: Float32Array.from(bytes, (byte) => byte * artefact.bucketScale),
    weights,
    intercepts: Float64Array.from(artefact.intercepts)
  }
}

let decoded: Linear | undefined

/** Decoded at the first call that needs it, so that the start does not wait for it. */
export const textClassifier = (): Linear => {
  decoded ??= decode()
  return decoded
}
