import { isObject, type Json, listAt, objectAt } from "../../../provider/protocols/shared/Json.ts"

/** What is wrong with a schema that is enforced, if anything: each of its objects is closed and requires all of its properties. */
export const rejectedStrictSchema = (schema: unknown, path: ReadonlyArray<string> = []): string | undefined => {
  if (!isObject(schema)) return undefined
  const context = `In context=(${path.map((key) => `'${key}'`).join(", ")})`
  const properties = objectAt(schema, "properties")
  const isOfObjects =
    properties !== undefined || schema["type"] === "object" || listAt(schema, "type").includes("object")
  if (isOfObjects && schema["additionalProperties"] !== false) {
    return `${context}, 'additionalProperties' is required to be supplied and to be false.`
  }
  const required = listAt(schema, "required")
  const missing = Object.keys(properties ?? {}).find((name) => !required.includes(name))
  if (missing !== undefined) {
    return `${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`
  }
  for (const [keys, inner] of innerOf(schema)) {
    const refused = rejectedStrictSchema(inner, [...path, ...keys])
    if (refused !== undefined) return refused
  }
  return undefined
}

/** The schemas within, each with its path. */
const innerOf = (schema: Json): ReadonlyArray<readonly [path: ReadonlyArray<string>, inner: unknown]> => [
  ...["properties", "$defs", "definitions"].flatMap((keyword) =>
    Object.entries(objectAt(schema, keyword) ?? {}).map(([name, inner]) => [[keyword, name], inner] as const)
  ),
  ...listAt(schema, "anyOf").map((inner, at) => [["anyOf", String(at)], inner] as const),
  [["items"], schema["items"]]
]
