import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { nearest } from "../../domain/Nearest.ts"
import { storedName } from "../../wire/validation/SchemaParts.ts"

/** The command line is wrong. */
export class UsageError extends Data.TaggedError("UsageError")<{
  readonly message: string
  /** What there is instead, as its help says it. */
  readonly usage?: string
}> {}

export interface Option {
  readonly about: string
  /** A word for its value; `null`: it is a switch without one. */
  readonly value: string | null
}

/** What a command takes. */
export interface Syntax {
  /** The words after the command, in order; a name in brackets may be left out. */
  readonly positionals: ReadonlyArray<string>
  readonly options: Readonly<Record<string, Option>>
}

export interface Arguments {
  readonly positionals: ReadonlyArray<string>
  readonly values: ReadonlyMap<string, string>
  readonly switches: ReadonlySet<string>
}

/** Reads what comes after the name of a command: `--name value`, `--name=value`, switches, and words; after `--` only words. */
export const parse = (words: ReadonlyArray<string>, syntax: Syntax): Either.Either<Arguments, UsageError> => {
  const positionals: Array<string> = []
  const values = new Map<string, string>()
  const switches = new Set<string>()
  const rest = [...words]
  let areOptionsOver = false
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (areOptionsOver || !word.startsWith("-") || word === "-") positionals.push(word)
    else if (word === "--") areOptionsOver = true
    else {
      const [spelled = "", ...assigned] = word.split("=")
      const name = spelled.replace(/^--?/, "")
      const option = Object.hasOwn(syntax.options, name) ? syntax.options[name] : undefined
      if (option === undefined) return wrong(unknownOption(spelled, name, syntax))
      const given = assigned.length > 0 ? assigned.join("=") : undefined
      if (values.has(name) || switches.has(name)) return wrong(`--${name} is given twice`)
      if (option.value === null) {
        if (given !== undefined) return wrong(`--${name} takes no value`)
        switches.add(name)
        continue
      }
      const value = given ?? rest.shift()
      if (value === undefined) return wrong(`--${name} needs a value: --${name} ${option.value}`)
      values.set(name, value)
    }
  }
  const required = syntax.positionals.filter((name) => !name.startsWith("["))
  if (positionals.length < required.length) return wrong(`${required[positionals.length] ?? ""} is missing`)
  if (positionals.length > syntax.positionals.length) {
    return wrong(`unexpected '${positionals[syntax.positionals.length] ?? ""}'`)
  }
  return Either.right({ positionals, values, switches })
}

const unknownOption = (spelled: string, name: string, { options }: Syntax): string => {
  const near = nearest(name, Object.keys(options))
  return `unknown option ${spelled}${near === undefined ? "" : `; did you mean --${near}?`}`
}

const wrong = (message: string): Either.Either<never, UsageError> => Either.left(new UsageError({ message }))

const maxDollars = 1_000_000

/** Dollars with at most six digits after the point, as micro-USD: exact, and more than nothing. */
export const microUsdOf = (name: string, text: string): Either.Either<number, UsageError> => {
  const [, whole = "", digits = ""] = /^\$?(\d{1,7})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  const amount = Number(whole) * 1_000_000 + Number(digits.padEnd(6, "0"))
  return whole !== "" && amount > 0 && amount <= maxDollars * 1_000_000
    ? Either.right(amount)
    : wrong(`--${name} must be dollars such as 25 or 0.50, more than 0 and at most ${maxDollars}`)
}

const maxTextCharacters = 200
const decodeText = Schema.decodeEither(storedName(maxTextCharacters, "A name or a note of a person."))

/** A name or a note, as the account API takes it. */
export const textOf = (name: string, given: string): Either.Either<string, UsageError> =>
  Either.mapLeft(
    decodeText(given),
    () => new UsageError({ message: `--${name} must have 1 to ${maxTextCharacters} characters, not only spaces` })
  )
