import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { byCodePoint } from "../domain/CodePointOrder.ts"
import type { Model } from "../domain/Model.ts"

/** Every model that the gateway can call, at one moment; immutable. */
export interface Snapshot {
  /** By id, in code-point order. */
  readonly models: ReadonlyArray<Model>
  /** Every model by its id. */
  readonly byId: ReadonlyMap<string, Model>
  /** The routes to the model of this bare name, by id in code-point order. */
  readonly byAlias: ReadonlyMap<string, ReadonlyArray<Model>>
}

/** Reads the models that the gateway can call. */
export interface CatalogShape {
  /** The models at this moment. */
  readonly snapshot: () => Snapshot
  /** With the models that only calls with a credential of their own can use. */
  readonly callerSnapshot: () => Snapshot
}

/** The models of all usable providers. */
export class Catalog extends Context.Tag("gateway/catalog/Catalog")<Catalog, CatalogShape>() {
  /** Exactly these models. `callerModels` are those of calls with a credential of their own; default the same. */
  static readonly layerOf = (
    models: ReadonlyArray<Model>,
    callerModels: ReadonlyArray<Model> = models
  ): Layer.Layer<Catalog> => {
    const snapshot = makeSnapshot(models)
    const callerSnapshot = callerModels === models ? snapshot : makeSnapshot(callerModels)
    return Layer.succeed(this, { snapshot: () => snapshot, callerSnapshot: () => callerSnapshot })
  }
}

export const makeSnapshot = (models: ReadonlyArray<Model>): Snapshot => {
  const sorted = [...models].sort((a, b) => byCodePoint(a.id, b.id))
  const byAlias = new Map<string, Array<Model>>()
  for (const model of sorted) {
    const same = byAlias.get(model.alias)
    if (same === undefined) byAlias.set(model.alias, [model])
    else same.push(model)
  }
  return { models: sorted, byId: new Map(sorted.map((model) => [model.id, model])), byAlias }
}
