import type { JsonObject } from "../../../domain/Chat.ts"
import { isObject } from "../shared/Json.ts"

/** The schema with `items` in each array that says nothing of its items, which OpenAI rejects; itself where there is none. */
export const withItems = (schema: JsonObject): JsonObject => completed(schema, maxDepth)

/** As deep as the JSON of a request may be. */
const maxDepth = 64

const completed = (schema: JsonObject, depth: number): JsonObject => {
  if (depth === 0) return schema
  let copy: Record<string, unknown> | undefined
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword]
    const inner = records.has(keyword)
      ? mapped(value, depth)
      : schemas.has(keyword)
        ? Array.isArray(value)
          ? listed(value, depth)
          : one(value, depth)
        : value
    if (inner === value) continue
    copy ??= { ...schema }
    copy[keyword] = inner
  }
  const result = copy ?? schema
  return isArray(schema["type"]) && !("items" in schema) && !("prefixItems" in schema)
    ? { ...result, items: {} }
    : result
}

const isArray = (type: unknown): boolean => type === "array" || (Array.isArray(type) && type.includes("array"))

const one = (value: unknown, depth: number): unknown => (isObject(value) ? completed(value, depth - 1) : value)

const listed = (values: ReadonlyArray<unknown>, depth: number): ReadonlyArray<unknown> => {
  const inner = values.map((value) => one(value, depth))
  return inner.some((value, at) => value !== values[at]) ? inner : values
}

/** By entries: a name may be `__proto__`. */
const mapped = (value: unknown, depth: number): unknown => {
  if (!isObject(value)) return value
  const entries = Object.entries(value)
  const inner = entries.map(([name, each]): [string, unknown] => [name, one(each, depth)])
  return inner.some(([, each], at) => each !== entries[at]?.[1]) ? Object.fromEntries(inner) : value
}

/** Keywords whose value is a record of schemas. */
const records: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions"
])

/** Keywords whose value is a schema, or a list of schemas. */
const schemas: ReadonlySet<string> = new Set([
  "items",
  "prefixItems",
  "additionalProperties",
  "additionalItems",
  "contains",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else"
])
