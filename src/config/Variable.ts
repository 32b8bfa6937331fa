import { isIP, isIPv4 } from "node:net"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import { type IpNetwork, networkOf } from "../domain/IpNetwork.ts"
import { type Bounds, boundsText, isWithin } from "../domain/OptionIssues.ts"
import { isProxyUrl } from "../egress/Proxy.ts"

/** One environment variable after reading. It keeps its issues instead of failing, so that all are reported together. */
export interface Variable<A> {
  readonly name: string
  /** Under which it can be set. */
  readonly names: ReadonlyArray<string>
  /** The variable is set, to a valid value or not. */
  readonly given: boolean
  /** `null` when it is not set or invalid. */
  readonly value: A | null
  readonly issues: ReadonlyArray<ConfigIssue>
}

type Decode<A> = (text: string) => Either.Either<A, string>

/** The empty string counts as not set: compose files and CI leave variables out that way. */
export const nonSecret = <A>(name: string, decode: Decode<A>): Config.Config<Variable<A>> =>
  Config.map(Config.option(Config.string(name)), (given) => {
    const text = Option.getOrElse(given, () => "").trim()
    return text === "" ? absent(name) : decoded(name, decode(text))
  })

/** Empty counts as not set here too; a space is an issue, since it becomes part of a header. */
export const secret = (
  name: string,
  validate: (text: string) => string | null = () => null
): Config.Config<Variable<Redacted.Redacted>> =>
  Config.map(Config.option(Config.string(name)), (given) => {
    const text = Option.getOrElse(given, () => "")
    if (text === "") return absent(name)
    const message = isSendable(text) ? validate(text) : "must hold visible ASCII characters only, without spaces"
    return decoded(name, message === null ? Either.right(Redacted.make(text)) : Either.left(message))
  })

/** A variable that other programs define: an invalid value counts as not set. */
export const ambient = (name: string): Config.Config<Variable<Redacted.Redacted>> =>
  Config.map(Config.option(Config.string(name)), (given) =>
    Option.isSome(given) && isSendable(given.value)
      ? decoded(name, Either.right(Redacted.make(given.value)))
      : absent(name)
  )

/** The first of several names for one secret; it has the name of the variable that holds it. */
export const firstSecret = (
  names: ReadonlyArray<string>,
  validate?: (text: string) => string | null
): Config.Config<Variable<Redacted.Redacted>> => firstOf(names.map((name) => secret(name, validate)))

/** The first of several variables that holds a value; its name is that of the variable, or of all. */
export const firstOf = <A>(variables: ReadonlyArray<Config.Config<Variable<A>>>): Config.Config<Variable<A>> =>
  Config.map(Config.all(variables), (found) => ({
    name: found.find((one) => one.value !== null)?.name ?? found.map(({ name }) => name).join(" or "),
    names: found.flatMap(({ names }) => names),
    given: found.some((one) => one.given),
    value: found.find((one) => one.value !== null)?.value ?? null,
    issues: found.flatMap((one) => one.issues)
  }))

/**
 * The URL of an HTTP proxy, which may hold a user and a password. Without a scheme it is `http`, as for curl, and then needs a port:
 * else any word would be a host.
 */
export const proxyUrl = (names: ReadonlyArray<string>): Config.Config<Variable<Redacted.Redacted>> =>
  Config.map(
    firstSecret(names, (text) =>
      (hasScheme(text) || hasPort(text)) && isProxyUrl(withScheme(text))
        ? null
        : "must be the URL of an HTTP proxy, such as http://proxy.example.com:3128"
    ),
    (variable) => ({
      ...variable,
      value: variable.value === null ? null : Redacted.make(withScheme(Redacted.value(variable.value)))
    })
  )

const withScheme = (text: string): string => (hasScheme(text) ? text : `http://${text}`)

const hasScheme = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text)

const hasPort = (text: string): boolean => /:\d{1,5}\/?$/.test(text)

/** A secret becomes a header value: no line break, no surrounding space. */
const isSendable = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

const absent = (name: string): Variable<never> => ({ name, names: [name], given: false, value: null, issues: [] })

const decoded = <A>(name: string, result: Either.Either<A, string>): Variable<A> =>
  Either.match(result, {
    onLeft: (message) => ({ name, names: [name], given: true, value: null, issues: [{ path: name, message }] }),
    onRight: (value) => ({ name, names: [name], given: true, value, issues: [] })
  })

export const printable: Decode<string> = (text) =>
  /\p{Cc}/u.test(text) ? Either.left("must not hold control characters") : Either.right(text)

/** What the resolver of the system may be asked for; four numbers are never the name of a host. */
const hostName = /^(?!\d+(?:\.\d+){3}$)[a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9])?$/i

/** Where a server listens. */
export const listenAddress: Decode<string> = (text) =>
  isIP(text) !== 0 || hostName.test(text)
    ? Either.right(text)
    : Either.left("must be an IP address or a host name, such as 127.0.0.1")

/** Addresses and networks, with commas or spaces between them. */
export const networks: Decode<ReadonlyArray<IpNetwork>> = (text) => {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "")
  const found = entries.flatMap((entry) => networkOf(entry) ?? [])
  const wrong = entries.findIndex((entry) => networkOf(entry) === undefined)
  return wrong < 0
    ? Either.right(found)
    : Either.left(
        `must be a list of IP addresses and networks, such as 10.0.0.0/8,192.0.2.10; its entry ${wrong + 1} is neither`
      )
}

/** The base of links, without a slash at its end. */
export const webAddress: Decode<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isBase =
    (url?.protocol === "https:" || url?.protocol === "http:") &&
    url.search === "" &&
    url.hash === "" &&
    url.username === "" &&
    url.password === ""
  return isBase
    ? Either.right(url.href.endsWith("/") ? url.href.slice(0, -1) : url.href)
    : Either.left("must be an http or https URL without a query, such as https://gateway.example.com")
}

/** Kept as it is: tokens name their issuer to the letter. Without https anybody on the way could sign in as anybody. */
export const issuer: Decode<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname))
  return isSafe && url.search === "" && url.hash === "" && url.username === "" && url.password === ""
    ? Either.right(text)
    : Either.left("must be an https URL without a query, such as https://login.example.com (http only on loopback)")
}

const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || (isIPv4(host) && host.startsWith("127."))

/** `<claim>=<value>`; the value may contain further equals signs. */
export const claim: Decode<{ readonly claim: string; readonly value: string }> = (text) => {
  const [, name = "", value = ""] = /^([^=]+)=(.+)$/.exec(text) ?? []
  return name === "" || value === ""
    ? Either.left("must be a claim and its value, such as groups=operators")
    : Either.right({ claim: name, value })
}

export const region: Decode<string> = (text) =>
  /^[a-z0-9-]{1,40}$/.test(text) ? Either.right(text) : Either.left("must be a region such as us-east-1")

export const bucket: Decode<string> = (text) =>
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text)
    ? Either.right(text)
    : Either.left("must be the name of a bucket: 3 to 63 small letters, digits, dots and hyphens")

export const wholeNumber =
  (bounds: Bounds): Decode<number> =>
  (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    return isWithin(bounds, value) ? Either.right(value) : Either.left(`must be ${boundsText(bounds)}`)
  }

export const duration: Decode<Duration.Duration> = (text) =>
  Option.match(
    // a negative one would be decoded as none
    Option.filter(
      Option.orElse(abbreviated(text), () => Duration.decodeUnknown(text)),
      (value) => Duration.isFinite(value) && !text.startsWith("-")
    ),
    { onNone: () => Either.left('must be a duration such as "600 seconds", "10m" or "1d 12h"'), onSome: Either.right }
  )

/** As other programs and the start line write durations: `30s`, `10m`, `1d 12h`, and `0`. */
const abbreviated = (text: string): Option.Option<Duration.Duration> => {
  if (/^0{1,12}$/.test(text)) return Option.some(Duration.zero)
  if (!/^(?:\d{1,12}(?:ms|[smhd]) ?)+$/.test(text)) return Option.none()
  const millis = [...text.matchAll(/(\d{1,12})(ms|[smhd])/g)].map(
    ([, amount, unit = ""]) => Number(amount) * (millisOf[unit] ?? 0)
  )
  return Option.some(Duration.millis(millis.reduce((sum, part) => sum + part, 0)))
}

const millisOf: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

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
