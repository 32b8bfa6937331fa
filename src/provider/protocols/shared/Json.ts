import { isCount } from "../../../domain/Usage.ts"
import { isObject } from "../../../wire/validation/Guard.ts"
import { parse } from "../../../wire/validation/JsonBounds.ts"

/** JSON from an upstream: no field is trusted to have its documented type. */
export type Json = { readonly [key: string]: unknown }

export { isObject }

/** `undefined` unless the text is a JSON object within the bounds. */
export const parseObject = (text: string): Json | undefined => {
  const value = parse(text)
  return isObject(value) ? value : undefined
}

export const objectAt = (json: Json | undefined, key: string): Json | undefined => {
  const value = json?.[key]
  return isObject(value) ? value : undefined
}

export const listAt = (json: Json | undefined, key: string): ReadonlyArray<unknown> => {
  const value = json?.[key]
  return Array.isArray(value) ? value : []
}

/** `undefined` unless the field is a non-empty string. */
export const textAt = (json: Json | undefined, key: string): string | undefined => {
  const value = json?.[key]
  return typeof value === "string" && value !== "" ? value : undefined
}

/** `undefined` unless the field is a plausible token count: an integer from 0 to 1,000,000,000. */
export const countAt = (json: Json | undefined, key: string): number | undefined => {
  const value = json?.[key]
  return typeof value === "number" && isCount(value) ? value : undefined
}

/**
 * The fields that have a value, of several records the last one of each. For names that are written in the sources: a client's could be
 * `__proto__`.
 */
export const present = (...records: ReadonlyArray<Json>): Json => {
  const kept: Record<string, unknown> = {}
  for (const record of records) {
    for (const name of Object.keys(record)) {
      const value = record[name]
      if (value !== undefined) kept[name] = value
    }
  }
  return kept
}
