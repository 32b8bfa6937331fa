import * as Schema from "effect/Schema"
import { listOf } from "../validation/SchemaParts.ts"

/** The id of a model or provider, or a pattern of ids: 1 to 300 characters that the database stores, no space among them. */
export const Pattern = Schema.String.pipe(
  Schema.pattern(/^[^\s\0\p{Surrogate}]{1,300}$/u, {
    description: "An id, `<prefix>/*` or `*`.",
    message: () => "Expected an id, `<prefix>/*` or `*`, of 1 to 300 characters without spaces",
    jsonSchema: { pattern: "^\\S{1,300}$" }
  })
)

/** Of a list, in all its items: two thousand ids of 32. Pages of policies, and of what the audit log has of them, are read at once. */
const maxCharacters = 64_000

/** A list of at most `max` patterns. */
export const patternList = (max: number) =>
  listOf(Pattern, { max }).pipe(
    Schema.filter((patterns) => patterns.reduce((sum, { length }) => sum + length, 0) <= maxCharacters, {
      message: () => `Expected at most ${maxCharacters} characters in all items together`
    })
  )

/** As they are stored: the lists of GATEWAY_CONFIG, and those that actions of analyses have added to, may be longer than a request's. */
export const StoredPatterns = Schema.Array(Schema.String)
