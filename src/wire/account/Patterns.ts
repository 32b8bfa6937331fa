import * as Schema from "effect/Schema"

/** The id of a model or provider, or a pattern of ids: 1 to 300 characters that the database stores, no space among them. */
export const Pattern = Schema.String.pipe(
  Schema.pattern(/^[^\s\0\p{Surrogate}]{1,300}$/u, {
    description: "An id, `<prefix>/*` or `*`.",
    jsonSchema: { pattern: "^\\S{1,300}$" }
  })
)
