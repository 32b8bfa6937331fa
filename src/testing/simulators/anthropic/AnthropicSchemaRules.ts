import { isObject } from "../../../provider/protocols/shared/Json.ts"

/** Keywords of schemas for structured output. */
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
export const rejectedSchema = (schema: unknown, path: string): string | undefined => {
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
    const refused = rejectedInside(keyword, inner, path)
    if (refused !== undefined) return refused
  }
  return undefined
}

const rejectedInside = (keyword: string, inner: unknown, path: string): string | undefined => {
  switch (keyword) {
    case "items":
      return rejectedSchema(inner, `${path}.items`)
    case "properties":
    case "$defs":
    case "definitions":
      return first(isObject(inner) ? Object.entries(inner) : [], ([name, one]) =>
        rejectedSchema(one, `${path}.${keyword}.${name}`)
      )
    case "anyOf":
    case "allOf":
      return first(Array.isArray(inner) ? [...inner.entries()] : [], ([at, one]) =>
        rejectedSchema(one, `${path}.${keyword}.${at}`)
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
