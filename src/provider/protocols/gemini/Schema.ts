import type { JsonObject } from "../../../domain/Chat.ts"
import { writeExactly } from "../../../domain/ExactJson.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { isObject, listAt, objectAt, present } from "../shared/Json.ts"

/**
 * The schema format of a server: JSON Schema, or only the OpenAPI subset, where an unknown keyword makes the server reject the
 * request.
 */
export type SchemaDialect = "json" | "openapi"

// JSON schemas

/**
 * The provider ignores unknown keywords, among them `const` and `allOf`: a `const` is sent as an `enum`. It rejects references to anything but
 * the root and its `$defs`, and what stands beside one, save for keywords with a dollar sign and those of `besideReference`.
 */
export const jsonSchema = (schema: JsonObject, besideReference: ReadonlySet<string> = nothing): JsonObject => {
  const { $defs = {}, definitions, ...rest } = schema
  if (!isObject(definitions) || !isObject($defs) || Object.keys(definitions).some((name) => Object.hasOwn($defs, name)))
    return mapSchema(schema, (one) => accepted(withoutAllOf(one), besideReference))
  return mapSchema({ ...rest, $defs: { ...$defs, ...definitions } }, (one) =>
    accepted(toDefs(withoutAllOf(one)), besideReference)
  )
}

const nothing: ReadonlySet<string> = new Set()

const formerPlace = "#/definitions/"

const toDefs = (schema: JsonObject): JsonObject => {
  const ref = schema["$ref"]
  return typeof ref === "string" && ref.startsWith(formerPlace)
    ? { ...schema, $ref: `#/$defs/${ref.slice(formerPlace.length)}` }
    : schema
}

/** An `allOf` of one part says what the part says. */
const withoutAllOf = (schema: JsonObject): JsonObject => {
  if (!("allOf" in schema)) return schema
  const { allOf: parts, ...own } = schema
  const part: unknown = Array.isArray(parts) && parts.length === 1 ? parts[0] : undefined
  if (!isObject(part) || Object.keys(own).some((keyword) => Object.hasOwn(part, keyword))) return schema
  return withoutAllOf({ ...part, ...own })
}

const accepted = (schema: JsonObject, besideReference: ReadonlySet<string>): JsonObject => {
  if (!("$schema" in schema || "const" in schema || "$ref" in schema)) return schema
  const { $schema: _, const: only, ...rest } = schema
  if (typeof rest["$ref"] === "string") {
    const kept = Object.entries(rest).filter(([keyword]) => keyword.startsWith("$") || besideReference.has(keyword))
    return Object.fromEntries(kept)
  }
  return only === undefined || "enum" in rest ? rest : { ...rest, enum: [only] }
}

/** Keywords whose value is a schema, a list of schemas, or a record of schemas, whose keys are not keywords. */
const schemaKeys: ReadonlySet<string> = new Set([
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties"
])
const listKeys: ReadonlySet<string> = new Set(["allOf", "anyOf", "items", "oneOf", "prefixItems"])
const recordKeys: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties"
])

const isNesting = (key: string): boolean => schemaKeys.has(key) || listKeys.has(key) || recordKeys.has(key)

const mapSchema = (schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject => {
  const inner = (value: unknown): unknown => (isObject(value) ? mapSchema(value, change) : value)
  const changed = change(schema)
  if (!Object.keys(changed).some(isNesting)) return changed
  const entries = Object.entries(changed).map(([key, value]): [string, unknown] => {
    if (listKeys.has(key) && Array.isArray(value)) return [key, value.map(inner)]
    if (schemaKeys.has(key)) return [key, inner(value)]
    if (recordKeys.has(key) && isObject(value)) {
      return [key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one)]))]
    }
    return [key, value]
  })
  return Object.fromEntries(entries)
}

// The OpenAPI subset

/** Resolved references can multiply without bound. */
const maxSchemas = 5_000

/** Characters that resolved references may add, in all schemas of a request together. */
const maxCopiedCharacters = 512 * 1024
/** The minimum cost of resolving a reference. */
const referenceCharacters = 64

/** Counts the characters that resolved references have added. */
export class Copies {
  private left = maxCopiedCharacters
  private readonly lengths = new WeakMap<JsonObject, number>()

  get isTooLarge(): boolean {
    return this.left < 0
  }

  add(ref: string, target: JsonObject): void {
    this.left -= referenceCharacters + ref.length
    if (this.left < 0) return
    let length = this.lengths.get(target)
    if (length === undefined) {
      length = writeExactly(target).length
      this.lengths.set(target, length)
    }
    this.left -= length
  }
}

/** `undefined` when the schema is too large after resolving its references. */
export const openApiSchema = (root: JsonObject, copies = new Copies()): JsonObject | undefined => {
  const converter = new Converter(root, copies)
  const schema = converter.convert(root)
  return converter.isTooLarge ? undefined : schema
}

export const schemaTooLarge = (param: string): ProviderFailure => ({
  _tag: "RequestRejected",
  message: "A JSON schema is too large once its references are resolved.",
  param
})

class Converter {
  private readonly root: JsonObject
  /** References that are being resolved, outermost first. */
  private readonly open: Array<string> = []
  private readonly copies: Copies
  private depth = 0
  private count = 0

  constructor(root: JsonObject, copies: Copies) {
    this.root = root
    this.copies = copies
  }

  get isTooLarge(): boolean {
    return this.count > maxSchemas || this.copies.isTooLarge
  }

  /** A recursive schema is cut at its second occurrence. */
  convert(one: JsonObject): JsonObject {
    const given = withoutNoProperties(one)
    const ref = given["$ref"]
    const isCyclic = typeof ref === "string" && (ref === "#" || this.open.includes(ref))
    this.count++
    if (isCyclic || this.isTooLarge || this.depth >= maxSchemaDepth) return { type: "OBJECT" }
    this.depth++
    if (typeof ref === "string") this.open.push(ref)
    const converted = this.bare(this.merged(this.resolved(given)))
    if (typeof ref === "string") this.open.pop()
    this.depth--
    return converted
  }

  private bare(schema: JsonObject): JsonObject {
    const types = typesOf(schema)
    const variants = this.variantsOf(schema)
    const real = variants.filter((variant) => !isNull(this.resolved(variant)))
    const isNullable = types.includes("null") || real.length < variants.length || schema["nullable"] === true
    const [type, ...others] = types.filter((one) => one !== "null")
    const annotations: JsonObject = {
      title: schema["title"],
      description: descriptionOf(schema, type),
      nullable: isNullable ? true : undefined
    }
    const [only] = real
    if (only !== undefined && real.length === 1) return present(this.convert(only), annotations)
    if (real.length > 1) return present(annotations, { anyOf: real.map((variant) => this.convert(variant)) })
    if (type !== undefined && others.length > 0) {
      const anyOf = [type, ...others].map((one) => this.convert({ ...schema, ...withoutAnnotations, type: one }))
      return present(annotations, { anyOf })
    }
    return present(annotations, this.typed(schema, type ?? impliedType(schema)))
  }

  private typed(schema: JsonObject, type: string): JsonObject {
    switch (type) {
      case "object":
        return this.objectFields(schema)
      case "array":
        return {
          type: "ARRAY",
          items: this.items(schema),
          minItems: schema["minItems"],
          maxItems: schema["maxItems"]
        }
      case "string":
        return {
          type: "STRING",
          enum: textEnum(schema),
          format: schema["format"] === "date-time" ? "date-time" : undefined,
          pattern: schema["pattern"],
          minLength: schema["minLength"],
          maxLength: schema["maxLength"]
        }
      case "integer":
      case "number":
        return {
          type: type.toUpperCase(),
          minimum: schema["minimum"] ?? numberAt(schema, "exclusiveMinimum"),
          maximum: schema["maximum"] ?? numberAt(schema, "exclusiveMaximum")
        }
      default:
        return { type: type === "boolean" ? "BOOLEAN" : "STRING" }
    }
  }

  private objectFields(schema: JsonObject): JsonObject {
    const properties = Object.entries(objectAt(schema, "properties") ?? {})
    if (properties.length === 0) return { type: "OBJECT" }
    const names = new Set(properties.map(([name]) => name))
    const required = listAt(schema, "required").filter((name) => typeof name === "string" && names.has(name))
    return {
      type: "OBJECT",
      properties: Object.fromEntries(
        properties.map(([name, property]) => [name, this.convert(isObject(property) ? property : {})])
      ),
      required: required.length === 0 ? undefined : required,
      propertyOrdering: [...names],
      minProperties: schema["minProperties"],
      maxProperties: schema["maxProperties"]
    }
  }

  /** An array must declare its items; a tuple becomes an array of any of its members. */
  private items(schema: JsonObject): JsonObject {
    const items = schema["items"]
    if (isObject(items)) return this.convert(items)
    const tuple = (Array.isArray(items) ? items : listAt(schema, "prefixItems")).filter(isObject)
    const [only] = tuple
    if (only === undefined) return { type: "STRING" }
    return tuple.length === 1 ? this.convert(only) : { anyOf: tuple.map((member) => this.convert(member)) }
  }

  /** Variants of an object with properties only restrict combinations of the properties: they are left out. */
  private variantsOf(schema: JsonObject): ReadonlyArray<JsonObject> {
    if ("properties" in schema || !("anyOf" in schema || "oneOf" in schema)) return []
    const variants = [...listAt(schema, "anyOf"), ...listAt(schema, "oneOf")].filter(isObject)
    const type = schema["type"]
    return typeof type === "string"
      ? variants.map((variant) => ("$ref" in variant ? variant : { type, ...variant }))
      : variants
  }

  /** Merges the parts of an `allOf`. */
  private merged(schema: JsonObject, nested = 0): JsonObject {
    if (!("allOf" in schema)) return schema
    const { allOf: _, ...own } = schema
    const parts = nested < maxChainLength ? listAt(schema, "allOf").filter(isObject) : []
    if (parts.length === 0) return own
    const all = [own]
    for (const part of parts) {
      this.count++
      if (this.isTooLarge) return own
      all.push(this.merged(this.resolved(part), nested + 1))
    }
    // of two values for one keyword the earlier part wins: it is written later
    const whole = new Map<string, unknown>()
    const properties = new Map<string, unknown>()
    const required = new Set<unknown>()
    for (const part of all.reverse()) {
      for (const [key, value] of Object.entries(part)) whole.set(key, value)
      for (const [name, property] of Object.entries(objectAt(part, "properties") ?? {})) properties.set(name, property)
      for (const name of listAt(part, "required")) required.add(name)
    }
    if (isObject(whole.get("properties"))) whole.set("properties", Object.fromEntries(properties))
    if (Array.isArray(whole.get("required"))) whole.set("required", [...required])
    return Object.fromEntries(whole)
  }

  /** Resolves `$ref` within the schema; keywords beside it, such as a description, are kept. */
  private resolved(schema: JsonObject): JsonObject {
    let current = schema
    for (let hops = 0; typeof current["$ref"] === "string"; hops++) {
      const target = hops < maxChainLength ? this.target(current["$ref"]) : undefined
      const { $ref: _, ...beside } = current
      if (target === undefined) return beside
      this.copies.add(current["$ref"], target)
      if (this.isTooLarge) return beside
      current = Object.keys(beside).length === 0 ? target : { ...target, ...beside }
    }
    return current
  }

  private target(ref: string): JsonObject | undefined {
    if (ref !== "#" && !ref.startsWith("#/")) return undefined
    let current: unknown = this.root
    for (const step of ref.split("/").slice(1)) {
      const name = unescaped(step)
      current = isObject(current) && Object.hasOwn(current, name) ? current[name] : undefined
    }
    return isObject(current) ? current : undefined
  }
}

/** References to references, and `allOf` within `allOf`. */
const maxChainLength = 16
/** The depth limit of request bodies, which schemas exceed only by references. */
const maxSchemaDepth = 64

/** JSON pointers have their own escapes inside those of URLs. */
const unescaped = (step: string): string => {
  const text = step.replaceAll("~1", "/").replaceAll("~0", "~")
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Where the properties are said elsewhere, an empty list beside it is none: parameters of functions have one always. */
const withoutNoProperties = (schema: JsonObject): JsonObject => {
  if (!("$ref" in schema || "anyOf" in schema || "oneOf" in schema)) return schema
  const { properties, ...others } = schema
  return isObject(properties) && Object.keys(properties).length === 0 ? others : schema
}

const isNull = (schema: JsonObject): boolean => schema["type"] === "null" || schema["const"] === null

const withoutAnnotations = { title: undefined, description: undefined, nullable: undefined }

const typesOf = (schema: JsonObject): ReadonlyArray<string> => {
  const { type } = schema
  if (typeof type === "string") return [type.toLowerCase()]
  const listed = new Set(listAt(schema, "type").map((one) => (typeof one === "string" ? one.toLowerCase() : "")))
  return [...listed].filter((one) => schemaTypes.has(one))
}

const schemaTypes: ReadonlySet<string> = new Set(["object", "array", "string", "number", "integer", "boolean", "null"])

const impliedType = (schema: JsonObject): string => {
  if ("properties" in schema || "additionalProperties" in schema) return "object"
  if ("items" in schema || "prefixItems" in schema) return "array"
  if ("minimum" in schema || "maximum" in schema) return "number"
  const values = valuesOf(schema)
  const [first] = values
  if (values.length > 0 && values.every((value) => typeof value === typeof first)) {
    return typeof first === "number" ? "number" : typeof first === "boolean" ? "boolean" : "string"
  }
  return "string"
}

const valuesOf = (schema: JsonObject): ReadonlyArray<unknown> =>
  "const" in schema ? [schema["const"]] : listAt(schema, "enum").filter((value) => value !== null)

const textEnum = (schema: JsonObject): ReadonlyArray<string> | undefined => {
  const values = valuesOf(schema).flatMap((value) => (typeof value === "string" && value !== "" ? [value] : []))
  return values.length === 0 ? undefined : values
}

/** Only strings can be enumerated; other values are listed in the description. */
const descriptionOf = (schema: JsonObject, type: string | undefined): unknown => {
  const values = valuesOf(schema)
  const description = schema["description"]
  if (values.length === 0 || (type ?? impliedType(schema)) === "string") return description
  const oneOf = `One of: ${values.map((value) => writeExactly(value)).join(", ")}.`
  return typeof description === "string" && description !== "" ? `${description} ${oneOf}` : oneOf
}

const numberAt = (schema: JsonObject, key: string): number | bigint | undefined => {
  const value = schema[key]
  return typeof value === "number" || typeof value === "bigint" ? value : undefined
}
