import * as Schema from "effect/Schema"
import { isStorable } from "../../domain/StorableText.ts"

/** A field that may be absent or `null`, with the same meaning. */
export const optional = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optional(Schema.NullOr(schema)).annotations({ description })

/** A free-form object: any keys, any values. */
export const freeForm = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/** An object without other fields than these: an unknown one is an error with its path. */
export const closed = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({ title: "closed", parseOptions: { onExcessProperty: "error" } })

interface NumberRange {
  readonly type: "integer" | "number"
  readonly minimum?: number
  readonly maximum?: number
  /** Of a field that nothing else describes. */
  readonly description?: string
}

/** Finite numbers in the range; integers only if they are safe integers. */
export const allowed = (range: NumberRange) => {
  const min = range.minimum ?? Number.NEGATIVE_INFINITY
  const max = range.maximum ?? Number.POSITIVE_INFINITY
  const ofType = range.type === "integer" ? Number.isSafeInteger : Number.isFinite
  return Schema.filter<typeof Schema.Number>((value) => ofType(value) && value >= min && value <= max, {
    message: () => `Expected ${rangeText(range)}`,
    jsonSchema: range
  })
}

/** An integer of at least this and of any size, which is only compared. */
export const bound = (minimum: number) => {
  const range: NumberRange = { type: "integer", minimum }
  return Schema.Number.pipe(
    Schema.filter((value) => Number.isInteger(value) && value >= minimum, {
      message: () => `Expected ${rangeText(range)}`,
      jsonSchema: range
    })
  )
}

/** A number in the range, which can be described where it is used, as `allowed` cannot. */
export const within = (range: Omit<NumberRange, "description">) => {
  const { maximum = Number.MAX_VALUE, minimum = -Number.MAX_VALUE, type } = range
  const message = () => `Expected ${rangeText(range)}`
  const ofType = type === "integer" ? Schema.Number.pipe(Schema.int({ message })) : Schema.Number
  return ofType.pipe(
    Schema.filter((value) => value >= minimum && value <= maximum, { message, jsonSchema: boundsOf(range) })
  )
}

const boundsOf = ({ maximum, minimum }: NumberRange) => ({
  ...(minimum !== undefined && { minimum }),
  ...(maximum !== undefined && { maximum })
})

const rangeText = ({ maximum, minimum, type }: NumberRange): string => {
  const noun = type === "integer" ? "an integer" : "a number"
  if (minimum !== undefined && maximum !== undefined) return `${noun} from ${minimum} to ${maximum}`
  if (minimum !== undefined) return `${noun} of at least ${minimum}`
  return maximum === undefined ? noun : `${noun} of at most ${maximum}`
}

/** A string of this form, which `expected` says in words. */
export const matching = (pattern: RegExp, expected: string) =>
  Schema.String.pipe(Schema.pattern(pattern, { message: () => `Expected ${expected}` }))

/** A string of 1 to `max` characters (code points). */
export const nonEmptyText = (max: number) =>
  Schema.String.pipe(
    Schema.filter((text) => text.length > 0 && hasAtMost(text, max), {
      message: () => `Expected 1 to ${max} characters`,
      jsonSchema: { minLength: 1, maxLength: max }
    })
  )

/** A string of `min` to `max` characters (code points) that is written to the database. */
export const storedText = (max: number, min = 1) =>
  Schema.String.pipe(
    Schema.filter((text) => text.length >= min && hasAtMost(text, max) && isStorable(text), {
      message: ({ actual }) => (isStorable(String(actual)) ? `Expected ${min} to ${max} characters` : expectedStorable),
      jsonSchema: { minLength: min, maxLength: max }
    })
  )

/** A name that people read: it is stored without the spaces around it, and spaces alone are none. */
export const storedName = (max: number, description: string) =>
  Schema.transform(
    storedText(max).pipe(
      Schema.filter((text) => text.trim() !== "", { message: () => `Expected 1 to ${max} characters, not only spaces` })
    ),
    Schema.String,
    { strict: true, decode: (text) => text.trim(), encode: (text) => text }
  ).annotations({
    description,
    jsonSchema: { type: "string", minLength: 1, maxLength: max, pattern: "\\S", description }
  })

const expectedStorable = "Expected text without NUL and without halves of surrogate pairs"

/** Counts code points, and only when the UTF-16 length does not decide. */
export const hasAtMost = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= 2 * max && [...text].length <= max)

/** An array with bounds on its length. */
export const listOf = <A, I>(item: Schema.Schema<A, I>, bounds: { readonly max: number; readonly min?: number }) => {
  const { max, min = 0 } = bounds
  return Schema.Array(item).pipe(
    Schema.filter((items) => items.length >= min && items.length <= max, {
      message: () => `Expected ${min === 0 ? "at most" : `${min} to`} ${max} items`,
      jsonSchema: min === 0 ? { maxItems: max } : { minItems: min, maxItems: max }
    })
  )
}
