/** Part of the OpenAPI document. */
export type Json = { [key: string]: unknown }

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The title of a record that rejects unknown properties; see `closed` and `strict`. */
const closedTitle = "closed"

/** Records that the specification gives without further properties. */
const closedNames: ReadonlySet<string> = new Set(["CallError", "Cost", "CandidatePool"])

/**
 * Schemas as validators and generators take them: no repeated `$id`, no titles that name a rule of the code, and no
 * `additionalProperties: false` where unknown properties are ignored, or may be added to an answer.
 */
export const tidySchemas = (spec: Json): void => {
  const components = isObject(spec["components"]) ? spec["components"] : {}
  for (const [name, schema] of Object.entries(isObject(components["schemas"]) ? components["schemas"] : {})) {
    tidy(schema, closedNames.has(name))
  }
  tidy(spec["paths"], false)
}

const tidy = (value: unknown, isClosed: boolean): void => {
  if (Array.isArray(value)) {
    for (const one of value) tidy(one, false)
    return
  }
  if (!isObject(value)) return
  if (typeof value["$id"] === "string") delete value["$id"]
  if (value["additionalProperties"] === false && !isClosed && value["title"] !== closedTitle)
    delete value["additionalProperties"]
  if (typeof value["title"] === "string") delete value["title"]
  if (Array.isArray(value["prefixItems"]) && value["prefixItems"].length === 1 && value["items"] === false) {
    // a list of exactly one: generators read tuples badly
    value["items"] = value["prefixItems"][0]
    value["maxItems"] = 1
    delete value["prefixItems"]
  }
  for (const [key, inner] of Object.entries(value)) {
    if (key === "properties" && isObject(inner)) for (const property of Object.values(inner)) tidy(property, false)
    else if (key !== "example" && key !== "examples" && key !== "default" && key !== "enum") tidy(inner, false)
  }
}
