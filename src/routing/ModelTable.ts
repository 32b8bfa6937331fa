import { byCodePoint } from "../domain/CodePointOrder.ts"
import type { Model } from "../domain/Model.ts"
import { reasoningFactor } from "./ReasoningFactor.ts"
import { reasonsUnlessTold } from "./ReasoningMode.ts"

/**
 * What a ranking reads of the models of a pool, each property in one array, at the model's place. A hundred models are a thousand
 * objects, which a busy processor no longer has in its cache; the numbers of a hundred models are a few kilobytes in a row.
 */
export interface ModelTable {
  readonly models: ReadonlyArray<Model>
  /** The place of a model in the arrays, by its id. */
  readonly places: ReadonlyMap<string, number>
  /** Place by place: the order of the ids. */
  readonly idOrder: Float64Array
  /** The same number for the models of a provider. */
  readonly providers: Int32Array
  /** The same number for the routes to a model. */
  readonly aliases: Int32Array
  /** 1 where the model has prices. */
  readonly isPriced: Uint8Array
  /** 1 where the prices depend on the length of the prompt. */
  readonly isTiered: Uint8Array
  /** Some model of the pool has such prices. */
  readonly hasTiers: boolean
  /** Rates of the provider's standard tier in micro-USD per million tokens; 0 without prices. */
  readonly inputRates: Float64Array
  readonly outputRates: Float64Array
  /** Limits in tokens; infinite where none is documented. */
  readonly contextTokens: Float64Array
  readonly inputTokens: Float64Array
  readonly outputTokens: Float64Array
  /** Of one image or file. */
  readonly imageTokens: Float64Array
  /** The lower of the model's limit and its profile's. */
  readonly maxOutputTokens: Float64Array
  /** How many times as much the model writes as without reasoning, where no effort is sent. */
  readonly factors: Float64Array
  /** 1 where an effort may be sent although the request asks for none. */
  readonly hasEffort: Uint8Array
  /** Some model of the pool has such an effort. */
  readonly hasEfforts: boolean
}

/** A number for each model, such as its predicted quality. */
export interface ModelFigures {
  readonly of: (model: Model) => number
  /** Writes those of a whole pool, each at its model's place. */
  readonly fill: (pool: ModelTable, into: Float64Array) => void
}

/** Asked model by model. */
export const figuresBy = (of: (model: Model) => number): ModelFigures => ({
  of,
  fill: ({ models }, into) => {
    for (let at = 0; at < models.length; at++) {
      const model = models[at]
      if (model !== undefined) into[at] = of(model)
    }
  }
})

/** The same number for all. */
export const sameFigure = (value: number): ModelFigures => ({
  of: () => value,
  fill: ({ models }, into) => void into.fill(value, 0, models.length)
})

const tables = new WeakMap<ReadonlyArray<Model>, ModelTable>()

/** Made once for a list of models, which must not change afterwards. */
export const tableOf = (models: ReadonlyArray<Model>): ModelTable => {
  const known = tables.get(models)
  if (known !== undefined) return known
  const table = makeTable(models)
  tables.set(models, table)
  return table
}

const makeTable = (models: ReadonlyArray<Model>): ModelTable => {
  const numbers = (of: (model: Model) => number | null | undefined, missing: number): Float64Array =>
    Float64Array.from(models, (model) => of(model) ?? missing)
  const flags = (of: (model: Model) => boolean): Uint8Array => Uint8Array.from(models, (model) => (of(model) ? 1 : 0))
  const hasEffort = flags((model) => model.profile.effort !== null || reasonsUnlessTold(model))
  const isTiered = flags(({ prices }) => (prices?.tiers.length ?? 0) > 0)
  return {
    models,
    places: new Map(models.map(({ id }, at) => [id, at])),
    idOrder: orderOf(models),
    providers: numbered(models, ({ providerId }) => providerId),
    aliases: numbered(models, ({ alias }) => alias),
    isPriced: flags(({ prices }) => prices !== null),
    isTiered,
    hasTiers: isTiered.includes(1),
    inputRates: numbers(({ prices }) => prices?.input, 0),
    outputRates: numbers(({ prices }) => prices?.output, 0),
    contextTokens: numbers(({ contextTokens }) => contextTokens, Number.POSITIVE_INFINITY),
    inputTokens: numbers(({ inputTokens }) => inputTokens, Number.POSITIVE_INFINITY),
    outputTokens: numbers(({ outputTokens }) => outputTokens, Number.POSITIVE_INFINITY),
    imageTokens: numbers(({ imageTokens }) => imageTokens, 0),
    maxOutputTokens: numbers(
      ({ outputTokens, profile }) =>
        Math.min(outputTokens ?? Number.POSITIVE_INFINITY, profile.maxOutputTokens ?? Number.POSITIVE_INFINITY),
      Number.POSITIVE_INFINITY
    ),
    factors: numbers((model) => reasoningFactor(model, undefined), 1),
    hasEffort,
    hasEfforts: hasEffort.includes(1)
  }
}

const orderOf = (models: ReadonlyArray<Model>): Float64Array => {
  const sorted = models.map(({ id }, at) => ({ id, at })).sort((a, b) => byCodePoint(a.id, b.id))
  const order = new Float64Array(models.length)
  sorted.forEach(({ at }, position) => {
    order[at] = position
  })
  return order
}

/** Equal texts have equal numbers. */
const numbered = (models: ReadonlyArray<Model>, nameOf: (model: Model) => string): Int32Array => {
  const numbers = new Map<string, number>()
  return Int32Array.from(models, (model) => {
    const name = nameOf(model)
    const number = numbers.get(name) ?? numbers.size
    numbers.set(name, number)
    return number
  })
}
