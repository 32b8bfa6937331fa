import { byCodePoint } from "../../domain/CodePointOrder.ts"
import type { Model } from "../../domain/Model.ts"

/** A routing configuration as the model lists see it. */
export interface RoutingEntry {
  readonly slug: string
  /** The models it can choose from, of those that the key may use; may be empty. */
  readonly pool: ReadonlyArray<Model>
}

/** One entry of a model list: a model, or a routing id. */
export type Listing =
  | { readonly _tag: "Routed"; readonly id: string; readonly name: string; readonly pool: ReadonlyArray<Model> }
  | { readonly _tag: "Concrete"; readonly model: Model }

/** The entries of every list shape, in order: `auto` if any model is eligible, `auto:<slug>` by slug, models by id. */
export const listings = (
  models: ReadonlyArray<Model>,
  configurations: ReadonlyArray<RoutingEntry>
): ReadonlyArray<Listing> => {
  const auto: ReadonlyArray<Listing> =
    models.length === 0 ? [] : [{ _tag: "Routed", id: "auto", name: "Auto", pool: models }]
  return [
    ...auto,
    ...[...configurations]
      .sort((a, b) => byCodePoint(a.slug, b.slug))
      .map(({ pool, slug }): Listing => ({ _tag: "Routed", id: `auto:${slug}`, name: `Auto (${slug})`, pool })),
    ...[...models].sort((a, b) => byCodePoint(a.id, b.id)).map((model): Listing => ({ _tag: "Concrete", model }))
  ]
}

/** The entry with this id. */
export const listingOf = (
  models: ReadonlyArray<Model>,
  configurations: ReadonlyArray<RoutingEntry>,
  id: string
): Listing | undefined =>
  listings(models, configurations).find((listing) => (listing._tag === "Routed" ? listing.id : listing.model.id) === id)

/** The minimum of a limit over the pool, if every model in the pool documents one. */
export const minOf = (pool: ReadonlyArray<Model>, limit: (model: Model) => number | null): number | null => {
  let min: number | null = null
  for (const model of pool) {
    const value = limit(model)
    if (value === null) return null
    min = min === null ? value : Math.min(min, value)
  }
  return min
}
