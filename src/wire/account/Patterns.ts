import * as Schema from "effect/Schema"

/** The id of a model or provider, or a pattern of ids: 1 to 300 characters that the database stores, no space among them. */
export const Pattern = Schema.String.pipe(
  Schema.pattern(/^[^\s\0\p{Surrogate}]{1,300}$/u, {
    description: "An id, `<prefix>/*` or `*`.",
    jsonSchema: { pattern: "^\\S{1,300}$" }
  })
)

/** As they are stored: the lists of GATEWAY_CONFIG, and those that actions of analyses have added to, may be longer than a request's. */
export const StoredPatterns = Schema.Array(Schema.String)
