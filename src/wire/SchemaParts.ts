import * as Schema from "effect/Schema"

/** A field that may be left out or `null`, which mean the same. */
export const optional = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optional(Schema.NullOr(schema)).annotations({ description })

/** A free-form object: any keys, any values. */
export const freeForm = Schema.Record({ key: Schema.String, value: Schema.Unknown })

interface NumberRange {
  readonly type: "integer" | "number"
  readonly minimum?: number
  readonly maximum?: number
}

/** Finite numbers in the range, integers only where they are exact. */
export const allowed = (range: NumberRange) => {
  const least = range.minimum ?? Number.NEGATIVE_INFINITY
  const most = range.maximum ?? Number.POSITIVE_INFINITY
  const ofType = range.type === "integer" ? Number.isSafeInteger : Number.isFinite
  return Schema.filter<typeof Schema.Number>((value) => ofType(value) && value >= least && value <= most, {
    jsonSchema: range
  })
}

/** A string of 1 to `most` characters (code points). */
export const nonEmptyText = (most: number) =>
  Schema.String.pipe(
    Schema.filter((text) => text.length > 0 && hasAtMost(text, most), {
      jsonSchema: { minLength: 1, maxLength: most }
    })
  )

/** Counts code points, but never more than it must. */
export const hasAtMost = (text: string, most: number): boolean =>
  text.length <= most || (text.length <= 2 * most && [...text].length <= most)

/** An array with bounds on its length. */
export const listOf = <A, I>(item: Schema.Schema<A, I>, bounds: { readonly most: number; readonly least?: number }) => {
  const { most, least = 0 } = bounds
  return Schema.Array(item).pipe(
    Schema.filter((items) => items.length >= least && items.length <= most, {
      jsonSchema: least === 0 ? { maxItems: most } : { minItems: least, maxItems: most }
    })
  )
}
