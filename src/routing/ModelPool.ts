import type { Snapshot } from "../catalog/Catalog.ts"
import { claudeName, type Model } from "../domain/Model.ts"

/** The models that a request may be answered by, as far as its model name decides. */
export interface Pool {
  readonly models: ReadonlyArray<Model>
  readonly pinned: boolean
}

/** Whether a request names its model; `auto:<slug>` does not. */
export const isPinned = (requested: string): boolean => requested !== "auto" && !requested.startsWith("auto:")

/** `null`: there is no such model. An `auto:<slug>` was resolved to its configuration at admission; here it is `auto`. */
export const poolOf = (requested: string, snapshot: Snapshot): Pool | null => {
  if (!isPinned(requested)) {
    return { models: snapshot.listed, pinned: false }
  }
  const one = snapshot.byId.get(requested)
  if (one !== undefined) return { models: alone(one), pinned: true }
  const routes = snapshot.byAlias.get(requested) ?? snapshot.byClaudeName.get(claudeName(requested) ?? "")
  if (routes === undefined) return null
  return { models: listedOf(routes), pinned: true }
}

const isListed = (model: Model): boolean => model.listed

/** By the model, or the routes, that a request names: the same array each time, so that its table is made once. */
const pools = new WeakMap<object, ReadonlyArray<Model>>()

const poolOnce = (key: object, make: () => ReadonlyArray<Model>): ReadonlyArray<Model> => {
  const known = pools.get(key)
  if (known !== undefined) return known
  const pool = make()
  pools.set(key, pool)
  return pool
}

const alone = (model: Model): ReadonlyArray<Model> => poolOnce(model, () => [model])

/** Those that are listed, if any is. */
const listedOf = (routes: ReadonlyArray<Model>): ReadonlyArray<Model> =>
  poolOnce(routes, () => {
    const listed = routes.filter(isListed)
    return listed.length > 0 ? listed : routes
  })
