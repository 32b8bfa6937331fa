import * as Schema from "effect/Schema"
import { matching } from "../validation/SchemaParts.ts"

const digits = /^[0-9]{1,16}$/

/** A count in a query, in decimal digits: `Number` takes other forms too, and the empty text for 0. */
export const sentCount = (max: number) => {
  const expected = `an integer from 1 to ${max}`
  return Schema.compose(matching(digits, expected), Schema.NumberFromString).pipe(
    Schema.between(1, max, { message: () => `Expected ${expected}` })
  )
}
