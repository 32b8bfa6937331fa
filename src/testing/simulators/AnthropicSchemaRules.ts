import { isObject } from "../../provider/Json.ts"

/** Keywords of a schema that answers can be held to. */
const keywords: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "minItems",
  "enum",
  "const",
  "anyOf",
  "allOf",
  "$ref",
  "$defs",
  "definitions",
  "description",
  "title",
  "format",
  "default"
])

/** What is wrong with a schema of this API's subset, if anything. */
export const refusedSchema = (schema: unknown, path: string): string | undefined => {
  if (!isObject(schema)) return `${path}: must be a schema`
  const unknown = Object.keys(schema).find((keyword) => !keywords.has(keyword))
  if (unknown !== undefined) return `${path}: '${unknown}' is not supported`
  if (schema["type"] === "object" && schema["additionalProperties"] !== false) {
    return `${path}: additionalProperties must be explicitly set to false`
  }
  if (schema["minItems"] !== undefined && schema["minItems"] !== 0 && schema["minItems"] !== 1) {
    return `${path}: minItems must be 0 or 1`
  }
  for (const [keyword, inner] of Object.entries(schema)) {
    const refused = refusedInside(keyword, inner, path)
    if (refused !== undefined) return refused
  }
  return undefined
}

const refusedInside = (keyword: string, inner: unknown, path: string): string | undefined => {
  switch (keyword) {
    case "items":
      return refusedSchema(inner, `${path}.items`)
    case "properties":
    case "$defs":
    case "definitions":
      return first(isObject(inner) ? Object.entries(inner) : [], ([name, one]) =>
        refusedSchema(one, `${path}.${keyword}.${name}`)
      )
    case "anyOf":
    case "allOf":
      return first(Array.isArray(inner) ? [...inner.entries()] : [], ([at, one]) =>
        refusedSchema(one, `${path}.${keyword}.${at}`)
      )
    default:
      return undefined
  }
}

const first = <A>(values: ReadonlyArray<A>, check: (value: A) => string | undefined): string | undefined => {
  for (const value of values) {
    const found = check(value)
    if (found !== undefined) return found
  }
  return undefined
}
