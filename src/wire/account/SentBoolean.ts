import * as Schema from "effect/Schema"

/** A filter of a list that tells two kinds of items apart. */
export const sentBoolean = (description: string) =>
  Schema.BooleanFromString.annotations({ jsonSchema: { type: "string", enum: ["true", "false"], description } })
