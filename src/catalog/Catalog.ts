import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { Model } from "../domain/Model.ts"

/** Every route the gateway can call, at one moment; immutable. */
export interface Snapshot {
  /** By id, in code-point order. */
  readonly models: ReadonlyArray<Model>
  readonly byId: ReadonlyMap<string, Model>
  /** Routes that offer the model of this bare name, in code-point order of their ids. */
  readonly byAlias: ReadonlyMap<string, ReadonlyArray<Model>>
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
  const sorted = [...models].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
  const byAlias = new Map<string, Array<Model>>()
  for (const model of sorted) {
    const same = byAlias.get(model.alias)
    if (same === undefined) byAlias.set(model.alias, [model])
    else same.push(model)
  }
  return { models: sorted, byId: new Map(sorted.map((model) => [model.id, model])), byAlias }
}
