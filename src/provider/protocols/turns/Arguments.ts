import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { marksOf, maxMarks, tooDeep } from "../../../wire/JsonBounds.ts"
import { isObject, type Json } from "../../Json.ts"

/**
 * Reads the arguments of one conversation's calls: JSON text for our clients and an object elsewhere. All of them together
 * are bounded as a request is, which sees them as strings.
 */
export class Arguments {
  private marksLeft = maxMarks

  /** No text, and null, are no arguments. */
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
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
