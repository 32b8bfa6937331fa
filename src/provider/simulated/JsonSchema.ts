import { writeExactly } from "../../domain/ExactJson.ts"
import { isObject, type Json, listAt, objectAt, textAt } from "../protocols/shared/Json.ts"

/** Maximum depth of a schema; recursive schemas have no end. */
const maxSchemaDepth = 12
const maxTextCharacters = 10_000
/** Far more than a model may output; references and long lists would multiply without bound. */
const maxCharacters = 200_000
/** Minimum cost of each visited schema. */
const schemaCharacters = 10
/** How much of a prompt is read. */
const maxReadCharacters = 4_096
/** How many values of an enumeration are searched in the prompt. */
const maxSoughtValues = 100

/**
 * Generates values that schemas accept, from numbers, quotations and place names of the prompt. The output of one filler is
 * bounded; beyond the bound all values are null.
 */
export class Filler {
  private readonly prompt: string
  private readonly lowerCase: string
  private readonly quoted: string | undefined
  private readonly place: string | undefined
  private readonly promptNumber: number
  private root: unknown
  private left = maxCharacters
  /** Characters of constants and defaults, which may be taken again and again. */
  private readonly lengths = new WeakMap<object, number>()

  constructor(prompt: string) {
    this.prompt = prompt.slice(0, maxReadCharacters)
    this.lowerCase = this.prompt.toLowerCase()
    this.quoted = quotedIn(this.prompt)
    this.place = /\b(?:in|for|at|of|to|from|near)\s+(\p{Lu}[\p{L}'-]*(?:\s+\p{Lu}[\p{L}'-]*)*)/u.exec(this.prompt)?.[1]
    this.promptNumber = Number(/-?\d+(?:\.\d+)?/.exec(this.prompt)?.[0] ?? 1)
  }

  fill(schema: unknown): unknown {
    this.root = schema
    return this.value(schema, "", 0)
  }

  private value(given: unknown, name: string, depth: number): unknown {
    const schema = this.resolved(given, depth)
    if (schema === undefined || depth > maxSchemaDepth) return null
    if ("const" in schema) return this.literal(schema["const"])
    if ("default" in schema) return this.literal(schema["default"])
    for (const key of ["enum", "examples"]) {
      const values = listAt(schema, key)
      if (values.length > 0) return this.literal(this.mentioned(values))
    }
    switch (typeOf(schema)) {
      case "object":
        return this.object(schema, depth)
      case "array":
        return this.array(schema, name, depth)
      case "integer":
        return Math.round(this.number(schema))
      case "number":
        return this.number(schema)
      case "boolean":
        return true
      case "null":
        return null
      default:
        return this.literal(this.text(schema, name))
    }
  }

  /** Takes characters from the budget; false when it is exhausted. */
  private take(characters: number): boolean {
    this.left -= characters
    return this.left >= 0
  }

  private literal(value: unknown): unknown {
    return this.take(this.lengthOf(value)) ? value : null
  }

  private lengthOf(value: unknown): number {
    if (typeof value === "string") return value.length
    if (typeof value !== "object" || value === null) return schemaCharacters
    const known = this.lengths.get(value)
    if (known !== undefined) return known
    const length = writeExactly(value).length
    this.lengths.set(value, length)
    return length
  }

  /** Resolves references, alternatives and conjunctions. */
  private resolved(given: unknown, depth: number): Json | undefined {
    if (given === true) return {}
    if (!isObject(given) || depth > maxSchemaDepth || !this.take(schemaCharacters)) return undefined
    const reference = textAt(given, "$ref")
    if (reference !== undefined) {
      return this.take(reference.length) ? this.resolved(this.at(reference), depth + 1) : undefined
    }
    for (const key of ["anyOf", "oneOf"]) {
      const choice = listAt(given, key).find((one) => !isObject(one) || one["type"] !== "null")
      if (choice !== undefined) return this.resolved(choice, depth + 1)
    }
    const parts = listAt(given, "allOf")
    return parts.length === 0 ? given : this.merged(given, parts, depth)
  }

  /** Of two values for one keyword the later part wins. */
  private merged(given: Json, parts: ReadonlyArray<unknown>, depth: number): Json {
    const whole = new Map<string, unknown>()
    const properties = new Map<string, unknown>()
    const required: Array<unknown> = []
    const add = (part: Json): boolean => {
      const fields = Object.entries(part)
      const named = Object.entries(objectAt(part, "properties") ?? {})
      const more = listAt(part, "required")
      if (!this.take(fields.length + named.length + more.length)) return false
      for (const [key, value] of fields) whole.set(key, value)
      for (const [name, property] of named) properties.set(name, property)
      for (const name of more) required.push(name)
      return true
    }
    add(given)
    for (const part of parts) {
      const resolved = this.resolved(part, depth + 1)
      if (resolved !== undefined && !add(resolved)) break
    }
    return { ...Object.fromEntries(whole), properties: Object.fromEntries(properties), required }
  }

  /** `#/$defs/Name`. */
  private at(reference: string): unknown {
    if (!reference.startsWith("#")) return undefined
    const steps = reference.split("/").slice(1)
    return steps.reduce<unknown>(
      (at, step) => (isObject(at) ? at[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined),
      this.root
    )
  }

  private object(schema: Json, depth: number): Json {
    const properties = objectAt(schema, "properties") ?? {}
    const required = listAt(schema, "required").filter((name) => typeof name === "string")
    const names = required.length > 0 ? required : Object.keys(properties)
    const object: Array<[string, unknown]> = []
    for (const name of names) {
      if (!this.take(schemaCharacters + name.length)) break
      object.push([name, this.value(properties[name] ?? true, name, depth + 1)])
    }
    return Object.fromEntries(object)
  }

  private array(schema: Json, name: string, depth: number): ReadonlyArray<unknown> {
    const items = schema["items"] ?? listAt(schema, "prefixItems")[0] ?? true
    const min = schema["minItems"]
    const count = typeof min === "number" ? Math.min(Math.max(1, min), 100) : schema["maxItems"] === 0 ? 0 : 1
    const list: Array<unknown> = []
    while (list.length < count && this.take(schemaCharacters)) list.push(this.value(items, name, depth + 1))
    return list
  }

  private number(schema: Json): number {
    const { promptNumber } = this
    const step = numberAt(schema, "multipleOf") ?? 1
    const min = numberAt(schema, "minimum") ?? above(numberAt(schema, "exclusiveMinimum"), step)
    const max = numberAt(schema, "maximum") ?? below(numberAt(schema, "exclusiveMaximum"), step)
    const value = Math.min(Math.max(promptNumber, min ?? promptNumber), max ?? Number.POSITIVE_INFINITY)
    if (numberAt(schema, "multipleOf") === undefined) return value
    const multiple = Math.floor(value / step) * step
    return min !== undefined && multiple < min ? multiple + step : multiple
  }

  private text(schema: Json, name: string): string {
    const format = textAt(schema, "format")
    const value = (format === undefined ? undefined : formats.get(format)) ?? this.word(name)
    const min = Math.min(numberAt(schema, "minLength") ?? 0, maxTextCharacters)
    return value.padEnd(min, "x").slice(0, numberAt(schema, "maxLength") ?? undefined)
  }

  private word(name: string): string {
    if (this.quoted !== undefined) return this.quoted
    const isPlace = /city|location|place|country|region|destination|town|address/i.test(name)
    if (isPlace && this.place !== undefined) return this.place
    return /query|question|text|prompt|message|input|content|task|topic|expression|answer|summary/i.test(name)
      ? this.prompt.slice(0, 200)
      : "example"
  }

  private mentioned(values: ReadonlyArray<unknown>): unknown {
    const isMentioned = (value: unknown): boolean =>
      typeof value === "string" &&
      value.length <= this.lowerCase.length &&
      this.take(schemaCharacters) &&
      this.lowerCase.includes(value.toLowerCase())
    return values.slice(0, maxSoughtValues).find(isMentioned) ?? values[0]
  }
}

const maxQuotedCharacters = 200

/** The first text between quotation marks that is not empty. */
const quotedIn = (prompt: string): string | undefined => {
  for (const { index } of prompt.matchAll(/["“«]/g)) {
    const after = prompt.slice(index + 1, index + 2 + maxQuotedCharacters)
    const end = after.search(/["”»]/)
    if (end > 0) return after.slice(0, end)
  }
  return undefined
}

const typeOf = (schema: Json): unknown => {
  const type = schema["type"]
  if (Array.isArray(type)) return type.find((each) => each !== "null") ?? "null"
  if (type !== undefined) return type
  if ("properties" in schema || "required" in schema) return "object"
  return "items" in schema ? "array" : "string"
}

const numberAt = (schema: Json, key: string): number | undefined => {
  const value = schema[key]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

const above = (bound: number | undefined, step: number): number | undefined =>
  bound === undefined ? undefined : bound + step
const below = (bound: number | undefined, step: number): number | undefined =>
  bound === undefined ? undefined : bound - step

const formats: ReadonlyMap<string, string> = new Map([
  ["date", "2026-01-01"],
  ["time", "12:00:00Z"],
  ["date-time", "2026-01-01T12:00:00Z"],
  ["duration", "P1D"],
  ["email", "someone@example.com"],
  ["hostname", "example.com"],
  ["ipv4", "192.0.2.1"],
  ["ipv6", "2001:db8::1"],
  ["uri", "https://example.com/"],
  ["uuid", "00000000-0000-4000-8000-000000000000"]
])
