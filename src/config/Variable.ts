import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Fault } from "./Fault.ts"
import { isHttpUrl } from "./Fields.ts"

/** One environment variable after reading. It keeps its fault instead of failing, so that all faults come out together. */
export interface Variable<A> {
  readonly name: string
  /** Something stands there, good or not. */
  readonly given: boolean
  /** `null` when nothing usable was given. */
  readonly value: A | null
  readonly faults: ReadonlyArray<Fault>
}

type Decode<A> = (text: string) => Either.Either<A, string>

/** Of what is not a secret, the empty string counts as not set: that is how compose files and CI leave variables out. */
export const plain = <A>(name: string, decode: Decode<A>): Config.Config<Variable<A>> =>
  Config.map(Config.option(Config.string(name)), (given) => {
    const text = Option.getOrElse(given, () => "").trim()
    return text === "" ? absent(name) : decoded(name, decode(text))
  })

/** An empty secret is a fault: whoever sets one means it to protect something. */
export const secret = (
  name: string,
  judge: (text: string) => string | null = () => null
): Config.Config<Variable<Redacted.Redacted>> =>
  Config.map(Config.option(Config.string(name)), (given) => {
    if (Option.isNone(given)) return absent(name)
    const text = given.value
    const message = isSendable(text) ? judge(text) : "must not be empty and must hold visible ASCII characters only"
    return decoded(name, message === null ? Either.right(Redacted.make(text)) : Either.left(message))
  })

/** A variable that is there for other programs: not ours to judge, and absent where it could not be used. */
export const ambient = (name: string): Config.Config<Variable<Redacted.Redacted>> =>
  Config.map(Config.option(Config.string(name)), (given) =>
    Option.isSome(given) && isSendable(given.value)
      ? decoded(name, Either.right(Redacted.make(given.value)))
      : absent(name)
  )

/** The first of several names for one secret. */
export const firstSecret = (names: ReadonlyArray<string>): Config.Config<Variable<Redacted.Redacted>> =>
  Config.map(Config.all(names.map((name) => secret(name))), (found) => ({
    name: names.join(" or "),
    given: found.some((one) => one.given),
    value: found.find((one) => one.value !== null)?.value ?? null,
    faults: found.flatMap((one) => one.faults)
  }))

/** A secret goes into a header: no line break, no space around it. */
const isSendable = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

const absent = (name: string): Variable<never> => ({ name, given: false, value: null, faults: [] })

const decoded = <A>(name: string, result: Either.Either<A, string>): Variable<A> =>
  Either.match(result, {
    onLeft: (message) => ({ name, given: true, value: null, faults: [{ path: name, message }] }),
    onRight: (value) => ({ name, given: true, value, faults: [] })
  })

export const printable: Decode<string> = (text) =>
  /\p{Cc}/u.test(text) ? Either.left("must not hold control characters") : Either.right(text)

export const httpUrl: Decode<string> = (text) =>
  isHttpUrl(text) ? Either.right(text) : Either.left("must be an http or https URL")

export const region: Decode<string> = (text) =>
  /^[a-z0-9-]{1,40}$/.test(text) ? Either.right(text) : Either.left("must be a region such as us-east-1")

export const whole =
  (least: number, most: number): Decode<number> =>
  (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most
      ? Either.right(value)
      : Either.left(`must be a whole number from ${least} to ${most}`)
  }

export const duration: Decode<Duration.Duration> = (text) =>
  Option.match(
    Option.filter(Duration.decodeUnknown(text), (value) => Duration.isFinite(value)),
    { onNone: () => Either.left('must be a duration such as "600 seconds"'), onSome: Either.right }
  )

export const oneOf =
  <A>(names: Readonly<Record<string, A>>): Decode<A> =>
  (text) => {
    const name = text.toLowerCase()
    const value = Object.hasOwn(names, name) ? names[name] : undefined
    return value === undefined ? Either.left(`must be one of ${Object.keys(names).join(", ")}`) : Either.right(value)
  }

export const logLevel: Decode<LogLevel.LogLevel> = oneOf({
  all: LogLevel.All,
  trace: LogLevel.Trace,
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warning: LogLevel.Warning,
  warn: LogLevel.Warning,
  error: LogLevel.Error,
  fatal: LogLevel.Fatal,
  none: LogLevel.None,
  off: LogLevel.None
})
