import type { Model } from "../domain/Model.ts"

/** A routing configuration as the model lists see it. */
export interface RoutingEntry {
  readonly slug: string
  /** The models it can choose from, of those that the key may use; may be empty. */
  readonly pool: ReadonlyArray<Model>
}

/** One line of a model list: a model, or an id that stands for a choice among several. */
export type Listing =
  | { readonly _tag: "Routed"; readonly id: string; readonly name: string; readonly pool: ReadonlyArray<Model> }
  | { readonly _tag: "Concrete"; readonly model: Model }

/** What every list shape shows, in order: `auto` if it can choose at all, `auto:<slug>` by slug, models by id. */
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

/** The least of a limit over the pool, if every model in it documents one. */
export const leastOf = (pool: ReadonlyArray<Model>, limit: (model: Model) => number | null): number | null => {
  let least: number | null = null
  for (const model of pool) {
    const value = limit(model)
    if (value === null) return null
    least = least === null ? value : Math.min(least, value)
  }
  return least
}

const byCodePoint = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Surrogates stand for code points above all others, but are not the highest UTF-16 units. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
