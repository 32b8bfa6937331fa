import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { byCodePoint } from "../domain/CodePointOrder.ts"
import { claudeName, type Model } from "../domain/Model.ts"

/** Every model that the gateway can call, at one moment; immutable. */
export interface Snapshot {
  /** By id, in code-point order. */
  readonly models: ReadonlyArray<Model>
  readonly byId: ReadonlyMap<string, Model>
  /** The routes to the model of this bare name, by id in code-point order. */
  readonly byAlias: ReadonlyMap<string, ReadonlyArray<Model>>
  /** Those of Claude, by `claudeName`. */
  readonly byClaudeName: ReadonlyMap<string, ReadonlyArray<Model>>
}

export interface CatalogShape {
  readonly snapshot: () => Snapshot
}

/** The models of all usable providers. */
export class Catalog extends Context.Tag("gateway/catalog/Catalog")<Catalog, CatalogShape>() {
  static readonly layerOf = (models: ReadonlyArray<Model>): Layer.Layer<Catalog> => {
    const snapshot = makeSnapshot(models)
    return Layer.succeed(this, { snapshot: () => snapshot })
  }
}

export const makeSnapshot = (models: ReadonlyArray<Model>): Snapshot => {
  const sorted = [...models].sort((a, b) => byCodePoint(a.id, b.id))
  return {
    models: sorted,
    byId: new Map(sorted.map((model) => [model.id, model])),
    byAlias: grouped(sorted, ({ alias }) => alias),
    byClaudeName: grouped(sorted, ({ alias }) => claudeName(alias))
  }
}

const grouped = (
  models: ReadonlyArray<Model>,
  nameOf: (model: Model) => string | undefined
): ReadonlyMap<string, ReadonlyArray<Model>> => {
  const groups = new Map<string, Array<Model>>()
  for (const model of models) {
    const name = nameOf(model)
    if (name === undefined) continue
    const same = groups.get(name)
    if (same === undefined) groups.set(name, [model])
    else same.push(model)
  }
  return groups
}
