import { isObject, listAt, objectAt } from "../../../provider/protocols/shared/Json.ts"

/** The keywords of `Schema`; any other makes the whole request invalid. */
const keywords: ReadonlySet<string> = new Set([
  "anyOf",
  "default",
  "description",
  "enum",
  "example",
  "format",
  "items",
  "maxItems",
  "maxLength",
  "maxProperties",
  "maximum",
  "minItems",
  "minLength",
  "minProperties",
  "minimum",
  "nullable",
  "pattern",
  "properties",
  "propertyOrdering",
  "required",
  "title",
  "type"
])
const types = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"]

/** The error in a schema of the OpenAPI subset, if any. */
export const faultOfSchema = (schema: unknown, at: string): string | undefined => {
  if (!isObject(schema)) return `Invalid value at '${at}'`
  const unknown = Object.keys(schema).find((keyword) => !keywords.has(keyword))
  if (unknown !== undefined) {
    return `Invalid JSON payload received. Unknown name "${unknown}" at '${at}': Cannot find field.`
  }
  const { enum: values, items, properties, type } = schema
  if (type !== undefined && (typeof type !== "string" || !types.includes(type))) return `Invalid value at '${at}.type'`
  if (type === undefined && schema["anyOf"] === undefined) return `${at}.type: must be specified`
  if (values !== undefined && (type !== "STRING" || !listAt(schema, "enum").every((one) => typeof one === "string"))) {
    return `${at}.enum: only allowed for STRING type`
  }
  if (type === "ARRAY" && items === undefined) return `${at}.items: missing field.`
  if (properties !== undefined && (!isObject(properties) || Object.keys(properties).length === 0)) {
    return `${at}.properties: should be non-empty for OBJECT type`
  }
  const names = Object.keys(objectAt(schema, "properties") ?? {})
  const missing = listAt(schema, "required").find((name) => !names.includes(String(name)))
  if (missing !== undefined) return `${at}.required: property is not defined`
  return inner(schema, at)
}

/** The error in the references of a JSON schema, if any. `beside` are the keywords that may stand beside one, apart from `$…`. */
export const faultOfReferences = (schema: unknown, beside: ReadonlyArray<string>, at: string): string | undefined => {
  const defined = isObject(schema) ? Object.keys(objectAt(schema, "$defs") ?? {}).map((name) => `#/$defs/${name}`) : []
  const targets = new Set(["#", ...defined])
  const fault = (value: unknown): string | undefined => {
    if (Array.isArray(value)) return firstFault(value, fault)
    if (!isObject(value)) return undefined
    const ref = value["$ref"]
    if (typeof ref !== "string") return firstFault(Object.values(value), fault)
    const other = Object.keys(value).find((keyword) => !keyword.startsWith("$") && !beside.includes(keyword))
    if (other !== undefined) return `${at}: $ref was set alongside unsupported fields`
    return targets.has(ref) ? firstFault(Object.values(value), fault) : `reference to undefined schema at ${at}`
  }
  return fault(schema)
}

const firstFault = (
  values: ReadonlyArray<unknown>,
  fault: (value: unknown) => string | undefined
): string | undefined => {
  for (const value of values) {
    const found = fault(value)
    if (found !== undefined) return found
  }
  return undefined
}

const inner = (schema: Readonly<Record<string, unknown>>, at: string): string | undefined => {
  for (const [name, property] of Object.entries(objectAt(schema, "properties") ?? {})) {
    const fault = faultOfSchema(property, `${at}.properties[${name}]`)
    if (fault !== undefined) return fault
  }
  for (const [index, variant] of listAt(schema, "anyOf").entries()) {
    const fault = faultOfSchema(variant, `${at}.any_of[${index}]`)
    if (fault !== undefined) return fault
  }
  return schema["items"] === undefined ? undefined : faultOfSchema(schema["items"], `${at}.items`)
}
