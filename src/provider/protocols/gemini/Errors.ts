import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { parse } from "../../../wire/validation/JsonBounds.ts"
import * as Failures from "../shared/Errors.ts"
import { isObject, type Json, listAt, objectAt, textAt } from "../shared/Json.ts"
import type { ErrorResponse } from "../shared/Protocol.ts"

/** Classifies a response whose status is not 2xx. */
export const classify = (response: ErrorResponse): ProviderFailure =>
  classifyError(
    errorOf(response.body),
    response.status,
    Failures.retryAfterMillis(response.headers, response.nowMillis)
  )

/** Classifies an error object inside a response with a 2xx status; its status is taken from the object itself. */
export const classifyInBand = (error: unknown): ProviderFailure => {
  const inner: Json = isObject(error) ? error : { message: String(error) }
  return classifyError(inner, statusOf(inner), null)
}

/** Streams without server-sent events wrap the error in a list. */
const errorOf = (body: string): Json => {
  const value = parse(body)
  const first: unknown = Array.isArray(value) ? value[0] : value
  if (!isObject(first)) return {}
  return objectAt(first, "error") ?? first
}

const classifyError = (error: Json, status: number, headerMillis: number | null): ProviderFailure => {
  const text = Failures.read(textAt(error, "message"))
  const message = Failures.scrub(text) || "The provider rejected the request."
  const details = listAt(error, "details").filter(isObject)
  const retryMillis = retryInfoMillis(details) ?? headerMillis
  const reasons = new Set(details.flatMap((detail) => textAt(detail, "reason") ?? []))
  if (reasons.has("API_KEY_INVALID") || reasons.has("API_KEY_EXPIRED")) return { _tag: "CredentialRejected" }
  switch (error["status"]) {
    case "RESOURCE_EXHAUSTED":
      return exhausted(text, details, retryMillis)
    case "UNAUTHENTICATED":
    case "PERMISSION_DENIED":
      return { _tag: "CredentialRejected" }
    // missing billing or an unsupported country: an error of the account, not of the request
    case "FAILED_PRECONDITION":
      return { _tag: "CredentialRejected" }
    case "NOT_FOUND":
      return { _tag: "ModelGone" }
    case "UNAVAILABLE":
      return { _tag: "Overloaded", retryAfterMillis: retryMillis }
    case "DEADLINE_EXCEEDED":
      return { _tag: "ServerError", status: 504 }
    case "INTERNAL":
    case "UNKNOWN":
    case "CANCELLED":
    case "ABORTED":
      return { _tag: "ServerError", status: status >= 400 ? status : 500 }
  }
  if (status === 429) return exhausted(text, details, retryMillis)
  if (status === 400 || status === 422) {
    if (/api key (?:not valid|expired|not found)/i.test(text)) return { _tag: "CredentialRejected" }
    if (Failures.isContextLengthMessage(text)) return { _tag: "ContextLengthExceeded", message }
    if (Failures.isContentPolicyMessage(text)) return { _tag: "ContentPolicy", message }
  }
  return Failures.byStatus(status, { message, param: null }, retryMillis)
}

/**
 * Per-minute limits reset within seconds. A daily quota of one model affects only that model; a daily quota of the whole project
 * or an insufficient balance affects the credential.
 */
const exhausted = (text: string, details: ReadonlyArray<Json>, retryMillis: number | null): ProviderFailure => {
  const quotas = details
    .filter((detail) => typeNameOf(detail) === "google.rpc.QuotaFailure")
    .flatMap((detail) => listAt(detail, "violations"))
    .flatMap((violation) => (isObject(violation) ? (textAt(violation, "quotaId") ?? []) : []))
  const daily = quotas.filter((quota) => /PerDay/i.test(quota))
  if (daily.some((quota) => !/PerModel|PerBaseModel/i.test(quota)) || isInsufficientBalanceMessage(text)) {
    return { _tag: "QuotaExhausted" }
  }
  return {
    _tag: "RateLimited",
    retryAfterMillis: daily.length === 0 ? retryMillis : Math.max(retryMillis ?? 0, dailyQuotaMillis)
  }
}

/** A daily quota resets at midnight in the provider's time zone; the retry delay sent with it is too short. */
const dailyQuotaMillis = 3_600_000

const isInsufficientBalanceMessage = (message: string): boolean =>
  /spend(?:ing)? (?:cap|limit)/i.test(message) ||
  Failures.follows(message, /prepa(?:id|yment)|credits?/gi, /depleted|exhausted|used up/i) ||
  Failures.follows(message, /billing account/gi, /disabled|closed/i)

/** A duration is spelled in seconds: `20.04s`. */
const retryInfoMillis = (details: ReadonlyArray<Json>): number | null => {
  const info = details.find((detail) => typeNameOf(detail) === "google.rpc.RetryInfo")
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textAt(info, "retryDelay") ?? "")?.[1]
  return seconds === undefined
    ? null
    : Failures.retryAfterMillis({ "retry-after-ms": String(Number(seconds) * 1000) }, 0)
}

/** `type.googleapis.com/google.rpc.RetryInfo` and the like. */
const typeNameOf = (detail: Json): string => (textAt(detail, "@type") ?? "").split("/").at(-1) ?? ""

const statusOf = (error: Json): number => {
  const code = error["code"]
  return typeof code === "number" && code >= 400 && code <= 599 ? code : 500
}
