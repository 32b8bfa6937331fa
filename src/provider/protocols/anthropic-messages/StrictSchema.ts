import type { JsonObject } from "../../../domain/Chat.ts"
import { writeExactly } from "../../../domain/ExactJson.ts"
import { isObject, present } from "../shared/Json.ts"

/**
 * Converts a schema to the subset of constrained output: objects are closed, and constraints outside the subset are moved to
 * the description, which the model still reads. A property whose name equals a keyword is treated as a property.
 */
export const strictSchema = (schema: JsonObject): JsonObject => {
  const types = schema["type"]
  if (!Array.isArray(types) || types.length === 0) return narrowed(schema)
  const { type: _listed, ...untyped } = schema
  // `narrowed` ignores the type beside a reference, literals or subschemas
  if (untyped["$ref"] !== undefined || decisionOf(untyped) !== undefined) return narrowed(untyped)
  const known = [...new Set(types)].filter(isSchemaType)
  const [only] = known
  if (only === undefined) return narrowed(untyped)
  return known.length === 1 ? narrowed({ ...untyped, type: only }) : union(untyped, known)
}

type SchemaType = "object" | "array" | "string" | "number" | "integer" | "boolean" | "null"

/**
 * One variant for each type, with the keywords that constrain this type and no other: no subschema stands in two variants,
 * so the result does not grow with the depth of unions. Only the numeric bounds are shared, by the two kinds of number.
 */
const union = (schema: JsonObject, types: ReadonlyArray<SchemaType>): JsonObject => {
  const { $defs, definitions, $schema: _dialect, description, title, ...constraints } = schema
  const left: Array<[string, unknown]> = []
  const own = new Map(types.map((type): [SchemaType, Record<string, unknown>] => [type, { type }]))
  for (const [keyword, value] of Object.entries(constraints)) {
    let isConstraint = false
    for (const type of typesOfKeyword.get(keyword) ?? []) {
      const variant = own.get(type)
      if (variant === undefined) continue
      variant[keyword] = value
      isConstraint = true
    }
    if (!isConstraint) left.push([keyword, value])
  }
  return present({
    $defs: mapped($defs),
    definitions: mapped(definitions),
    anyOf: [...own.values()].map(narrowed),
    description: described(description, Object.fromEntries(left)),
    title
  })
}

const keywordsOfType: ReadonlyArray<readonly [ReadonlyArray<SchemaType>, ReadonlyArray<string>]> = [
  [
    ["object"],
    [
      "properties",
      "required",
      "additionalProperties",
      "patternProperties",
      "propertyNames",
      "unevaluatedProperties",
      "minProperties",
      "maxProperties",
      "dependentRequired",
      "dependentSchemas",
      "dependencies"
    ]
  ],
  [
    ["array"],
    [
      "items",
      "prefixItems",
      "additionalItems",
      "unevaluatedItems",
      "minItems",
      "maxItems",
      "uniqueItems",
      "contains",
      "minContains",
      "maxContains"
    ]
  ],
  [["string"], ["format", "pattern", "minLength", "maxLength", "contentEncoding", "contentMediaType", "contentSchema"]],
  [
    ["number", "integer"],
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
  ]
]

const typesOfKeyword: ReadonlyMap<string, ReadonlyArray<SchemaType>> = new Map(
  keywordsOfType.flatMap(([types, keywords]) => keywords.map((keyword) => [keyword, types]))
)

const schemaTypes: ReadonlySet<unknown> = new Set<SchemaType>([
  "object",
  "array",
  "string",
  "number",
  "integer",
  "boolean",
  "null"
])

const isSchemaType = (type: unknown): type is SchemaType => schemaTypes.has(type)

const narrowed = (schema: JsonObject): JsonObject => {
  const { $defs, definitions, $ref, $schema: _dialect, description, title, ...rest } = schema
  const named = { $defs: mapped($defs), definitions: mapped(definitions) }
  if ($ref !== undefined) return present(named, { $ref })
  const { kept, left } = constraintsOf(rest)
  return present(named, kept, { description: described(description, left), title })
}

interface Constraints {
  readonly kept: JsonObject
  /** Constraints that the subset cannot express; they are written into the description. */
  readonly left: JsonObject
}

const decisions = ["enum", "const", "anyOf", "oneOf", "allOf"]

/** Literals or subschemas; the type beside them is ignored. */
const decisionOf = (schema: JsonObject): JsonObject | undefined => {
  if (!decisions.some((keyword) => keyword in schema)) return undefined
  const { allOf, anyOf, const: constant, enum: values, oneOf } = schema
  const literals = present({
    enum: Array.isArray(values) && values.length > 0 && values.every(isPlain) ? values : undefined,
    const: constant !== undefined && isPlain(constant) ? constant : undefined
  })
  if (Object.keys(literals).length > 0) return literals
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  if (choices !== undefined) return { anyOf: choices }
  return Array.isArray(allOf) ? { allOf } : undefined
}

const constraintsOf = (schema: JsonObject): Constraints => {
  const { allOf: _all, anyOf: _any, const: _const, enum: _enum, oneOf: _one, type: declared, ...rest } = schema
  const decision = decisionOf(schema)
  if (decision !== undefined) return { kept: withSubschemas(decision), left: rest }
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
        left: isEnforced || minItems === undefined ? left : { minItems, ...left }
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

const withSubschemas = (decision: JsonObject): JsonObject => {
  const { allOf, anyOf } = decision
  if (Array.isArray(anyOf)) return { anyOf: anyOf.map(schemaOf) }
  return Array.isArray(allOf) ? { allOf: allOf.map(schemaOf) } : decision
}

const schemaOf = (value: unknown): JsonObject => (isObject(value) ? strictSchema(value) : {})

const mapped = (schemas: unknown): JsonObject | undefined =>
  isObject(schemas)
    ? Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schemaOf(schema)]))
    : undefined

const described = (description: unknown, left: JsonObject): string | undefined => {
  const constraints = Object.entries(left).map(([key, value]) => `${key}: ${writeExactly(value)}`)
  const given = typeof description === "string" && description !== "" ? [description] : []
  const all = constraints.length === 0 ? given : [...given, `{${constraints.join(", ")}}`]
  return all.length === 0 ? undefined : all.join("\n\n")
}

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
