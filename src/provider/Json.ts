import { parse } from "../wire/JsonBounds.ts"

/** Reading what an upstream has sent: nothing is trusted to have its documented type. */
export type Json = { readonly [key: string]: unknown }

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

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

/** `undefined` unless it is a string with something in it. */
export const textAt = (json: Json | undefined, key: string): string | undefined => {
  const value = json?.[key]
  return typeof value === "string" && value !== "" ? value : undefined
}

/** `undefined` unless it is a believable number of tokens: whole, not negative, at most a thousand million. */
export const countAt = (json: Json | undefined, key: string): number | undefined => {
  const value = json?.[key]
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 1_000_000_000
    ? value
    : undefined
}
