import { isObject, type Json } from "../../../provider/protocols/shared/Json.ts"

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

/** Schemas are compiled together, in limits of their own; these are of the strict tools of one request and of its format. */
export const rejectedTogether = (schemas: ReadonlyArray<unknown>): string | undefined => {
  const all = schemas.flatMap(withInner)
  const optional = all.reduce((count, schema) => count + optionalOf(schema), 0)
  if (optional > 24) return `Schemas contains too many optional parameters (${optional}), limit: 24`
  const unions = all.filter(({ anyOf }) => Array.isArray(anyOf) && anyOf.length > 1).length
  return unions > 16 ? `Schemas contains too many parameters with union types (${unions}), limit: 16` : undefined
}

const optionalOf = ({ properties, required }: Json): number =>
  Object.keys(isObject(properties) ? properties : {}).filter(
    (name) => !(Array.isArray(required) && required.includes(name))
  ).length

/** A schema with all that it is made of. */
const withInner = (schema: unknown): ReadonlyArray<Json> => {
  if (!isObject(schema)) return []
  const { $defs, allOf, anyOf, definitions, items, properties } = schema
  const named = [$defs, definitions, properties].flatMap((inner) => (isObject(inner) ? Object.values(inner) : []))
  const listed = [anyOf, allOf].flatMap((inner): ReadonlyArray<unknown> => (Array.isArray(inner) ? inner : []))
  return [schema, ...[...named, ...listed, items].flatMap(withInner)]
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
