import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as Cause from "effect/Cause"
import type { AccountError } from "../../domain/AccountError.ts"
import * as Domain from "../../domain/AccountError.ts"
import {
  InvalidRequest,
  RateLimited,
  ServiceRefused,
  StoreUnavailable,
  Unauthenticated
} from "../../domain/GatewayError.ts"
import { type JsonPath, jsonPathText } from "../../domain/JsonPath.ts"

const classes = [
  ...Object.values(Domain),
  InvalidRequest,
  RateLimited,
  ServiceRefused,
  StoreUnavailable,
  Unauthenticated
]

/** The error that a handler ended with; `undefined` for a defect. */
export const errorOf = (cause: Cause.Cause<unknown>): AccountError | undefined => {
  const squashed = Cause.squash(cause)
  return squashed instanceof HttpApiDecodeError ? ofDecoding(squashed) : isAccountError(squashed) ? squashed : undefined
}

/**
 * The fields of a response that its schema does not take; `undefined` for another failure. The platform reports such a response
 * with the error of a request: what tells them apart is the schema, which stands before everything that was received.
 */
export const unsendableOf = (cause: Cause.Cause<unknown>): string | undefined => {
  const squashed = Cause.squash(cause)
  if (!(squashed instanceof HttpApiDecodeError && squashed.message.startsWith(responseSchema))) return undefined
  return [...new Set(squashed.issues.map(({ path }) => jsonPathText(path)))].join(", ")
}
/** As the platform transforms the body of a response. */
const responseSchema = "(<declaration schema> <-> "

const isAccountError = (value: unknown): value is AccountError => classes.some((Class) => value instanceof Class)

/** The issues with the longest path are the most specific ones: a union reports one for each member. */
const ofDecoding = ({ issues }: HttpApiDecodeError): InvalidRequest => {
  const issue = issues.reduce(
    (best, one) => (one.path.length > best.path.length ? one : best),
    issues[0] ?? unknownIssue
  )
  const param = issue.path.length === 0 ? null : paramOf(issue.path).slice(0, maxParamCharacters)
  const subject = param === null ? "the request" : `'${param}'`
  switch (issue._tag) {
    case "Missing":
      return new InvalidRequest({
        code: "missing_required_parameter",
        message: `Missing required parameter: ${subject}.`,
        param
      })
    case "Unexpected":
      return new InvalidRequest({
        code: "unsupported_parameter",
        message: `Unsupported parameter: ${subject}.${knownNames(issue.message)}`,
        param
      })
    default: {
      const same = issues
        .filter(({ _tag, path }) => _tag === issue._tag && jsonPathText(path) === jsonPathText(issue.path))
        .map(({ message }) => message)
      const isTooLarge = tooLarge.test(issue.message)
      const isChoice = same.every((message) => choice.test(message))
      return new InvalidRequest({
        code: issue._tag === "Type" && !isChoice && !isTooLarge ? "invalid_type" : "invalid_value",
        message: `Invalid value for ${subject}: ${isTooLarge ? withinIntegers : reasonOf(same)}.`,
        param
      })
    }
  }
}

/** A header by its name. */
const paramOf = (path: JsonPath): string => {
  const [name] = path
  return path.length === 1 && typeof name === "string" && headerName.test(name) ? name : jsonPathText(path)
}
const headerName = /^[\w-]{1,64}$/u

const knownNames = (message: string): string => {
  const names = [...message.matchAll(/"([^"]+)"/gu)].map(([, name]) => name)
  return names.length === 0 ? "" : ` Known parameters: ${names.join(", ")}.`.slice(0, maxMessageCharacters)
}

/** Integers that a number cannot hold come as another type. */
const tooLarge = /, actual -?\d+n$/u
const withinIntegers = `Expected a number between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`

/** A string was sent where others are expected. */
const choice = /^Expected (?:"[^"]*"(?: \| "[^"]*")*|null|undefined), actual "/u

/** Without what was sent, which may be a secret; a description, which names what is expected, ends in a full stop. */
const reasonOf = (messages: ReadonlyArray<string>): string => {
  const reasons = messages.map((message) => (message.split(", actual ", 1)[0] ?? "").replace(/\.$/, ""))
  const expected = reasons.flatMap((reason) => (reason.startsWith(expecting) ? [reason.slice(expecting.length)] : []))
  if (expected.length < reasons.length) return (reasons[0] ?? "").slice(0, maxMessageCharacters)
  const named = [...new Set(expected.flatMap(namesOf))].filter(isSendable)
  const last = named.pop() ?? ""
  const all = named.length === 0 ? last : `${named.join(", ")} or ${last}`
  return `${expecting}${all}`.slice(0, maxMessageCharacters)
}

const expecting = "Expected "
/** A field that may be left out. */
const isSendable = (expected: string): boolean => expected !== "undefined"
/** As a client calls what a schema expects. */
const namesOf = (expected: string): ReadonlyArray<string> => {
  if (isArray.test(expected)) return ["an array"]
  return isObject.test(expected) ? ["an object"] : isValues.test(expected) ? expected.split(" | ") : [expected]
}
const isArray = /^ReadonlyArray</u
/** A record, or a union of records, by its name in the OpenAPI document or without one. */
const isObject = /^(?:closed$|Struct|\{.*:|[A-Z][A-Za-z]*$)/u
const isValues = /^"[^"]*"(?: \| "[^"]*")+$/u

const unknownIssue: HttpApiDecodeError["issues"][number] = { _tag: "Type", path: [], message: "it cannot be decoded" }
const maxParamCharacters = 256
const maxMessageCharacters = 200
