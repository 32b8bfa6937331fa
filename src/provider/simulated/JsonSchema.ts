import { isObject, type Json, listAt, objectAt, textAt } from "../Json.ts"

/** How deep a schema is followed; recursive ones have no end. */
const deepest = 12
const longestText = 10_000

/** A value that the schema accepts, with what the prompt offers: its numbers, its quotations, its places. */
export const fill = (schema: unknown, prompt: string): unknown => new Filler(schema, prompt).value(schema, "", 0)

class Filler {
  private readonly root: unknown
  private readonly prompt: string

  constructor(root: unknown, prompt: string) {
    this.root = root
    this.prompt = prompt
  }

  value(given: unknown, name: string, depth: number): unknown {
    const schema = this.resolved(given, depth)
    if (schema === undefined || depth > deepest) return null
    if ("const" in schema) return schema["const"]
    if ("default" in schema) return schema["default"]
    for (const key of ["enum", "examples"]) {
      const values = listAt(schema, key)
      if (values.length > 0) return this.mentioned(values)
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
        return this.text(schema, name)
    }
  }

  /** References, alternatives and conjunctions taken away. */
  private resolved(given: unknown, depth: number): Json | undefined {
    if (given === true) return {}
    if (!isObject(given) || depth > deepest) return undefined
    const reference = textAt(given, "$ref")
    if (reference !== undefined) return this.resolved(this.at(reference), depth + 1)
    for (const key of ["anyOf", "oneOf"]) {
      const choices = listAt(given, key).filter((choice) => !isObject(choice) || choice["type"] !== "null")
      if (choices.length > 0) return this.resolved(choices[0], depth + 1)
    }
    return listAt(given, "allOf").reduce<Json>((merged, part) => {
      const resolved = this.resolved(part, depth + 1)
      return resolved === undefined ? merged : merge(merged, resolved)
    }, given)
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
    return Object.fromEntries(names.map((name) => [name, this.value(properties[name] ?? true, name, depth + 1)]))
  }

  private array(schema: Json, name: string, depth: number): ReadonlyArray<unknown> {
    const items = schema["items"] ?? listAt(schema, "prefixItems")[0] ?? true
    const least = schema["minItems"]
    const count = typeof least === "number" ? Math.min(Math.max(1, least), 100) : schema["maxItems"] === 0 ? 0 : 1
    return Array.from({ length: count }, () => this.value(items, name, depth + 1))
  }

  private number(schema: Json): number {
    const said = Number(/-?\d+(?:\.\d+)?/.exec(this.prompt)?.[0] ?? 1)
    const step = numberAt(schema, "multipleOf") ?? 1
    const least = numberAt(schema, "minimum") ?? above(numberAt(schema, "exclusiveMinimum"), step)
    const most = numberAt(schema, "maximum") ?? below(numberAt(schema, "exclusiveMaximum"), step)
    const value = Math.min(Math.max(said, least ?? said), most ?? Number.POSITIVE_INFINITY)
    if (numberAt(schema, "multipleOf") === undefined) return value
    const multiple = Math.floor(value / step) * step
    return least !== undefined && multiple < least ? multiple + step : multiple
  }

  private text(schema: Json, name: string): string {
    const format = textAt(schema, "format")
    const value = (format === undefined ? undefined : formats.get(format)) ?? this.word(name)
    const least = Math.min(numberAt(schema, "minLength") ?? 0, longestText)
    return value.padEnd(least, "x").slice(0, numberAt(schema, "maxLength") ?? undefined)
  }

  private word(name: string): string {
    const quoted = /["“«]([^"”»]{1,200})["”»]/.exec(this.prompt)?.[1]
    if (quoted !== undefined) return quoted
    if (/city|location|place|country|region|destination|town|address/i.test(name)) {
      const place = /\b(?:in|for|at|of|to|from|near)\s+(\p{Lu}[\p{L}'-]*(?:\s+\p{Lu}[\p{L}'-]*)*)/u.exec(
        this.prompt
      )?.[1]
      if (place !== undefined) return place
    }
    return /query|question|text|prompt|message|input|content|task|topic|expression|answer|summary/i.test(name)
      ? this.prompt.slice(0, 200)
      : "example"
  }

  private mentioned(values: ReadonlyArray<unknown>): unknown {
    const prompt = this.prompt.toLowerCase()
    return values.find((value) => typeof value === "string" && prompt.includes(value.toLowerCase())) ?? values[0]
  }
}

const merge = (a: Json, b: Json): Json => ({
  ...a,
  ...b,
  properties: { ...objectAt(a, "properties"), ...objectAt(b, "properties") },
  required: [...listAt(a, "required"), ...listAt(b, "required")]
})

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
