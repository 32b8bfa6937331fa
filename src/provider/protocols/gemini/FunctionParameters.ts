import type { JsonObject } from "../../../domain/Chat.ts"
import { writeExactly } from "../../../domain/ExactJson.ts"
import { isObject, listAt, objectAt } from "../shared/Json.ts"
import { type Copies, openApiSchema } from "./Schema.ts"

/**
 * What a function takes, in the OpenAPI subset, where the API takes one object only: one of several becomes one with the properties of
 * all. `undefined` when it is too large after resolving its references.
 */
export const openApiParameters = (root: JsonObject, copies: Copies): JsonObject | undefined => {
  const schema = openApiSchema(root, copies)
  return schema === undefined ? undefined : asOneObject(schema)
}

const asOneObject = (schema: JsonObject): JsonObject => {
  const { anyOf, ...annotations } = schema
  const variants = listAt(schema, "anyOf").filter(isObject).map(asOneObject)
  const [first, ...others] = variants
  if (first === undefined) return schema
  const names = [...new Set(variants.flatMap((variant) => Object.keys(objectAt(variant, "properties") ?? {})))]
  if (names.length === 0) return { ...annotations, type: "OBJECT" }
  const required = listAt(first, "required").filter((name) =>
    others.every((other) => listAt(other, "required").includes(name))
  )
  return {
    ...annotations,
    type: "OBJECT",
    properties: Object.fromEntries(names.map((name) => [name, oneOf(schemasOf(variants, name))])),
    ...(required.length > 0 && { required }),
    propertyOrdering: names
  }
}

const schemasOf = (variants: ReadonlyArray<JsonObject>, name: string): ReadonlyArray<unknown> =>
  variants.flatMap((variant) => {
    const properties = objectAt(variant, "properties") ?? {}
    return Object.hasOwn(properties, name) ? [properties[name]] : []
  })

const oneOf = (schemas: ReadonlyArray<unknown>): unknown => {
  const different = [...new Map(schemas.map((schema) => [writeExactly(schema), schema])).values()]
  return different.length === 1 ? different[0] : { anyOf: different }
}
