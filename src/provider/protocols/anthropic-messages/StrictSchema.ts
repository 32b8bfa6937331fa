import type { JsonObject } from "../../../domain/Chat.ts"
import { isObject } from "../../Json.ts"

/**
 * A schema in the subset that constrained answers take: objects are closed, and what cannot be enforced stands in the
 * description, where the model still reads it. Properties that are named like keywords are properties.
 */
export const strictSchema = (schema: JsonObject): JsonObject => {
  const types = schema["type"]
  if (Array.isArray(types) && types.length > 0) {
    const [only] = types
    if (types.length === 1) return strictSchema({ ...schema, type: only })
    const { description, title, $defs, definitions, ...constraints } = schema
    return present({
      $defs: mapped($defs),
      definitions: mapped(definitions),
      anyOf: types.map((type) => strictSchema(type === "null" ? { type } : { ...constraints, type })),
      description,
      title
    })
  }
  return narrowed(schema)
}

const narrowed = (schema: JsonObject): JsonObject => {
  const { $defs, definitions, $ref, $schema: _dialect, description, title, ...rest } = schema
  const named = { $defs: mapped($defs), definitions: mapped(definitions) }
  if ($ref !== undefined) return present({ ...named, $ref })
  const { kept, left } = constraintsOf(rest)
  return present({ ...named, ...kept, description: described(description, left), title })
}

interface Constraints {
  readonly kept: JsonObject
  /** What can only be told. */
  readonly left: JsonObject
}

const constraintsOf = (schema: JsonObject): Constraints => {
  const { allOf, anyOf, const: constant, enum: values, oneOf, type: declared, ...rest } = schema
  const literals = present({
    enum: Array.isArray(values) && values.length > 0 && values.every(isPlain) ? values : undefined,
    const: constant !== undefined && isPlain(constant) ? constant : undefined
  })
  if (Object.keys(literals).length > 0) return { kept: literals, left: rest }
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  if (choices !== undefined) return { kept: { anyOf: choices.map(schemaOf) }, left: rest }
  if (Array.isArray(allOf)) return { kept: { allOf: allOf.map(schemaOf) }, left: rest }
  const type = declared ?? (isObject(rest["properties"]) ? "object" : rest["items"] === undefined ? undefined : "array")
  switch (type) {
    case "object": {
      const { additionalProperties: _open, properties, required, ...left } = rest
      return {
        kept: present({ type, properties: mapped(properties) ?? {}, additionalProperties: false, required }),
        left
      }
    }
    case "array": {
      const { items, minItems, ...left } = rest
      const isEnforced = minItems === 0 || minItems === 1
      return {
        kept: present({
          type,
          items: items === undefined ? undefined : schemaOf(items),
          minItems: isEnforced ? minItems : undefined
        }),
        left: isEnforced ? left : present({ minItems, ...left })
      }
    }
    case "string": {
      const { format, ...left } = rest
      const isEnforced = typeof format === "string" && formats.has(format)
      return { kept: present({ type, format: isEnforced ? format : undefined }), left: isEnforced ? left : rest }
    }
    default:
      return { kept: present({ type }), left: rest }
  }
}

const schemaOf = (value: unknown): JsonObject => (isObject(value) ? strictSchema(value) : {})

const mapped = (schemas: unknown): JsonObject | undefined =>
  isObject(schemas)
    ? Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schemaOf(schema)]))
    : undefined

const described = (description: unknown, left: JsonObject): string | undefined => {
  const told = Object.entries(left).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  const given = typeof description === "string" && description !== "" ? [description] : []
  const all = told.length === 0 ? given : [...given, `{${told.join(", ")}}`]
  return all.length === 0 ? undefined : all.join("\n\n")
}

const present = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const isPlain = (value: unknown): boolean => value === null || typeof value !== "object"

const formats: ReadonlySet<string> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid"
])
