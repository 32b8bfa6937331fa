import { isObject, type Json } from "./Json.ts"

/**
 * Fields of an upstream response that carry content. A field that is present and cannot be read is never skipped: the response
 * would be shorter than what was sent and pass as complete.
 */
export class Malformed extends Error {
  readonly detail: string

  constructor(detail: string) {
    super(detail)
    this.detail = detail
  }
}

export const malformed = (detail: string): never => {
  throw new Malformed(detail)
}

/** `undefined` where the field is missing, null or empty. */
export const textOf = (json: Json | undefined, key: string): string | undefined => {
  const value = json?.[key]
  if (typeof value === "string") return value === "" ? undefined : value
  return value === undefined || value === null ? undefined : malformed(`a field ${key} that is not text`)
}

/** `undefined` where the field is missing or null. */
export const objectOf = (json: Json | undefined, key: string): Json | undefined => {
  const value = json?.[key]
  if (isObject(value)) return value
  return value === undefined || value === null ? undefined : malformed(`a field ${key} that is not an object`)
}

/** Empty where the field is missing or null. */
export const listOf = (json: Json | undefined, key: string): ReadonlyArray<unknown> => {
  const value = json?.[key]
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? none : malformed(`a field ${key} that is not a list`)
}

export const objectsOf = (json: Json | undefined, key: string): ReadonlyArray<Json> => {
  const list = listOf(json, key)
  return list.every(isObject) ? list : malformed(`a list ${key} with something that is not an object`)
}

/** The entry with index 0 of a list of alternatives; a missing index means 0. Only one alternative is requested. */
export const firstOf = (list: ReadonlyArray<unknown>): Json | undefined => {
  let first: Json | undefined
  for (const entry of list) {
    if (!isObject(entry)) return malformed("an alternative that is not an object")
    const index = entry["index"] ?? 0
    if (typeof index !== "number") return malformed("an alternative whose index is not a number")
    if (index !== 0) continue
    if (first !== undefined) return malformed("two alternatives with one index")
    first = entry
  }
  return first
}

const none: ReadonlyArray<never> = []
