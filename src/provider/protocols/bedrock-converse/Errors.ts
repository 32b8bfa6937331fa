import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import * as Failures from "../shared/Errors.ts"
import { type Json, parseObject, textAt } from "../shared/Json.ts"
import type { ErrorResponse } from "../shared/Protocol.ts"

/** Classifies a response whose status is not 2xx: a header has the exception's name, the body its message. */
export const classify = (response: ErrorResponse): ProviderFailure => {
  const json = parseObject(response.body)
  const name = Failures.one(response.headers["x-amzn-errortype"]) ?? textAt(json, "__type") ?? ""
  const retryMillis = Failures.retryAfterMillis(response.headers, response.nowMillis)
  return classifyError(name, messageIn(json), response.status, retryMillis)
}

/** Classifies an exception inside a stream: it has a name and no status. */
export const classifyInBand = (name: string, payload: Json | undefined): ProviderFailure =>
  classifyError(name, messageIn(payload), 500, null)

const messageIn = (json: Json | undefined): string => Failures.read(textAt(json, "message") ?? textAt(json, "Message"))

const classifyError = (name: string, text: string, status: number, retryMillis: number | null): ProviderFailure => {
  const message = Failures.scrub(text) || "The provider rejected the request."
  switch (bare(name)) {
    case "throttling":
    case "toomanyrequests":
      return { _tag: "RateLimited", retryAfterMillis: retryMillis }
    case "modelnotready":
    case "serviceunavailable":
      return { _tag: "Overloaded", retryAfterMillis: retryMillis }
    case "servicequotaexceeded":
      return { _tag: "QuotaExhausted" }
    case "modeltimeout":
      return { _tag: "AnswerTimeout" }
    case "modelerror":
    case "modelstreamerror":
      return { _tag: "ServerError", status: status === 500 ? 424 : status }
    case "internalserver":
    case "internalfailure":
      return { _tag: "ServerError", status: 500 }
    case "resourcenotfound":
      return { _tag: "ModelGone" }
    case "accessdenied":
      return denied(text, message)
    case "validation":
      return invalid(text, message)
    case "expiredtoken":
    case "unrecognizedclient":
    case "invalidsignature":
    case "signaturedoesnotmatch":
    case "incompletesignature":
    case "missingauthenticationtoken":
    case "invalidclienttokenid":
    case "notauthorized":
    case "optinrequired":
      return { _tag: "CredentialRejected" }
    default:
      return status === 408
        ? { _tag: "AnswerTimeout" }
        : status === 400
          ? invalid(text, message)
          : Failures.byStatus(status, { message, param: null }, retryMillis)
  }
}

/** `com.amazon.coral.service#ThrottlingException`, `ThrottlingException:http://…` and `throttlingException` mean the same. */
const bare = (name: string): string =>
  name
    .replace(/:.*$/s, "")
    .replace(/^.*#/s, "")
    .replace(/(?:Exception|Error)$/, "")
    .toLowerCase()

/** The account may lack access to one model, or a model may lack one feature, while everything else works. */
const denied = (text: string, message: string): ProviderFailure => {
  if (/prompt caching/i.test(text)) return { _tag: "RequestRejected", message, param: null }
  return /access to (?:the|this) model|model access|marketplace|model use case/i.test(text)
    ? { _tag: "ModelGone" }
    : { _tag: "CredentialRejected" }
}

const invalid = (text: string, message: string): ProviderFailure => {
  if (Failures.isContextLengthMessage(text)) return { _tag: "ContextLengthExceeded", message }
  if (/model identifier is invalid|on-demand throughput|model (?:is )?not supported in this region/i.test(text)) {
    return { _tag: "ModelGone" }
  }
  if (Failures.isContentPolicyMessage(text)) return { _tag: "ContentPolicy", message }
  return { _tag: "RequestRejected", message, param: null }
}
