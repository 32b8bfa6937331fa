import * as Either from "effect/Either"
import type { JsonObject } from "../../domain/Chat.ts"
import { InvalidRequest } from "../../domain/GatewayError.ts"
import { isObject } from "../validation/Guard.ts"

/** Judges a response format: a provider that ignores one that it does not know would answer with something else. */
export const responseFormatOf = (
  format: JsonObject | undefined
): Either.Either<JsonObject | undefined, InvalidRequest> => {
  if (format === undefined) return Either.right(undefined)
  switch (format["type"]) {
    case "text":
    case "json_object":
      return Either.right(format)
    case "json_schema":
      return schemaFault(format["json_schema"]) ?? Either.right(format)
    default:
      return format["type"] === undefined
        ? missing("type")
        : invalid("type", "expected one of 'text', 'json_object', 'json_schema'")
  }
}

const schemaFault = (value: unknown): Either.Either<never, InvalidRequest> | undefined => {
  if (value === undefined || value === null) return missing("json_schema")
  if (!isObject(value)) return invalid("json_schema", "expected an object with 'name' and 'schema'")
  if (value["schema"] === undefined || value["schema"] === null) return missing("json_schema.schema")
  if (!isObject(value["schema"])) return invalid("json_schema.schema", "expected a JSON schema")
  for (const [key, type] of optionalMembers) {
    const member = value[key] ?? undefined
    if (member !== undefined && typeof member !== type) {
      return invalid(`json_schema.${key}`, `expected a ${type}`)
    }
  }
  return undefined
}

const optionalMembers = [
  ["name", "string"],
  ["description", "string"],
  ["strict", "boolean"]
] as const

const invalid = (at: string, rule: string): Either.Either<never, InvalidRequest> =>
  Either.left(
    new InvalidRequest({
      code: "invalid_value",
      message: `Invalid value for 'response_format.${at}': ${rule}.`,
      param: `response_format.${at}`
    })
  )

const missing = (at: string): Either.Either<never, InvalidRequest> =>
  Either.left(
    new InvalidRequest({
      code: "missing_required_parameter",
      message: `Missing required parameter: 'response_format.${at}'.`,
      param: `response_format.${at}`
    })
  )
