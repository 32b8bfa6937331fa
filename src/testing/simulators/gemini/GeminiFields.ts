import type { Json } from "../../../provider/protocols/shared/Json.ts"

/** A field that is not documented makes the whole request invalid. */
export const unknownField = (value: Json, fields: ReadonlyArray<string>, at: string): string | undefined => {
  const unknown = Object.keys(value).find((field) => !fields.includes(field))
  if (unknown === undefined) return undefined
  return `Invalid JSON payload received. Unknown name "${unknown}"${at === "" ? "" : ` at '${at}'`}: Cannot find field.`
}

/** The first fault among several values. */
export const first = <A>(
  values: ReadonlyArray<A>,
  fault: (value: A, at: number) => string | undefined
): string | undefined => {
  for (const [at, value] of values.entries()) {
    const found = fault(value, at)
    if (found !== undefined) return found
  }
  return undefined
}
