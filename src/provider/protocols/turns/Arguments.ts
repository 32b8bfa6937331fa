import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { isObject, type Json } from "../../Json.ts"

/** Arguments of a call are JSON text for our clients and an object elsewhere. No text, and null, are no arguments. */
export const argumentsOf = (text: string, param: string): { readonly value: Json } | ProviderFailure => {
  if (!/\S/.test(text)) return { value: {} }
  const value = parsed(text)
  if (value === null) return { value: {} }
  return isObject(value)
    ? { value }
    : { _tag: "RequestRejected", message: "The arguments of a tool call are not a JSON object.", param }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
