import { isObject, type Json } from "../../../provider/protocols/shared/Json.ts"

/** What is wrong with a parameter that has a range, a type or a list of values, if anything. `null` is the same as no value. */
export const rejectedParameter = (body: Json): string | undefined => {
  const wrong = Object.entries(parameters).find(
    ([field, { accepts }]) => (body[field] ?? null) !== null && !accepts(body[field])
  )
  if (wrong === undefined) return undefined
  const [field, { expected }] = wrong
  return `Invalid value for '${field}': expected ${expected}.`
}

interface Parameter {
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
}

const number = (min: number, max: number): Parameter => ({
  expected: `a number from ${min} to ${max}`,
  accepts: (value) => typeof value === "number" && value >= min && value <= max
})

const integer = (min: number, max: number): Parameter => ({
  expected: `an integer from ${min} to ${max}`,
  accepts: (value) => Number.isInteger(value) && number(min, max).accepts(value)
})

const oneOf = (...values: ReadonlyArray<string>): Parameter => ({
  expected: `one of ${values.join(", ")}`,
  accepts: (value) => values.some((one) => one === value)
})

const boolean: Parameter = { expected: "a boolean", accepts: (value) => typeof value === "boolean" }

const maxPairs = 16
const maxKeyCharacters = 64
const maxValueCharacters = 512

const metadata: Parameter = {
  expected: `at most ${maxPairs} pairs of strings, of at most ${maxKeyCharacters} and ${maxValueCharacters} characters`,
  accepts: (value) => {
    const pairs = isObject(value) ? Object.entries(value) : undefined
    return (
      pairs !== undefined &&
      pairs.length <= maxPairs &&
      pairs.every(
        ([key, text]) => key.length <= maxKeyCharacters && typeof text === "string" && text.length <= maxValueCharacters
      )
    )
  }
}

const parameters: Readonly<Record<string, Parameter>> = {
  temperature: number(0, 2),
  top_p: number(0, 1),
  frequency_penalty: number(-2, 2),
  presence_penalty: number(-2, 2),
  top_logprobs: integer(0, 20),
  n: integer(1, 128),
  seed: { expected: "an integer", accepts: (value) => Number.isInteger(value) },
  stream: boolean,
  verbosity: oneOf("low", "medium", "high"),
  service_tier: oneOf("auto", "default", "flex", "scale", "priority", "fast"),
  metadata
}
