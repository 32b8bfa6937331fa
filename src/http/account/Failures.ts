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
import { jsonPathText } from "../../domain/JsonPath.ts"

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

const isAccountError = (value: unknown): value is AccountError => classes.some((Class) => value instanceof Class)

/** The issue with the longest path is the most specific one: a union reports one for each member. */
const ofDecoding = ({ issues }: HttpApiDecodeError): InvalidRequest => {
  const issue = issues.reduce(
    (best, one) => (one.path.length > best.path.length ? one : best),
    issues[0] ?? unknownIssue
  )
  const param = issue.path.length === 0 ? null : jsonPathText(issue.path).slice(0, maxParamCharacters)
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
        message: `Unsupported parameter: ${subject}.`,
        param
      })
    default:
      return new InvalidRequest({
        code: issue._tag === "Type" ? "invalid_type" : "invalid_value",
        message: `Invalid value for ${subject}: ${reasonOf(issue.message)}.`,
        param
      })
  }
}

/** Without what was sent, which may be a secret; a description, which names what is expected, ends in a full stop. */
const reasonOf = (message: string): string =>
  (message.split(", actual ", 1)[0] ?? "").replace(/\.$/, "").slice(0, maxMessageCharacters)

const unknownIssue: HttpApiDecodeError["issues"][number] = { _tag: "Type", path: [], message: "it cannot be decoded" }
const maxParamCharacters = 256
const maxMessageCharacters = 200
