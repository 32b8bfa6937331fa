import * as Schema from "effect/Schema"

/** RFC 3339 in UTC with milliseconds. */
export const Timestamp = Schema.Date.annotations({
  identifier: "Timestamp",
  description: "A time in UTC with milliseconds, as RFC 3339.",
  jsonSchema: { type: "string", format: "date-time" }
})
