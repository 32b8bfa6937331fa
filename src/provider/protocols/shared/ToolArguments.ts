import { parseExactly } from "../../../domain/ExactJson.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { marksOf, maxMarks, tooDeep } from "../../../wire/validation/JsonBounds.ts"
import { isObject, type Json } from "./Json.ts"

/**
 * Parses the arguments of one conversation's calls: JSON text in requests, an object for the providers. All of them together have
 * the bounds of a request body, whose check sees them as strings.
 */
export class Arguments {
  private marksLeft = maxMarks

  /** Blank text and null mean no arguments. */
  read(text: string, param: string): { readonly value: Json } | ProviderFailure {
    if (!/\S/.test(text)) return { value: {} }
    const marks = marksOf(text, this.marksLeft)
    this.marksLeft -= Math.max(0, marks)
    const value = marks === tooDeep || this.marksLeft < 0 ? undefined : parsed(text)
    if (value === null) return { value: {} }
    return isObject(value)
      ? { value }
      : { _tag: "RequestRejected", message: "The arguments of a tool call are not a JSON object.", param }
  }
}

const parsed = (text: string): unknown => {
  try {
    return parseExactly(text)
  } catch {
    return undefined
  }
}
