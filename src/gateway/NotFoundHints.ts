import type { Snapshot } from "../catalog/Catalog.ts"
import { ModelNotFound, RoutingConfigNotFound } from "../domain/GatewayError.ts"
import type { Model } from "../domain/Model.ts"
import { nearest } from "../domain/Nearest.ts"
import { type EffectivePolicy, excludedBy } from "../policy/EffectivePolicy.ts"

/** What the key may know of. */
export interface Visible {
  readonly snapshot: Snapshot
  /** Of the project, without the request's own restrictions. */
  readonly policy: EffectivePolicy
  /** The models that the key may use. */
  readonly models: ReadonlyArray<Model>
  /** Of the active routing configurations. */
  readonly slugs: ReadonlyArray<string>
}

/** Says what the name may have meant, or what its model needs; nothing that the project excludes is named. */
export const withHint = <E>(error: E, visible: () => Visible): E | ModelNotFound | RoutingConfigNotFound => {
  if (error instanceof ModelNotFound) return modelHint(error.model, visible())
  if (error instanceof RoutingConfigNotFound) {
    const { routingConfig } = error
    return new RoutingConfigNotFound({ routingConfig, near: nearest(routingConfig, visible().slugs) })
  }
  return error
}

const modelHint = (model: string, visible: Visible): ModelNotFound => {
  const needs = needsOf(model, visible)
  if (needs.length > 0) return new ModelNotFound({ model, needs })
  return new ModelNotFound({ model, near: nearest(model, namesOf(visible)) })
}

/** A bare name is an alias of the models of several vendors: any of their credentials would do. */
const needsOf = (name: string, { policy, snapshot }: Visible): ReadonlyArray<string> => {
  if (snapshot.byId.has(name) || snapshot.byAlias.has(name)) return []
  const lacking = snapshot.unavailable.filter(
    (model) => (model.id === name || model.alias === name) && excludedBy(policy, model, 0) === null
  )
  return [...new Set(lacking.flatMap(({ needs }) => needs))]
}

function* namesOf({ models, slugs }: Visible): Iterable<string> {
  yield "auto"
  for (const slug of slugs) yield `auto:${slug}`
  for (const { id } of models) yield id
  for (const { alias } of models) yield alias
}
