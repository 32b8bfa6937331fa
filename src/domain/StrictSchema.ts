import type { ChatRequest, JsonObject, Tool } from "./Chat.ts"

/** OpenAI enforces the schema: an object, all of whose objects are closed and require each property, and keywords of its subset alone. */
export const isEnforceable = (schema: unknown): boolean =>
  isRecord(schema) && schema["type"] === "object" && isInSubset(schema, maxDepth)

/** The tool asks for what OpenAI rejects. Clients of Messages may: Anthropic closes objects itself, and requires no property. */
export const losesStrict = ({ objectArguments }: ChatRequest, tool: Tool): boolean =>
  objectArguments === true &&
  tool.type === "function" &&
  tool.function.strict === true &&
  !isEnforceable(tool.function.parameters)

/** Some tools are strict and others are not. */
export const isStrictMixed = (tools: ReadonlyArray<Tool>): boolean => {
  const strict = tools.filter((tool) => tool.type === "function" && tool.function.strict === true).length
  return strict > 0 && strict < tools.length
}

/** Clients of Messages have the schema of a response enforced without asking for it. */
export const losesFormat = ({ objectArguments, responseFormat }: ChatRequest): boolean => {
  const format = responseFormat?.["json_schema"]
  return objectArguments === true && isRecord(format) && !isEnforceable(format["schema"])
}

/**
 * Whether strict tools have more than Claude's providers enforce for one request: they reject it. The limits are those of Anthropic, and count
 * the schemas of all strict tools and of the response format together.
 */
export const exceedsStrictLimits = ({
  responseFormat,
  tools
}: Pick<ChatRequest, "responseFormat" | "tools">): boolean => {
  const strict = tools.flatMap((tool) => (tool.type === "function" && tool.function.strict === true ? [tool] : []))
  if (strict.length === 0) return false
  if (strict.length > maxStrictTools) return true
  const format = responseFormat?.["json_schema"]
  const schemas = strict.map((tool): unknown => tool.function.parameters)
  const counts = { optional: 0, unions: 0 }
  for (const schema of isRecord(format) ? [...schemas, format["schema"]] : schemas) addCounts(schema, counts)
  return counts.optional > maxOptionalProperties || counts.unions > maxUnions
}

const maxStrictTools = 20
const maxOptionalProperties = 24
const maxUnions = 16

/** Unions are those that `anyOf` and `oneOf` list, and lists of types; values that are listed decide alone. */
const addCounts = (schema: unknown, counts: { optional: number; unions: number }): void => {
  if (!isRecord(schema)) return
  const { $defs, allOf, anyOf, definitions, items, oneOf, properties, required, type } = schema
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  const isListed = "enum" in schema || "const" in schema
  if (!isListed && (choices ?? (Array.isArray(type) ? type : [])).length > 1) counts.unions += 1
  if (isRecord(properties)) {
    const names = new Set<unknown>(Array.isArray(required) ? required : [])
    counts.optional += Object.keys(properties).filter((name) => !names.has(name)).length
  }
  const inner = [properties, $defs, definitions].flatMap((named) => (isRecord(named) ? Object.values(named) : []))
  for (const one of [...inner, items, ...(choices ?? []), ...(Array.isArray(allOf) ? allOf : [])])
    addCounts(one, counts)
}

/** Levels that OpenAI documents. */
const maxDepth = 10

const isInSubset = (value: unknown, depth: number): boolean => {
  if (!isRecord(value) || depth === 0) return false
  const keywords = Object.keys(value)
  if ("$ref" in value) return keywords.length === 1
  if (!keywords.every((keyword) => subset.has(keyword))) return false
  const { $defs, additionalProperties, anyOf, format, items, properties, required, type } = value
  const within = (inner: unknown): boolean => isInSubset(inner, depth - 1)
  if ($defs !== undefined && !(isRecord($defs) && Object.values($defs).every(within))) return false
  if (anyOf !== undefined) return Array.isArray(anyOf) && anyOf.every(within)
  const types: ReadonlyArray<unknown> = Array.isArray(type) ? type : [type]
  if (!types.every((one) => typeof one === "string")) return false
  if (format !== undefined && !formats.has(format)) return false
  if (types.includes("array") && !within(items)) return false
  if (!types.includes("object")) return properties === undefined
  if (additionalProperties !== false || !isRecord(properties) || !Array.isArray(required)) return false
  const names = new Set<unknown>(required)
  return Object.entries(properties).every(([name, inner]) => names.has(name) && within(inner))
}

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const subset: ReadonlySet<string> = new Set([
  "$defs",
  "$schema",
  "additionalProperties",
  "anyOf",
  "const",
  "description",
  "enum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "format",
  "items",
  "maxItems",
  "maximum",
  "minItems",
  "minimum",
  "multipleOf",
  "pattern",
  "properties",
  "required",
  "title",
  "type"
])

const formats: ReadonlySet<unknown> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid"
])
