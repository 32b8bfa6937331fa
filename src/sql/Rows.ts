import * as Schema from "effect/Schema"

/** A 64-bit integer: the driver returns its digits. Fails beyond the integers that a number has exactly. */
export const Int8 = Schema.compose(Schema.NumberFromString, Schema.Int)

/** The rows of a statement that selects `id`. */
export const decodeIds = Schema.decodeUnknown(Schema.Array(Schema.Struct({ id: Schema.String })))

/** The one row of a statement that selects a 32-bit `count`. */
export const decodeCount = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ count: Schema.Int })))
