import * as Schema from "effect/Schema"

/** A record without extra properties: an unknown key is an error with its path. */
export const strict = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({ title: "closed", parseOptions: { onExcessProperty: "error" } })
