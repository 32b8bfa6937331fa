import * as Schema from "effect/Schema"

/** A time in RFC 3339, in UTC with milliseconds. */
export const timestamp = (description: string) =>
  Schema.Date.annotations({ description, jsonSchema: { type: "string", format: "date-time", description } })
