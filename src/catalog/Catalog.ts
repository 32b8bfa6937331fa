import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { byCodePoint } from "../domain/CodePointOrder.ts"
import { claudeName, type Model } from "../domain/Model.ts"

/** Every model that the gateway can call, at one moment; immutable. */
export interface Snapshot {
  /** By id, in code-point order. */
  readonly models: ReadonlyArray<Model>
  /** Those of them that are listed: what `auto` chooses from. */
  readonly listed: ReadonlyArray<Model>
  /** Every model by its id. */
  readonly byId: ReadonlyMap<string, Model>
  /** The routes to the model of this bare name, by id in code-point order. */
  readonly byAlias: ReadonlyMap<string, ReadonlyArray<Model>>
  /** Those of Claude, by `claudeName`. */
  readonly byClaudeName: ReadonlyMap<string, ReadonlyArray<Model>>
  /** Models of built-in vendors that only lack a credential. */
  readonly unavailable: ReadonlyArray<UnavailableModel>
}

/** A model of a built-in vendor that only lacks a credential. */
export interface UnavailableModel extends Pick<Model, "id" | "alias" | "providerId" | "prices"> {
  /** What is missing, such as `a credential of openai`, any one of which would do; in the service its environment variables. */
  readonly needs: ReadonlyArray<string>
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

export const makeSnapshot = (
  models: ReadonlyArray<Model>,
  unavailable: ReadonlyArray<UnavailableModel> = []
): Snapshot => {
  const sorted = [...models].sort((a, b) => byCodePoint(a.id, b.id))
  return {
    models: sorted,
    listed: sorted.filter((model) => model.listed),
    byId: new Map(sorted.map((model) => [model.id, model])),
    byAlias: grouped(sorted, ({ alias }) => alias),
    byClaudeName: grouped(sorted, ({ alias }) => claudeName(alias)),
    unavailable
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
